// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	rbacGroup   = "rbac.authorization.k8s.io"
	rbacVersion = rbacGroup + "/v1"
)

// access is a file of roles and who gets them where.
type access struct {
	file  []string // path below the repository
	plane string
	user  string
}

// applyAccess applies the add-on's roles and binds them to its users. What is
// applied at Milo's root goes from there into every project.
func (a *AddOn) applyAccess(ctx context.Context) error {
	grants := []access{
		{file: []string{"hub", "access", "hub", "role.yaml"}, plane: planeHub, user: addOnUser},
		{file: []string{"hub", "access", "project", "role.yaml"}, plane: planeMilo, user: addOnUser},
	}
	for _, cell := range a.federation.state.Cells {
		grants = append(grants, access{file: []string{"cell", "access", "role.yaml"}, plane: planeCell + cell.Name, user: agentUser})
	}
	for _, grant := range grants {
		if err := a.federation.grant(ctx, grant); err != nil {
			return fmt.Errorf("access of %s to %s: %w", grant.user, grant.plane, err)
		}
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

// bindingOf binds a Role or ClusterRole to a user, a Role in its namespace.
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

// applyWebhooks has Milo and Karmada call the add-on's webhooks.
func (a *AddOn) applyWebhooks(ctx context.Context) error {
	for file, name := range map[string]string{
		filepath.Join("webhook", "configuration.yaml"): planeMilo,
		filepath.Join("policies", "interpreter.yaml"):  planeHub,
	} {
		objects, err := readFile(filepath.Join(a.federation.state.Repository, file))
		if err != nil {
			return fmt.Errorf("webhooks of %s: %w", name, err)
		}
		client, err := a.federation.plane(name)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if err := a.direct(object); err != nil {
				return fmt.Errorf("%s: %s: %w", file, object.GetName(), err)
			}
		}
		if err := client.apply(ctx, objects...); err != nil {
			return err
		}
	}
	return nil
}

// direct replaces the Services that webhooks name by the balancer: there is no
// cluster here in which a Service could lead anywhere.
func (a *AddOn) direct(configuration *unstructured.Unstructured) error {
	ca, err := a.federation.caBundle()
	if err != nil {
		return err
	}
	webhooks, found, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil || !found {
		return errors.Join(errors.New("it has no list of webhooks"), err)
	}
	for _, item := range webhooks {
		webhook, ok := item.(map[string]any)
		if !ok {
			return errors.New("a webhook is not an object")
		}
		path, _, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		if err != nil {
			return err
		}
		webhook["clientConfig"] = map[string]any{"url": "https://" + address(a.balancer) + path, "caBundle": ca}
	}
	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}
