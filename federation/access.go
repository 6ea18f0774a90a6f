// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	rbacGroup   = "rbac.authorization.k8s.io"
	rbacVersion = rbacGroup + "/v1"
)

// access grants the roles of a file to a user in a plane.
type access struct {
	file  []string // path below the repository
	plane string
	user  string
}

// applyAccess applies the add-on's roles and binds them to its users. Milo
// copies those at its root into every project.
func (a *AddOn) applyAccess(ctx context.Context) error {
	grants := []access{
		{file: []string{"hub", "access", "hub", "role.yaml"}, plane: planeHub, user: addOnUser},
		{file: []string{"hub", "access", "project", "role.yaml"}, plane: planeMilo, user: addOnUser},
	}
	for _, grant := range grants {
		if err := a.federation.grant(ctx, grant); err != nil {
			return fmt.Errorf("access of %s to %s: %w", grant.user, grant.plane, err)
		}
	}
	for _, cell := range a.federation.Cells() {
		if err := a.applyAccessTo(ctx, cell.Name); err != nil {
			return err
		}
	}
	return nil
}

// applyAccessTo applies the roles of the add-on's process in a cell and binds
// them to its user.
func (a *AddOn) applyAccessTo(ctx context.Context, cell string) error {
	grant := access{file: []string{"cell", "access", "role.yaml"}, plane: planeCell + cell, user: agentUser}
	if err := a.federation.grant(ctx, grant); err != nil {
		return fmt.Errorf("access of %s to %s: %w", grant.user, grant.plane, err)
	}
	return nil
}

func (f *Federation) grant(ctx context.Context, g access) error {
	roles, err := readFile(filepath.Join(append([]string{f.state.Repository}, g.file...)...))
	if err != nil {
		return err
	}
	client, err := f.plane(g.plane)
	if err != nil {
		return err
	}
	for _, role := range roles {
		if name := role.GetNamespace(); name != "" {
			if err := client.apply(ctx, namespace(name)); err != nil {
				return err
			}
		}
		binding, err := bindingOf(role, g.user)
		if err != nil {
			return err
		}
		if err := client.apply(ctx, role, binding); err != nil {
			return err
		}
	}
	return nil
}

// bindingOf returns the binding of a ClusterRole, or of a Role in its namespace,
// to a user.
func bindingOf(role *unstructured.Unstructured, user string) (*unstructured.Unstructured, error) {
	kind := role.GetKind()
	switch {
	case role.GetAPIVersion() != rbacVersion || kind != "Role" && kind != "ClusterRole":
		return nil, fmt.Errorf("%s %s is neither a Role nor a ClusterRole of %s", kind, role.GetName(), rbacVersion)
	case kind == "Role" && role.GetNamespace() == "":
		return nil, fmt.Errorf("role %s has no namespace", role.GetName())
	}
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": rbacVersion, "kind": kind + "Binding",
		"roleRef":  map[string]any{"apiGroup": rbacGroup, "kind": kind, "name": role.GetName()},
		"subjects": []any{map[string]any{"apiGroup": rbacGroup, "kind": "User", "name": user}},
	}}
	binding.SetName(role.GetName())
	binding.SetNamespace(role.GetNamespace())
	return binding, nil
}

// webhookConfigurations returns, for each plane, the kinds of configurations of
// which the add-on registers one there.
func (a *AddOn) webhookConfigurations() (map[string][]schema.GroupVersionResource, error) {
	admission := []schema.GroupVersionResource{
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
	}
	configurations := map[string][]schema.GroupVersionResource{
		planeMilo: admission,
		planeHub: {
			{Group: "config.karmada.io", Version: "v1alpha1", Resource: "resourceinterpreterwebhookconfigurations"},
			{Group: "config.karmada.io", Version: "v1alpha1", Resource: "resourceinterpretercustomizations"},
		},
	}
	projects, err := a.federation.projects()
	if err != nil {
		return nil, err
	}
	for _, project := range projects {
		configurations[planeProjectDirect+project] = admission
	}
	return configurations, nil
}

// waitWebhooks waits until the add-on's webhooks are registered everywhere:
// until then objects are admitted without calling them.
func (a *AddOn) waitWebhooks(ctx context.Context) error {
	configurations, err := a.webhookConfigurations()
	if err != nil {
		return err
	}
	for name, resources := range configurations {
		client, err := a.federation.plane(name)
		if err != nil {
			return err
		}
		err = wait.PollUntilContextTimeout(ctx, readyInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
			for _, resource := range resources {
				// Errors are retried until the timeout.
				if _, err := client.dynamic.Resource(resource).Get(ctx, addOnUser, metav1.GetOptions{}); err == nil {
					return true, nil
				}
			}
			return false, nil
		})
		if err != nil {
			return fmt.Errorf("the add-on has not registered its %s at %s: %w", resources[0].Resource, name, err)
		}
	}
	return nil
}
