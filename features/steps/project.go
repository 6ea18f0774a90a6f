// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"

	"github.com/cucumber/godog"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func addProjectSteps(sc *godog.ScenarioContext) {
	sc.Step(`^a namespace in project "([^"]*)"$`, func(ctx context.Context, project string) error {
		s := from(ctx)
		s.project = project
		return s.addNamespace(ctx, project)
	})
	sc.Step(`^a namespace of one name in projects "([^"]*)" and "([^"]*)"$`, func(ctx context.Context, one, other string) error {
		s := from(ctx)
		s.project = one
		return errors.Join(s.addNamespace(ctx, one), s.addNamespace(ctx, other))
	})
	sc.Step(`^a project of its own that may use ([A-Z]+)$`, func(ctx context.Context, city string) error {
		return from(ctx).addProject(ctx, city)
	})
	sc.Step(`^the project is deleted$`, func(ctx context.Context) error {
		s := from(ctx)
		root, err := s.client("milo", admin)
		if err != nil {
			return err
		}
		return root.Delete(ctx, newProject(s.project))
	})
	sc.Step(`^the project is made again$`, func(ctx context.Context) error {
		s := from(ctx)
		// Its locations are still there, as Milo keeps what is not in a namespace.
		if err := s.createProject(ctx, s.own); err != nil {
			return err
		}
		return s.addNamespace(ctx, s.own)
	})
	sc.Step(`^the project is gone$`, func(ctx context.Context) error { return from(ctx).projectIsGone(ctx) })
	sc.Step(`^project "([^"]*)" may use ([A-Z]+)$`, func(ctx context.Context, project, city string) error {
		s := from(ctx)
		s.bound = append(s.bound, projectCity{project, city})
		return s.bindLocation(ctx, project, city)
	})
	sc.Step(`^project "([^"]*)" may no longer use ([A-Z]+)$`, func(ctx context.Context, project, city string) error {
		s := from(ctx)
		c, err := s.client("project/"+project, admin)
		if err != nil {
			return err
		}
		return c.Delete(ctx, locationBinding(city))
	})
}

// projectCity is a city that a project may use.
type projectCity struct{ project, city string }

// unbindLocations takes back the cities that the scenario gave to projects: others count on what they may use.
func (s *scenario) unbindLocations(ctx context.Context) error {
	for _, bound := range s.bound {
		c, err := s.client("project/"+bound.project, admin)
		if err != nil {
			return err
		}
		if err := client.IgnoreNotFound(c.Delete(ctx, locationBinding(bound.city))); err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) addNamespace(ctx context.Context, project string) error {
	c, err := s.client("project/"+project, admin)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := c.Create(ctx, namespace); err != nil {
		return err
	}
	s.hubNamespaces[project] = v1alpha.HubNamespace(string(namespace.UID))
	return nil
}

// addProject makes a project for this scenario alone, with a namespace and a location.
func (s *scenario) addProject(ctx context.Context, city string) error {
	s.own = "own-" + s.namespace
	s.project = s.own
	if err := s.createProject(ctx, s.own); err != nil {
		return err
	}
	if err := s.bindLocation(ctx, s.own, city); err != nil {
		return err
	}
	return s.addNamespace(ctx, s.own)
}

// createProject makes a project and waits until it is Ready.
func (s *scenario) createProject(ctx context.Context, name string, finalizers ...string) error {
	root, err := s.client("milo", admin)
	if err != nil {
		return err
	}
	project := newProject(name)
	project.SetFinalizers(finalizers)
	if err := root.Create(ctx, project); err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		if err := root.Get(ctx, types.NamespacedName{Name: name}, project); err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(project.Object, "status", "conditions")
		if err != nil {
			return err
		}
		if len(conditions) == 0 {
			return errors.New("the project is not Ready yet")
		}
		return nil
	})
}

func (s *scenario) projectIsGone(ctx context.Context) error {
	root, err := s.client("milo", admin)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		return notFound(root.Get(ctx, types.NamespacedName{Name: s.own}, newProject(s.own)), "project "+s.own)
	})
}

func locationBinding(city string) *unstructured.Unstructured {
	binding := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"locationRef":       map[string]any{"name": "location-" + v1alpha.CityLabel(city)},
		"locationClassName": "datum-managed",
		"displayName":       city,
		"topology":          map[string]any{v1alpha.LabelTopologyCity: city},
	}}}
	binding.SetGroupVersionKind(schema.GroupVersionKind{Group: "networking.datumapis.com", Version: "v1alpha", Kind: "LocationBinding"})
	binding.SetName("location-" + v1alpha.CityLabel(city))
	return binding
}

// bindLocation does what Milo's service catalog does when a location becomes available to a project.
func (w *World) bindLocation(ctx context.Context, project, city string) error {
	c, err := w.client("project/"+project, admin)
	if err != nil {
		return err
	}
	binding := locationBinding(city)
	if err := c.Create(ctx, binding); err != nil {
		return fmt.Errorf("bind %s: %w", city, err)
	}
	available := map[string]any{
		"type": "Available", "status": "True", "reason": "Healthy", "message": "",
		"lastTransitionTime": binding.GetCreationTimestamp().UTC().Format("2006-01-02T15:04:05Z"),
	}
	if err := unstructured.SetNestedSlice(binding.Object, []any{available}, "status", "conditions"); err != nil {
		return err
	}
	return c.Status().Update(ctx, binding)
}

// allowConsumers lets consumers do in every project what consumers do.
func (w *World) allowConsumers(ctx context.Context) error {
	root, err := w.client("milo", admin)
	if err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: consumer},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{v1alpha.GroupVersion.Group}, Resources: []string{"workloads"}, Verbs: []string{"*"}},
			{APIGroups: []string{"networking.datumapis.com"}, Resources: []string{"networks"}, Verbs: []string{"use"}},
			{
				APIGroups: []string{v1alpha.GroupVersion.Group}, Resources: []string{"workloaddeployments", "instances"},
				Verbs: []string{"get", "list", "watch", "update", "patch", "delete"},
			},
		},
	}
	for _, obj := range []client.Object{role, bindingOf(role.Name, consumer)} {
		if err := root.Create(ctx, obj); err != nil {
			return err
		}
	}
	for _, project := range []string{"north", "south"} {
		c, err := w.client("project/"+project, consumer)
		if err != nil {
			return err
		}
		// Milo's stand-in copies roles to the projects a moment later.
		if err := eventually(ctx, func(ctx context.Context) error {
			return c.List(ctx, &v1alpha.WorkloadList{}, client.InNamespace("default"))
		}); err != nil {
			return err
		}
	}
	return nil
}

// allowWorkloads lets a user write Workloads in every project, and nothing else.
func (s *scenario) allowWorkloads(ctx context.Context, user string) error {
	root, err := s.client("milo", admin)
	if err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{v1alpha.GroupVersion.Group}, Resources: []string{"workloads"}, Verbs: []string{"create"}}},
	}
	for _, obj := range []client.Object{role, bindingOf(role.Name, user)} {
		if err := root.Create(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

func bindingOf(role, user string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
}

// notFound is nil when err says that something does not exist, and an error when it does.
func notFound(err error, what string) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s is still there", what)
}
