// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
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
// converted object. Prefixes end with a slash.
var tracking = map[string]string{
	"argocd.argoproj.io/":                  "Argo CD",
	"kustomize.toolkit.fluxcd.io/":         "Flux",
	"helm.toolkit.fluxcd.io/":              "Flux",
	"meta.helm.sh/":                        "Helm",
	"helm.sh/":                             "Helm",
	"objectset.rio.cattle.io/":             "Fleet",
	"config.k8s.io/owning-inventory":       "kpt",
	"config.kubernetes.io/":                "kpt",
	"cli-utils.sigs.k8s.io/":               "kpt",
	"applyset.kubernetes.io/part-of":       "kubectl",
	"app.kubernetes.io/managed-by":         "another tool",
	"app.kubernetes.io/instance-hash":      "another tool",
	"karmada.io/":                          "Karmada",
	"policy.karmada.io/":                   "Karmada",
	"work.karmada.io/":                     "Karmada",
	"resourcebinding.karmada.io/":          "Karmada",
	"resourcetemplate.karmada.io/":         "Karmada",
	"propagationpolicy.karmada.io/":        "Karmada",
	"clusterpropagationpolicy.karmada.io/": "Karmada",
	"compute.datumapis.com/":               "the add-on",
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
	kept := func(of map[string]string, path string) map[string]string {
		clean := maps.Clone(of)
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if _, isSilent := keyOf(key, silent); isSilent {
				delete(clean, key)
			} else if entry, found := keyOf(key, slices.Collect(maps.Keys(tracking))); found {
				delete(clean, key)
				losses = append(losses, podfields.Loss{Path: path + "[" + key + "]", Why: fmt.Sprintf(
					"is dropped: by it %s knows what is its own", tracking[entry])})
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
	to := &c.workload.ObjectMeta
	to.Name, to.Namespace = workloadName(from.Name), from.Namespace
	if to.Name != from.Name {
		c.losef("metadata.name", "a Workload's name has no dots and at most %d characters; it is %s here",
			validation.DNS1123LabelMaxLength, to.Name)
	}
	to.Labels, to.Annotations = from.Labels, from.Annotations
	c.lose(dropTracking(to)...)
}

// workloadName returns a DNS label for the name of an object, which may have dots and be longer.
func workloadName(name string) string {
	label := strings.ReplaceAll(name, ".", "-")
	return strings.TrimRight(label[:min(len(label), validation.DNS1123LabelMaxLength)], "-")
}
