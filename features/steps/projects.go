// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// holdFinalizer keeps an object in deletion as long as a scenario needs it there.
const holdFinalizer = "features.karmada-compute.dev/hold"

func addProjectSteps(sc sentences) {
	sc.Step(`^a namespace in project "([^"]*)"(?: and one of the same name in project "([^"]*)")?$`, func(ctx context.Context, one, other string) error {
		s := from(ctx)
		s.project = one
		if err := s.addNamespace(ctx, one); err != nil || other == "" {
			return err
		}
		return s.addNamespace(ctx, other)
	})
	sc.Step(`^a project of its own(?: that (?:may use ([A-Z, ]+)|(is being deleted)))?$`, func(ctx context.Context, cities, deleted string) error {
		s := from(ctx)
		if deleted != "" {
			return s.addDoomedProject(ctx)
		}
		return s.addProject(ctx, splitNames(cities))
	})
	sc.Step(`^namespace default of a project of its own$`, func(ctx context.Context) error {
		s := from(ctx)
		own := "own-" + s.namespace
		s.namespace = metav1.NamespaceDefault
		return s.addProjectNamed(ctx, own, nil)
	})
	sc.Step(`^the project is (suspended|suspended, and refuses writes|resumed|made again)$`, func(ctx context.Context, what string) error {
		s := from(ctx)
		switch what {
		case "suspended":
			return s.suspend(ctx, metav1.ConditionTrue)
		case "suspended, and refuses writes":
			return s.suspend(ctx, metav1.ConditionTrue, "Billing")
		case "resumed":
			return s.suspend(ctx, metav1.ConditionFalse)
		}
		// Its locations are still there, as Milo keeps what is not in a namespace.
		if err := s.createProject(ctx, s.project); err != nil {
			return err
		}
		return s.addNamespace(ctx, s.project)
	})
	sc.Step(`^project "([^"]*)" may (no longer )?use ([A-Z]+)$`, func(ctx context.Context, project, no, city string) error {
		s := from(ctx)
		project = s.expand(project)
		if no != "" {
			return s.made.now(ctx, city+" in "+project)
		}
		s.made.add(city+" in "+project, func(ctx context.Context) error { return s.federation.UnbindLocation(ctx, project, city) })
		return s.federation.BindLocation(ctx, project, city)
	})
}

// addNamespace makes the scenario's namespace in a project.
func (s *scenario) addNamespace(ctx context.Context, project string) error {
	c := s.client("project/"+project, admin)
	root := s.client("milo", admin)
	object := newProject(project)
	if err := root.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if s.namespace == metav1.NamespaceDefault {
		// Milo makes it, and keeps it when the project is deleted.
		if err := c.Get(ctx, client.ObjectKeyFromObject(namespace), namespace); err != nil {
			return err
		}
	} else if err := c.Create(ctx, namespace); err != nil {
		return err
	}
	s.hubNamespaces[project] = naming.HubNamespace(string(object.GetUID()), string(namespace.UID))
	s.projectUIDs[project] = string(object.GetUID())
	s.made.add("the namespace in "+project, func(ctx context.Context) error { return s.removeNamespace(ctx, project) })
	return nil
}

// removeNamespace removes the Workloads first: a namespace in deletion takes none of what the add-on writes.
func (s *scenario) removeNamespace(ctx context.Context, project string) error {
	at := s.in(project)
	c := s.client(at.plane(""), admin)
	if err := c.DeleteAllOf(ctx, &v1alpha.Workload{}, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	if err := at.holds(ctx, "", "workloads", holding{count: "no"}); err != nil {
		return err
	}
	if s.namespace == metav1.NamespaceDefault {
		return nil
	}
	return client.IgnoreNotFound(c.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}))
}

func newProject(name string) *unstructured.Unstructured {
	project := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"ownerRef": map[string]any{"kind": "Organization", "name": "features"},
	}}}
	project.SetGroupVersionKind(schema.GroupVersionKind{Group: "resourcemanager.miloapis.com", Version: "v1alpha1", Kind: "Project"})
	project.SetName(name)
	return project
}

// addProject makes a project for this scenario alone, with a namespace and locations.
func (s *scenario) addProject(ctx context.Context, cities []string) error {
	return s.addProjectNamed(ctx, "own-"+s.namespace, cities)
}

func (s *scenario) addProjectNamed(ctx context.Context, name string, cities []string) error {
	s.project = name
	if err := s.createProject(ctx, s.project); err != nil {
		return err
	}
	if len(cities) == 0 {
		cities = []string{"DFW"}
	}
	for _, city := range cities {
		if err := s.federation.BindLocation(ctx, s.project, city); err != nil {
			return err
		}
	}
	return s.addNamespace(ctx, s.project)
}

// addDoomedProject makes a project and deletes it, and holds it in deletion.
func (s *scenario) addDoomedProject(ctx context.Context) error {
	s.project = "doomed-" + s.namespace
	if err := s.createProject(ctx, s.project, holdFinalizer); err != nil {
		return err
	}
	return s.delete(ctx, "an operator", `project "${project}" in Milo`)
}

// createProject makes a project and waits until it is Ready. It goes with the scenario.
func (s *scenario) createProject(ctx context.Context, name string, finalizers ...string) error {
	root := s.client("milo", admin)
	project := newProject(name)
	project.SetFinalizers(finalizers)
	if err := root.Create(ctx, project); err != nil {
		return err
	}
	s.made.add("project "+name, func(ctx context.Context) error { return s.removeProject(ctx, name) })
	return eventually(ctx, func(ctx context.Context) error {
		if err := root.Get(ctx, client.ObjectKeyFromObject(project), project); err != nil {
			return err
		}
		if len(conditionsOf(project)) == 0 {
			return errors.New("the project is not Ready yet")
		}
		return nil
	})
}

// removeProject removes a project, and what holds it, waits until it is gone and stops its control plane, which Milo keeps.
func (s *scenario) removeProject(ctx context.Context, name string) error {
	root := s.client("milo", admin)
	if err := client.IgnoreNotFound(root.Delete(ctx, newProject(name))); err != nil {
		return err
	}
	if err := eventually(ctx, func(ctx context.Context) error {
		project := newProject(name)
		if err := root.Get(ctx, client.ObjectKeyFromObject(project), project); err != nil {
			return client.IgnoreNotFound(err)
		}
		if controllerutil.RemoveFinalizer(project, holdFinalizer) {
			if err := root.Update(ctx, project); err != nil {
				return err
			}
		}
		return fmt.Errorf("project %s is there", name)
	}); err != nil {
		return err
	}
	s.forget("project/" + name)
	for _, process := range s.federation.Status() {
		if strings.HasPrefix(process.Name, "project-plane-"+name+"-") {
			if err := s.federation.StopProcess(process.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// suspend does what Milo does when a project is suspended or resumed. A newer Milo says why, and refuses writes.
func (s *scenario) suspend(ctx context.Context, status metav1.ConditionStatus, reasons ...string) error {
	root := s.client("milo", admin)
	project := newProject(s.project)
	now := time.Now().UTC().Format(time.RFC3339)
	observed := map[string]any{"conditions": []any{map[string]any{
		"type": "Suspended", "status": string(status), "reason": "Features", "message": "", "lastTransitionTime": now,
	}}}
	var suspensions []any
	for _, reason := range reasons {
		suspensions = append(suspensions, map[string]any{"reason": reason, "reinstateAuthority": "Operator", "suspendedAt": now})
	}
	if len(suspensions) > 0 {
		observed["suspensions"] = suspensions
	}
	project.Object["status"] = observed
	unstructured.RemoveNestedField(project.Object, "spec")
	return root.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(project), client.FieldOwner("features"), client.ForceOwnership)
}
