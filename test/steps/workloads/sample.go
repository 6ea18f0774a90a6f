// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/steps/attempts"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addSampleSteps adds the sentences about attempts to create the sample Workload.
func addSampleSteps(sc world.Sentences) {
	sc.Step(`^`+world.Someone+` (tries to create|dry-runs) the sample Workload(?: (?:in|on|at) (`+world.APlane+
		`))?(?: with `+world.InlineDoc+`)?$`,
		func(ctx context.Context, who, verb, plane, patch string) error {
			return from(ctx).trySample(ctx, sample{who: world.User(who), plane: plane, patch: patch, dryRun: verb == "dry-runs"})
		})
	sc.Step(`^a user at (Milo|project "[^"]*") who claims (nothing|to be in \w+ "[^"]*") tries to create a Workload$`,
		func(ctx context.Context, at, claim string) error {
			return from(ctx).tryClaiming(ctx, at, claim)
		})
}

// SampleImage is the image of Workloads until a scenario changes it.
const SampleImage = "docker.io/library/nginx:1.27"

// SampleTemplate is the template of Workloads until a scenario changes it.
func SampleTemplate() v1alpha.InstanceTemplateSpec {
	return v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
		Runtime: v1alpha.InstanceRuntimeSpec{
			Resources: v1alpha.InstanceRuntimeResources{InstanceType: "datumcloud/d1-standard-2"},
			Sandbox:   &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: SampleImage}}},
		},
		NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
	}}
}

// PutDeployment creates a deployment with the sample template directly in a cell, in the hub namespace, which it
// creates, too.
func (s Steps) PutDeployment(ctx context.Context, cell string, deployment *v1alpha.WorkloadDeployment) error {
	c := s.Client("cell/"+cell, world.Admin)
	// As the copy of a hub that is not the federation's: the inventory of that one would remove it.
	ofHub := map[string]string{v1alpha.LabelHub: "another"}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.HubNamespace(), Labels: ofHub}}
	if err := c.Create(ctx, namespace); err != nil {
		return err
	}
	s.RemoveLater("cell/"+cell, namespace)
	deployment.Namespace, deployment.Labels = namespace.Name, ofHub
	deployment.Spec.WorkloadRef = v1alpha.WorkloadReference{Name: deployment.Name, UID: "none"}
	deployment.Spec.PlacementName, deployment.Spec.CityCode, deployment.Spec.Template = "main", "DFW", SampleTemplate()
	return c.Create(ctx, deployment)
}

func (s Steps) sampleWorkload() *v1alpha.Workload {
	workload := s.WorkloadWith("web", []v1alpha.WorkloadPlacement{{
		Name: "main", CityCodes: []string{"DFW"}, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
	}})
	workload.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha.GroupVersion.String(), Kind: "Workload"}
	return workload
}

// sample is an attempt to create the sample Workload, changed by a JSON merge patch.
type sample struct {
	who, plane, patch string
	dryRun            bool
}

func (s Steps) trySample(ctx context.Context, o sample) error {
	content, err := json.Marshal(s.sampleWorkload())
	if err != nil {
		return err
	}
	if o.patch != "" {
		if content, err = jsonpatch.MergePatch(content, []byte(o.patch)); err != nil {
			return fmt.Errorf("patch %s: %w", o.patch, err)
		}
	}
	workload := &unstructured.Unstructured{}
	if err := workload.UnmarshalJSON(content); err != nil {
		return err
	}
	unstructured.RemoveNestedField(workload.Object, "status")
	plane := s.Plane(o.plane)
	if s.HubNamespaces[strings.TrimPrefix(plane, "project/")] == "" {
		workload.SetNamespace("default")
	}
	var options []client.CreateOption
	if o.dryRun {
		options = append(options, client.DryRunAll)
	}
	attempts.In(s.Scenario).TryWarned(ctx, func(heard rest.WarningHandler) func(context.Context) error {
		c := s.ChangedClient(plane, o.who, func(config *rest.Config) { config.WarningHandler = heard })
		return func(ctx context.Context) error { return c.Create(ctx, workload.DeepCopy(), options...) }
	})
	return nil
}

// tryClaiming creates a Workload as a user who may impersonate, with extras that Milo sets only in projects: at Milo's
// root, or, without passing through Milo, at a project's own API server.
func (s Steps) tryClaiming(ctx context.Context, at, claim string) error {
	extras := map[string][]string{}
	if words := strings.Fields(strings.TrimPrefix(claim, "to be in ")); len(words) == 2 {
		extras["iam.miloapis.com/parent-api-group"] = []string{"resourcemanager.miloapis.com"}
		extras["iam.miloapis.com/parent-type"] = []string{words[0]}
		extras["iam.miloapis.com/parent-name"] = []string{strings.Trim(words[1], `"`)}
	}
	plane, options := s.Plane(at), []client.CreateOption(nil)
	if project, is := strings.CutPrefix(plane, "project/"); is {
		plane, options = "project-plane/"+project, append(options, client.DryRunAll)
	} else if err := s.addRootNamespace(ctx); err != nil {
		return err
	}
	c := s.ChangedClient(plane, world.Admin, func(config *rest.Config) {
		config.Impersonate = rest.ImpersonationConfig{UserName: "forger", Groups: []string{"system:masters"}, Extra: extras}
	})
	attempts.In(s.Scenario).Try(ctx, func(ctx context.Context) error { return c.Create(ctx, s.sampleWorkload(), options...) })
	return nil
}

// addRootNamespace creates the scenario's namespace at Milo's root.
func (s Steps) addRootNamespace(ctx context.Context) error {
	root := s.Client("milo", world.Admin)
	return client.IgnoreAlreadyExists(root.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
}
