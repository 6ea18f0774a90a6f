// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cucumber/godog"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func addHubSteps(sc *godog.ScenarioContext) {
	sc.Step(`^the hub namespace says that it comes from the project$`, func(ctx context.Context) error {
		return from(ctx).hubNamespaceIsLabelled(ctx)
	})
	sc.Step(`^the hub has exactly the (deployments|policies) "([^"]*)"$`, func(ctx context.Context, kind, names string) error {
		s := from(ctx)
		c, err := s.client("hub", admin)
		if err != nil {
			return err
		}
		lists := map[string]client.ObjectList{"deployments": &v1alpha.WorkloadDeploymentList{}, "policies": &policyv1alpha1.PropagationPolicyList{}}
		return exactly(ctx, c, lists[kind], names, client.InNamespace(s.hubNamespaces[s.project]))
	})
	sc.Step(`^the hub deployment "([^"]*)" is labelled with city "([^"]*)"$`, func(ctx context.Context, name, city string) error {
		s := from(ctx)
		copied, err := s.hubDeployment(ctx, name)
		if err != nil {
			return err
		}
		if copied.Labels[v1alpha.LabelTopologyCity] != city || copied.Labels[v1alpha.LabelWorkloadUID] == "" {
			return fmt.Errorf("labels are %v", copied.Labels)
		}
		return nil
	})
	sc.Step(`^the hub has nothing of the namespace$`, func(ctx context.Context) error { return from(ctx).nothingOnHub(ctx) })
	sc.Step(`^the projects have hub namespaces of their own$`, func(ctx context.Context) error {
		s := from(ctx)
		if s.hubNamespaces["north"] == s.hubNamespaces["south"] {
			return fmt.Errorf("both are %s", s.hubNamespaces["north"])
		}
		return errors.Join(s.in("north").hubNamespaceIsLabelled(ctx), s.in("south").hubNamespaceIsLabelled(ctx))
	})
	sc.Step(`^the hub deployment "([^"]*)" is scaled to (\d+) by hand$`, func(ctx context.Context, name string, replicas int) error {
		return from(ctx).editHubDeployment(ctx, name, fmt.Sprintf(`{"spec":{"scaleSettings":{"minReplicas":%d}}}`, replicas))
	})
	sc.Step(`^the hub deployment "([^"]*)" is given a replica count by hand$`, func(ctx context.Context, name string) error {
		return from(ctx).editHubDeployment(ctx, name, `{"spec":{"replicas":7}}`)
	})
	sc.Step(`^the hub deployment "([^"]*)" is deleted by hand$`, func(ctx context.Context, name string) error {
		s := from(ctx)
		c, err := s.client("hub", admin)
		if err != nil {
			return err
		}
		return c.Delete(ctx, &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.hubNamespaces[s.project], Name: name}})
	})
	sc.Step(`^the hub deployment "([^"]*)" is what the project's is$`, func(ctx context.Context, name string) error {
		return from(ctx).hubDeploymentIsOurs(ctx, name)
	})
}

func (s *scenario) hubDeployment(ctx context.Context, name string) (*v1alpha.WorkloadDeployment, error) {
	c, err := s.client("hub", admin)
	if err != nil {
		return nil, err
	}
	copied := &v1alpha.WorkloadDeployment{}
	err = eventually(ctx, func(ctx context.Context) error {
		return c.Get(ctx, types.NamespacedName{Namespace: s.hubNamespaces[s.project], Name: name}, copied)
	})
	return copied, err
}

func (s *scenario) hubNamespaceIsLabelled(ctx context.Context) error {
	c, err := s.client("hub", admin)
	if err != nil {
		return err
	}
	wanted := map[string]string{
		v1alpha.LabelProject:                             "cluster-" + s.project,
		v1alpha.LabelProjectNamespace:                    s.namespace,
		policyv1alpha1.NamespaceSkipAutoPropagationLabel: "true",
	}
	project, err := s.projectUID(ctx)
	if err != nil {
		return err
	}
	wanted[v1alpha.LabelProjectUID] = project
	return eventually(ctx, func(ctx context.Context) error {
		namespace := &corev1.Namespace{}
		if err := c.Get(ctx, types.NamespacedName{Name: s.hubNamespaces[s.project]}, namespace); err != nil {
			return err
		}
		for key, value := range wanted {
			if namespace.Labels[key] != value {
				return fmt.Errorf("label %s is %q, not %q", key, namespace.Labels[key], value)
			}
		}
		return nil
	})
}

func (s *scenario) projectUID(ctx context.Context) (string, error) {
	root, err := s.client("milo", admin)
	if err != nil {
		return "", err
	}
	project := newProject(s.project)
	err = root.Get(ctx, types.NamespacedName{Name: s.project}, project)
	return string(project.GetUID()), err
}

// nothingOnHub waits until neither the hub namespace nor anything that was made for it is left, in whatever namespace.
func (s *scenario) nothingOnHub(ctx context.Context) error {
	c, err := s.client("hub", admin)
	if err != nil {
		return err
	}
	hubNamespace := s.hubNamespaces[s.project]
	if err := eventually(ctx, func(ctx context.Context) error {
		return notFound(c.Get(ctx, types.NamespacedName{Name: hubNamespace}, &corev1.Namespace{}), "the hub namespace")
	}); err != nil {
		return err
	}
	for _, list := range []client.ObjectList{
		&v1alpha.WorkloadDeploymentList{}, &policyv1alpha1.PropagationPolicyList{}, &workv1alpha2.ResourceBindingList{},
	} {
		if err := eventually(ctx, func(ctx context.Context) error { return empty(ctx, c, list, hubNamespace) }); err != nil {
			return err
		}
	}
	return eventually(ctx, func(ctx context.Context) error {
		var works workv1alpha1.WorkList
		if err := c.List(ctx, &works); err != nil {
			return err
		}
		for i := range works.Items {
			for _, manifest := range works.Items[i].Spec.Workload.Manifests {
				if strings.Contains(string(manifest.Raw), hubNamespace) {
					return fmt.Errorf("Work %s/%s still holds something of %s", works.Items[i].Namespace, works.Items[i].Name, hubNamespace)
				}
			}
		}
		return nil
	})
}

func (s *scenario) editHubDeployment(ctx context.Context, name, patch string) error {
	copied, err := s.hubDeployment(ctx, name)
	if err != nil {
		return err
	}
	c, err := s.client("hub", admin)
	if err != nil {
		return err
	}
	return c.Patch(ctx, copied, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("somebody"))
}

func (s *scenario) hubDeploymentIsOurs(ctx context.Context, name string) error {
	hub, err := s.client("hub", admin)
	if err != nil {
		return err
	}
	return s.eventuallyDeployment(ctx, name, func(original *v1alpha.WorkloadDeployment) error {
		copied := &v1alpha.WorkloadDeployment{}
		if err := hub.Get(ctx, types.NamespacedName{Namespace: s.hubNamespaces[s.project], Name: name}, copied); err != nil {
			return err
		}
		// Which cell runs what is the hub's to say.
		copied.Spec.Assignment = nil
		if !equality.Semantic.DeepEqual(original.Spec, copied.Spec) {
			return fmt.Errorf("the hub has replicas %d and minReplicas %d", ptr.Deref(copied.Spec.Replicas, -1), copied.Spec.ScaleSettings.MinReplicas)
		}
		return nil
	})
}
