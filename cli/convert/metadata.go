// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/cli/convert/podfields"
)

// silent are annotations that tools and controllers write about the stored object.
var silent = []string{"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/"}

// tracking has the labels and annotations by which tools know what they own: a tool would claim, and may prune, the converted object.
// Prefixes end with a slash. Settings of the same tools are not among them.
var tracking = map[string][]string{
	"Argo CD": {"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance", "argocd.argoproj.io/installation-id"},
	"Flux": {
		"kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace", "kustomize.toolkit.fluxcd.io/checksum",
		"helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace", "fluxcd.io/sync-checksum", "fluxcd.io/sync-gc-mark",
	},
	"Helm": {"meta.helm.sh/"}, "": {managedBy}, "Fleet": {"objectset.rio.cattle.io/"},
	"kapp":   {"kapp.k14s.io/app", "kapp.k14s.io/association", "kapp.k14s.io/identity"},
	"kluctl": {"kluctl.io/discriminator"}, "Skaffold": {"skaffold.dev/run-id"},
	"Config Sync": {"configmanagement.gke.io/", "configsync.gke.io/"},
	"kpt":         {"config.k8s.io/owning-inventory", "config.kubernetes.io/owning-inventory", "cli-utils.sigs.k8s.io/inventory-id"},
	"kubectl":     {"applyset.kubernetes.io/"}, "the addon manager": {"addonmanager.kubernetes.io/mode"},
	"the add-on": {"compute.datumapis.com/"},
}

// managedBy is the label with the name of a tool.
const managedBy = "app.kubernetes.io/managed-by"

// trackerOf returns the tool that knows what it owns by a key.
func trackerOf(key string) (tool string, found bool) {
	if domain, _, _ := strings.Cut(key, "/"); domain == "karmada.io" || strings.HasSuffix(domain, ".karmada.io") {
		return "Karmada", true
	}
	return listOf(key, tracking)
}

// listOf returns the name of the list that has a key.
func listOf(key string, lists map[string][]string) (name string, found bool) {
	for name, list := range lists {
		if hasKey(key, list) {
			return name, true
		}
	}
	return "", false
}

// hasKey reports whether a key is in a list, or in the domain of an entry.
func hasKey(key string, list []string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		return key == entry || strings.HasSuffix(entry, "/") && strings.HasPrefix(key, entry)
	})
}

// dropTracking removes what other tools know an object by, and returns what is worth telling.
func dropTracking(object metav1.Object) []podfields.Loss {
	var losses []podfields.Loss
	kept := func(values map[string]string, path string) map[string]string {
		clean := maps.Clone(values)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if hasKey(key, silent) {
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

// injected names the replacements of changes that controllers of a cluster apply to Pods by these annotations and labels. Prefixes
// end with a slash.
var injected = map[string][]string{
	"nothing is injected: name a Secret of the project in a volume or in a variable": {ofVault, "vault.security.banzaicloud.io/"},
	"no proxy is injected, and what it did for the program is gone": {
		"istio.io/", "sidecar.istio.io/", "proxy.istio.io/", "traffic.sidecar.istio.io/", "linkerd.io/", "config.linkerd.io/",
		"consul.hashicorp.com/", "kuma.io/", "dapr.io/",
	},
	"spec.rollout.onDataChange: {policy: Rollout} replaces Instances when their data changes": {
		"reloader.stakater.com/", "configmap.reloader.stakater.com/", "secret.reloader.stakater.com/",
	},
	"cells set the profiles that keep Instances apart": {
		"container.apparmor.security.beta.kubernetes.io/", "seccomp.security.alpha.kubernetes.io/",
	},
	"the platform drains nodes: spec.disruption bounds how many leave at once": {"cluster-autoscaler.kubernetes.io/", "karpenter.sh/"},
	noIdentity: {"azure.workload.identity/", "iam.amazonaws.com/", "iam.gke.io/", "eks.amazonaws.com/"},
	"no agent is injected: put it into the image": {
		"instrumentation.opentelemetry.io/", "sidecar.opentelemetry.io/", "sidecar.jaegertracing.io/", "admission.datadoghq.com/",
	},
	"Instances have the networks of networkInterfaces alone": {"k8s.v1.cni.cncf.io/", "v1.multus-cni.io/"},
	"cells bound no bandwidth":                               {"kubernetes.io/ingress-bandwidth", "kubernetes.io/egress-bandwidth"},
}

// idle are marks that ask for what is so in a cell: nothing is injected, Instances may be moved, and profiles are the default ones.
var idle = regexp.MustCompile(`(safe-to-evict=true|(inject|enabled|auto|search|do-not-disrupt|policy)=(false|disabled)|=runtime/default)$`)

// ofVault are the annotations by which Vault puts secrets into files.
const ofVault = "vault.hashicorp.com/"

// inert are domains of marks that change no Pod.
var inert = []string{"helm.sh/", "kubectl.kubernetes.io/", "kubernetes.io/", "app.kubernetes.io/", "kompose.cmd", "kompose.version"}

// marks lists the labels and annotations by which others change Pods, or read them.
func (c *conversion) marks(from metav1.Object, path string, ofTemplate bool) {
	for list, values := range []map[string]string{from.GetLabels(), from.GetAnnotations()} {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			path := path + []string{".labels[", ".annotations["}[list] + key + "]"
			domain, _, _ := strings.Cut(key, "/")
			if why, found := listOf(key, injected); found && idle.MatchString(key+"="+values[key]) {
				continue
			} else if found {
				c.losef(path, "%s", why)
				if strings.HasPrefix(key, ofVault) {
					filled := cmp.Or(values[ofVault+"secret-volume-path"], "/vault/secrets")
					c.folders = append(c.folders, folder{filled, "which nothing fills in a cell", ""})
				}
			} else if ofTemplate && !hasKey(key, inert) && domain != key && strings.Contains(domain, ".") {
				c.losef(path, "Pods have it only where the operator of a cell allows the domain")
			}
		}
	}
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
	c.marks(target, "metadata", false)
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
