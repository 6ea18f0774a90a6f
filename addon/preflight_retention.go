// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// keptNamespaces is the chart's customization of the retention of namespaces.
const keptNamespaces = Name + "-namespaces"

// checkRetention names customizations of others that decide which fields of the add-on's objects stay in cells.
func (s *session) checkRetention(ctx context.Context, f *findings) {
	found, err := s.hub.list(ctx, "config.karmada.io/v1alpha1", "ResourceInterpreterCustomization")
	if err != nil {
		f.warn("customizations of retention are not checked: %v", err)
		return
	}
	keeps, set, err := unstructured.NestedBool(s.values, onHub, "keepPodSecurity")
	aboutRetention(f, found, keeps || !set || err != nil)
}

// aboutRetention adds the findings about customizations. keeps: the chart has one for namespaces.
func aboutRetention(f *findings, customizations []unstructured.Unstructured, keeps bool) {
	for i := range customizations {
		candidate := &customizations[i]
		script, found, _ := unstructured.NestedString(candidate.Object, "spec", "customizations", "retention", "luaScript")
		version, _, _ := unstructured.NestedString(candidate.Object, "spec", "target", "apiVersion")
		kind, _, _ := unstructured.NestedString(candidate.Object, "spec", "target", "kind")
		if !found || strings.TrimSpace(script) == "" || version != "v1" || candidate.GetName() == keptNamespaces {
			continue
		}
		switch {
		case kind == "Secret" || kind == "ConfigMap":
			f.warn("ResourceInterpreterCustomization %s decides which fields of %ss stay in cells; if it keeps their data, Instances "+
				"get earlier values, and condition ReferencedDataReady has reason ContentDiffers: leave out objects with label %s",
				candidate.GetName(), kind, v1alpha.LabelProject)
		case kind == "Namespace" && keeps:
			f.fail("ResourceInterpreterCustomization %s retains fields of namespaces, and Karmada admits one for each kind: set "+
				"hub.keepPodSecurity to false in a file of --compute-values, see docs/decisions/security-in-cells.md",
				candidate.GetName())
		}
	}
}
