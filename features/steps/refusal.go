// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cucumber/godog"
	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// holdFinalizer keeps a project in deletion as long as a scenario needs it there.
const holdFinalizer = "features.karmada-compute.dev/hold"

func addRefusalSteps(sc *godog.ScenarioContext) {
	sc.Step(`^the consumer tries to create Workload "([^"]*)" with$`, func(ctx context.Context, name string, placements *godog.Table) error {
		s := from(ctx)
		s.refused = s.createWorkload(ctx, name, placements)
		return nil
	})
	sc.Step(`^that is refused with "(.*)"$`, func(ctx context.Context, text string) error {
		text = strings.ReplaceAll(text, `\"`, `"`)
		s := from(ctx)
		if s.refused == nil {
			return errors.New("it was not refused")
		}
		if !strings.Contains(s.refused.Error(), text) {
			return fmt.Errorf("it was refused with: %w", s.refused)
		}
		return nil
	})
	sc.Step(`^that is not refused$`, func(ctx context.Context) error { return from(ctx).refused })
	sc.Step(`^the consumer tries to create the sample Workload with (.*)$`, func(ctx context.Context, patch string) error {
		return from(ctx).tryPatched(ctx, patch)
	})
	sc.Step(`^placement "([^"]*)" of Workload "([^"]*)" is managed (\w+)$`, func(ctx context.Context, placement, name, policy string) error {
		return from(ctx).eventuallyWorkload(ctx, name, func(workload *v1alpha.Workload) error {
			for i := range workload.Spec.Placements {
				found := &workload.Spec.Placements[i]
				if found.Name == placement && string(found.ScaleSettings.InstanceManagementPolicy) == policy {
					return nil
				}
			}
			return fmt.Errorf("placements are %+v", workload.Spec.Placements)
		})
	})
	sc.Step(`^the first port of Workload "([^"]*)" is one of (\w+)$`, func(ctx context.Context, name, protocol string) error {
		return from(ctx).eventuallyWorkload(ctx, name, func(workload *v1alpha.Workload) error {
			port := workload.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Ports[0]
			if port.Protocol == nil || string(*port.Protocol) != protocol {
				return fmt.Errorf("port is %+v", port)
			}
			return nil
		})
	})
	sc.Step(`^somebody at Milo's root tries to create a Workload without saying for which project$`, func(ctx context.Context) error {
		return from(ctx).createAtRoot(ctx, nil)
	})
	sc.Step(`^somebody at Milo's root tries to create a Workload with the forged extras$`, func(ctx context.Context, extras *godog.Table) error {
		forged := map[string][]string{}
		for _, row := range extras.Rows {
			forged[row.Cells[0].Value] = []string{row.Cells[1].Value}
		}
		return from(ctx).createAtRoot(ctx, forged)
	})
	sc.Step(`^a project that is being deleted$`, func(ctx context.Context) error { return from(ctx).doomProject(ctx) })
	sc.Step(`^the consumer tries to create a Workload there$`, func(ctx context.Context) error {
		s := from(ctx)
		c, err := s.client("project/"+s.doomed, admin)
		if err != nil {
			return err
		}
		workload := s.sampleWorkload()
		workload.Namespace = "default"
		s.refused = c.Create(ctx, workload)
		return nil
	})
}

func (s *scenario) sampleWorkload() *v1alpha.Workload {
	workload := s.workloadWith("web", []v1alpha.WorkloadPlacement{{
		Name: "main", CityCodes: []string{"DFW"}, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
	}})
	workload.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha.GroupVersion.String(), Kind: "Workload"}
	return workload
}

// tryPatched tries to create the sample Workload, changed by a JSON merge patch.
func (s *scenario) tryPatched(ctx context.Context, patch string) error {
	sample, err := json.Marshal(s.sampleWorkload())
	if err != nil {
		return err
	}
	patched, err := jsonpatch.MergePatch(sample, []byte(patch))
	if err != nil {
		return fmt.Errorf("patch %s: %w", patch, err)
	}
	workload := &unstructured.Unstructured{}
	if err := workload.UnmarshalJSON(patched); err != nil {
		return err
	}
	unstructured.RemoveNestedField(workload.Object, "status")
	config, err := s.federation.Config("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	s.refused, s.warnings = nil, &warnings{}
	config.WarningHandler = s.warnings
	c, err := client.New(config, client.Options{Scheme: s.scheme})
	if err != nil {
		return err
	}
	s.refused = c.Create(ctx, workload)
	return nil
}

// createAtRoot creates a Workload at Milo's root as somebody who may impersonate, with extras that Milo sets only in
// projects.
func (s *scenario) createAtRoot(ctx context.Context, extras map[string][]string) error {
	config, err := s.federation.Config("milo", admin)
	if err != nil {
		return err
	}
	forger := rest.CopyConfig(config)
	forger.Impersonate = rest.ImpersonationConfig{UserName: "forger", Groups: []string{"system:masters"}, Extra: extras}
	c, err := client.New(forger, client.Options{Scheme: s.scheme})
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := c.Create(ctx, namespace); err != nil {
		return err
	}
	s.refused = c.Create(ctx, s.sampleWorkload())
	return nil
}

func newProject(name string) *unstructured.Unstructured {
	project := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"ownerRef": map[string]any{"kind": "Organization", "name": "features"},
	}}}
	project.SetGroupVersionKind(schema.GroupVersionKind{Group: "resourcemanager.miloapis.com", Version: "v1alpha1", Kind: "Project"})
	project.SetName(name)
	return project
}

// doomProject makes a project and deletes it, and holds it in deletion.
func (s *scenario) doomProject(ctx context.Context) error {
	root, err := s.client("milo", admin)
	if err != nil {
		return err
	}
	s.doomed = "doomed-" + s.namespace
	if err := s.createProject(ctx, s.doomed, holdFinalizer); err != nil {
		return err
	}
	return root.Delete(ctx, newProject(s.doomed))
}

// releaseProject lets a doomed project go.
func (s *scenario) releaseProject(ctx context.Context) error {
	root, err := s.client("milo", admin)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		project := newProject(s.doomed)
		if err := root.Get(ctx, types.NamespacedName{Name: s.doomed}, project); err != nil {
			return client.IgnoreNotFound(err)
		}
		if controllerutil.RemoveFinalizer(project, holdFinalizer) {
			if err := root.Update(ctx, project); err != nil {
				return err
			}
		}
		return errors.New("the project is still there")
	})
}
