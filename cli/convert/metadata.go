// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/cli/convert/podfields"
)

// silent are annotations that tools and controllers write about the stored object.
var silent = []string{"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/"}

// tracking are labels and annotations by which tools know what they own: a tool would claim, and may prune, the
// converted object. Prefixes end with a slash. Settings of the same tools are not among them.
var tracking = map[string]string{
	"argocd.argoproj.io/tracking-id":        "Argo CD",
	"argocd.argoproj.io/instance":           "Argo CD",
	"argocd.argoproj.io/installation-id":    "Argo CD",
	"kustomize.toolkit.fluxcd.io/name":      "Flux",
	"kustomize.toolkit.fluxcd.io/namespace": "Flux",
	"kustomize.toolkit.fluxcd.io/checksum":  "Flux",
	"helm.toolkit.fluxcd.io/name":           "Flux",
	"helm.toolkit.fluxcd.io/namespace":      "Flux",
	"fluxcd.io/sync-checksum":               "Flux",
	"fluxcd.io/sync-gc-mark":                "Flux",
	"meta.helm.sh/":                         "Helm",
	managedBy:                               "",
	"objectset.rio.cattle.io/":              "Fleet",
	"kapp.k14s.io/app":                      "kapp",
	"kapp.k14s.io/association":              "kapp",
	"kapp.k14s.io/identity":                 "kapp",
	"kluctl.io/discriminator":               "kluctl",
	"skaffold.dev/run-id":                   "Skaffold",
	"configmanagement.gke.io/":              "Config Sync",
	"configsync.gke.io/":                    "Config Sync",
	"config.k8s.io/owning-inventory":        "kpt",
	"config.kubernetes.io/owning-inventory": "kpt",
	"cli-utils.sigs.k8s.io/inventory-id":    "kpt",
	"applyset.kubernetes.io/":               "kubectl",
	"addonmanager.kubernetes.io/mode":       "the addon manager",
	"compute.datumapis.com/":                "the add-on",
}

// managedBy is the label with the name of a tool.
const managedBy = "app.kubernetes.io/managed-by"

// trackerOf returns the tool that knows what it owns by a key.
func trackerOf(key string) (tool string, found bool) {
	if domain, _, _ := strings.Cut(key, "/"); domain == "karmada.io" || strings.HasSuffix(domain, ".karmada.io") {
		return "Karmada", true
	}
	entry, found := keyOf(key, slices.Sorted(maps.Keys(tracking)))
	return tracking[entry], found
}

// keyOf returns the entry of a list that a key is, or is in the domain of.
func keyOf(key string, list []string) (string, bool) {
	for _, entry := range list {
		if key == entry || strings.HasSuffix(entry, "/") && strings.HasPrefix(key, entry) {
			return entry, true
		}
	}
	return "", false
}

// dropTracking removes what other tools know an object by, and returns what is worth telling.
func dropTracking(object metav1.Object) []podfields.Loss {
	var losses []podfields.Loss
	kept := func(values map[string]string, path string) map[string]string {
		clean := maps.Clone(values)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if _, isSilent := keyOf(key, silent); isSilent {
				delete(clean, key)
			} else if tool, found := trackerOf(key); found {
				delete(clean, key)
				why := fmt.Sprintf("is dropped: by it %s knows what is its own", cmp.Or(tool, values[key]))
				losses = append(losses, podfields.Loss{Path: path + "[" + key + "]", Why: why})
			}
		}
		if len(clean) == 0 {
			return nil
		}
		return clean
	}
	object.SetLabels(kept(object.GetLabels(), "metadata.labels"))
	object.SetAnnotations(kept(object.GetAnnotations(), "metadata.annotations"))
	return losses
}

// metadata takes over the labels and annotations of an object, and a name that a Workload may have.
func (c *conversion) metadata(from *metav1.ObjectMeta) {
	target := &c.workload.ObjectMeta
	target.Name, target.Namespace = workloadName(from.Name), from.Namespace
	if target.Name != from.Name {
		c.losef("metadata.name", "a Workload's name has no dots and at most %d characters; it is %s here",
			mostName, target.Name)
	}
	target.Labels, target.Annotations = from.Labels, from.Annotations
	c.lose(dropTracking(target)...)
	c.lose(dropOwners(from)...)
}

// dropOwners returns what is lost with the owners and the finalizers of an object: what refers to it by its UID does
// not know the copy.
func dropOwners(from metav1.Object) []podfields.Loss {
	var losses []podfields.Loss
	for i, owner := range from.GetOwnerReferences() {
		losses = append(losses, podfields.Loss{Path: fmt.Sprintf("metadata.ownerReferences[%d]", i), Why: fmt.Sprintf(
			"%s %s does not own the copy, and does not change or delete it", owner.Kind, owner.Name)})
	}
	if finalizers := from.GetFinalizers(); len(finalizers) > 0 {
		losses = append(losses, podfields.Loss{Path: "metadata.finalizers", Why: "the controller that removes them does not know the copy"})
	}
	return losses
}

// mostName is the length of the longest name of a Workload.
const mostName = validation.DNS1123LabelMaxLength

// workloadName returns a DNS label for the name of an object, which may have dots and be longer.
func workloadName(name string) string {
	label := strings.ReplaceAll(name, ".", "-")
	return strings.TrimRight(label[:min(len(label), mostName)], "-")
}
