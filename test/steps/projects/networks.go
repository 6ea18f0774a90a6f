// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// networkBindings is the kind by which a network service is asked for a network. Projects without one do not serve it.
//
//go:embed crds/networking.datumapis.com_networkbindings.yaml
var networkBindings []byte

func addNetworkSteps(sc world.Sentences) {
	sc.Step(`^a project of its own with a network service$`, func(ctx context.Context) error {
		s := from(ctx)
		if err := s.addProject(ctx, nil); err != nil {
			return err
		}
		return s.serveNetworkBindings(ctx)
	})
	sc.Step(`^the network service brings network "([^"]*)" to "([^"]*)"$`, func(ctx context.Context, network, location string) error {
		return from(ctx).bringNetwork(ctx, network, location)
	})
}

func (s Steps) serveNetworkBindings(ctx context.Context) error {
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(networkBindings, crd); err != nil {
		return err
	}
	c := s.Client("project/"+s.Project, world.Admin)
	if err := c.Create(ctx, crd); err != nil {
		return err
	}
	return world.Eventually(ctx, func(ctx context.Context) error { return c.List(ctx, listOf("NetworkBinding")) })
}

func listOf(kind string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "networking.datumapis.com", Version: "v1alpha", Kind: kind + "List"})
	return list
}

// bringNetwork acts as a network service whose network has become available in a location.
func (s Steps) bringNetwork(ctx context.Context, network, location string) error {
	c := s.Client("project/"+s.Project, world.Admin)
	bindings := listOf("NetworkBinding")
	if err := c.List(ctx, bindings, client.InNamespace(s.Namespace)); err != nil {
		return err
	}
	for i := range bindings.Items {
		binding := &bindings.Items[i]
		wanted, _, _ := unstructured.NestedString(binding.Object, "spec", "network", "name")
		where, _, _ := unstructured.NestedString(binding.Object, "spec", "location", "name")
		if wanted != network || where != location {
			continue
		}
		ready := map[string]any{
			"type": "Ready", "status": string(metav1.ConditionTrue), "reason": "NetworkContextReady", "message": "",
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}
		err := unstructured.SetNestedSlice(binding.Object, []any{ready}, "status", "conditions")
		return errors.Join(err, c.Status().Update(ctx, binding))
	}
	return fmt.Errorf("nobody has asked for network %s in %s: there are %d NetworkBindings", network, location, len(bindings.Items))
}
