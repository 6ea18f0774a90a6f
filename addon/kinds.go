// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
)

// miloKind is a kind that the add-on reads or writes in projects, and that it does not install.
type miloKind struct {
	version, resource string
	// without is the consequence if Milo does not serve the kind.
	without string
	// optional reports that the add-on works without the kind.
	optional bool
	// needed reports whether the values enable a feature that needs the kind. Nil: it is always needed.
	needed func(values map[string]any) bool
}

// miloKinds are listed in docs/how-to/install.md, too.
var miloKinds = []miloKind{
	{
		version: "networking.datumapis.com/v1alpha", resource: "locationbindings",
		without: "no project has a location, and every Workload is refused",
	},
	{
		version: "networking.datumapis.com/v1alpha", resource: "networks", optional: true,
		without: "Workloads may name networks that do not exist",
	},
	{
		version: "networking.datumapis.com/v1alpha", resource: "networkbindings", optional: true,
		without: "Instances do not wait for their networks",
		needed:  func(values map[string]any) bool { return isOn(values, "featureGates", "NetworkBinding") },
	},
	{
		version: "quota.miloapis.com/v1alpha1", resource: "resourceclaims",
		without: "no Instance is granted quota, and none starts",
		needed:  func(values map[string]any) bool { return isOn(values, "controllers", "quota", "enabled") },
	},
}

// isOn reports whether a value of the chart that is off by default is on.
func isOn(values map[string]any, path ...string) bool {
	on, _, err := unstructured.NestedBool(values, path...)
	return on && err == nil
}

// checkMiloKinds checks that Milo serves the kinds that an operator installs there. All projects serve the kinds of Milo's root.
func (s *session) checkMiloKinds(f *findings) {
	kinds, err := discovery.NewDiscoveryClientForConfig(s.milo.config)
	if err != nil {
		f.fail("%s: %w", s.milo.name, err)
		return
	}
	for _, kind := range miloKinds {
		if kind.needed != nil && !kind.needed(s.values) {
			continue
		}
		served, err := serves(kinds, kind)
		const missing = "%s does not serve %s of %s, so that %s; install its CustomResourceDefinition there, see docs/how-to/install.md#what-milo-must-serve"
		switch {
		case err != nil:
			f.fail("cannot find out whether %s serves %s of %s: %w", s.milo.name, kind.resource, kind.version, err)
		case !served && kind.optional:
			f.warn(missing, s.milo.name, kind.resource, kind.version, kind.without)
		case !served:
			f.fail(missing, s.milo.name, kind.resource, kind.version, kind.without)
		}
	}
}

// serves reports whether an API server serves a kind.
func serves(kinds discovery.ServerResourcesInterface, kind miloKind) (bool, error) {
	list, err := kinds.ServerResourcesForGroupVersion(kind.version)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == kind.resource }), nil
}
