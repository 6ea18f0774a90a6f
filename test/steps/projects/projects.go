// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

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
	"github.com/karmada-compute/karmada-compute/test/steps/objects"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// HoldFinalizer keeps an object in deletion as long as a scenario needs it.
const HoldFinalizer = "features.karmada-compute.dev/hold"

func addProjectSteps(sc world.Sentences) {
	sc.Step(`^a namespace in project "([^"]*)"(?: and one of the same name in project "([^"]*)")?$`,
		func(ctx context.Context, one, other string) error {
			s := from(ctx)
			s.Project = one
			if err := s.AddNamespace(ctx, one); err != nil || other == "" {
				return err
			}
			return s.AddNamespace(ctx, other)
		})
	sc.Step(`^a project of its own(?: that (?:may use ([A-Z, ]+)|(is being deleted)))?$`,
		func(ctx context.Context, cities, deleted string) error {
			s := from(ctx)
			if deleted != "" {
				return s.addDoomedProject(ctx)
			}
			return s.addProject(ctx, world.SplitNames(cities))
		})
	sc.Step(`^namespace default of a project of its own$`, func(ctx context.Context) error {
		s := from(ctx)
		own := "own-" + s.Namespace
		s.Namespace = metav1.NamespaceDefault
		return s.addProjectNamed(ctx, own, nil)
	})
	sc.Step(`^the project is (suspended|suspended, and refuses writes|resumed|recreated)$`, func(ctx context.Context, what string) error {
		s := from(ctx)
		switch what {
		case "suspended":
			return s.suspend(ctx, metav1.ConditionTrue)
		case "suspended, and refuses writes":
			return s.suspend(ctx, metav1.ConditionTrue, "Billing")
		case "resumed":
			return s.suspend(ctx, metav1.ConditionFalse)
		}
		// Its locations still exist, because Milo keeps objects outside of namespaces.
		if err := s.createProject(ctx, s.Project); err != nil {
			return err
		}
		return s.AddNamespace(ctx, s.Project)
	})
	sc.Step(`^project "([^"]*)" may (no longer )?use ([A-Z]+)$`, func(ctx context.Context, project, no, city string) error {
		s := from(ctx)
		project = s.Expand(project)
		if world.IsShared(project, city) {
			return fmt.Errorf("every scenario uses %s in project %q: this one would remove it at its end; delete the line", city, project)
		}
		if no != "" {
			return s.Made.Now(ctx, city+" in "+project)
		}
		s.Made.Add(city+" in "+project, func(ctx context.Context) error { return s.Federation.UnbindLocation(ctx, project, city) })
		return s.Federation.BindLocation(ctx, project, city)
	})
}

// AddNamespace creates the scenario's namespace in a project.
func (s Steps) AddNamespace(ctx context.Context, project string) error {
	// Milo creates namespace default, and keeps it when the project is deleted.
	if s.Namespace != metav1.NamespaceDefault {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
		if err := s.Client("project/"+project, world.Admin).Create(ctx, namespace); err != nil {
			return err
		}
	}
	place, err := s.Place(ctx, project, s.Namespace)
	if err != nil {
		return err
	}
	s.HubNamespaces[project], s.ProjectUIDs[project] = place.HubNamespace, place.ProjectUID
	s.WatchCounts(project)
	s.Made.Add("the namespace in "+project, func(ctx context.Context) error { return s.removeNamespace(ctx, project) })
	return nil
}

// removeNamespace first deletes the Workloads: a namespace in deletion refuses the objects that the add-on creates.
func (s Steps) removeNamespace(ctx context.Context, project string) error {
	at := In(s.In(project))
	c := s.Client(at.Plane(""), world.Admin)
	if err := c.DeleteAllOf(ctx, &v1alpha.Workload{}, client.InNamespace(s.Namespace)); err != nil {
		return err
	}
	if err := objects.In(at.Scenario).Holds(ctx, "", "workloads", objects.Holding{Count: "no"}); err != nil {
		return err
	}
	if s.Namespace == metav1.NamespaceDefault {
		return nil
	}
	// The hub refuses it until it knows that the hub namespace ends.
	return world.Eventually(ctx, func(ctx context.Context) error {
		return client.IgnoreNotFound(c.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
	})
}

// NewProject returns a Project of the scenario, as an administrator of Milo writes it.
func NewProject(name string) *unstructured.Unstructured {
	project := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"ownerRef": map[string]any{"kind": "Organization", "name": "features"},
	}}}
	project.SetGroupVersionKind(schema.GroupVersionKind{Group: "resourcemanager.miloapis.com", Version: "v1alpha1", Kind: "Project"})
	project.SetName(name)
	return project
}

// addProject creates a project for this scenario alone, with a namespace and locations.
func (s Steps) addProject(ctx context.Context, cities []string) error {
	return s.addProjectNamed(ctx, "own-"+s.Namespace, cities)
}

func (s Steps) addProjectNamed(ctx context.Context, name string, cities []string) error {
	s.Project = name
	if err := s.createProject(ctx, s.Project); err != nil {
		return err
	}
	if len(cities) == 0 {
		cities = []string{"DFW"}
	}
	for _, city := range cities {
		if err := s.Federation.BindLocation(ctx, s.Project, city); err != nil {
			return err
		}
	}
	return s.AddNamespace(ctx, s.Project)
}

// addDoomedProject creates a project, deletes it, and holds it in deletion.
func (s Steps) addDoomedProject(ctx context.Context) error {
	s.Project = "doomed-" + s.Namespace
	if err := s.createProject(ctx, s.Project, HoldFinalizer); err != nil {
		return err
	}
	return objects.In(s.Scenario).Delete(ctx, "an operator", `project "${project}" in Milo`)
}

// createProject creates a project and waits until it is Ready. It is deleted with the scenario.
func (s Steps) createProject(ctx context.Context, name string, finalizers ...string) error {
	root := s.Client("milo", world.Admin)
	project := NewProject(name)
	project.SetFinalizers(finalizers)
	if err := root.Create(ctx, project); err != nil {
		return err
	}
	s.Made.Add("project "+name, func(ctx context.Context) error { return s.removeProject(ctx, name) })
	return world.Eventually(ctx, func(ctx context.Context) error {
		if err := root.Get(ctx, client.ObjectKeyFromObject(project), project); err != nil {
			return err
		}
		if len(world.ConditionsOf(project)) == 0 {
			return errors.New("the project is not Ready yet")
		}
		return nil
	})
}

// removeProject deletes a project, removes the finalizers that hold it, waits until it is deleted, and stops its
// control plane, which Milo keeps.
func (s Steps) removeProject(ctx context.Context, name string) error {
	root := s.Client("milo", world.Admin)
	if err := client.IgnoreNotFound(root.Delete(ctx, NewProject(name))); err != nil {
		return err
	}
	if err := world.Eventually(ctx, func(ctx context.Context) error {
		project := NewProject(name)
		if err := root.Get(ctx, client.ObjectKeyFromObject(project), project); err != nil {
			return client.IgnoreNotFound(err)
		}
		if controllerutil.RemoveFinalizer(project, HoldFinalizer) {
			if err := root.Update(ctx, project); err != nil {
				return err
			}
		}
		return fmt.Errorf("project %s is there", name)
	}); err != nil {
		return err
	}
	s.Forget("project/" + name)
	for _, process := range s.Federation.Status() {
		if strings.HasPrefix(process.Name, "project-plane-"+name+"-") {
			if err := s.Federation.StopProcess(process.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// suspend sets the state that Milo sets when it suspends or resumes a project. A newer Milo names reasons, and refuses
// writes.
func (s Steps) suspend(ctx context.Context, status metav1.ConditionStatus, reasons ...string) error {
	root := s.Client("milo", world.Admin)
	project := NewProject(s.Project)
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
