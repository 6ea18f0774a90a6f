// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	componentresource "k8s.io/component-helpers/resource"
)

// exceeded has the numbers by which an API server explains that a ResourceQuota refuses a Pod.
type exceeded struct{ requested, used, limited corev1.ResourceList }

// parseExceeded reads "exceeded quota: NAME, requested: pods=1, used: pods=2, limited: pods=2".
func parseExceeded(message string) (exceeded, bool) {
	_, tail, found := strings.Cut(message, exceededQuota)
	_, tail, requests := strings.Cut(tail, ", requested: ")
	requested, tail, uses := strings.Cut(tail, ", used: ")
	used, limited, limits := strings.Cut(tail, ", limited: ")
	if !found || !requests || !uses || !limits {
		return exceeded{}, false
	}
	var lists [3]corev1.ResourceList
	for i, text := range []string{requested, used, limited} {
		list, ok := parseQuantities(text)
		if !ok {
			return exceeded{}, false
		}
		lists[i] = list
	}
	return exceeded{requested: lists[0], used: lists[1], limited: lists[2]}, true
}

func parseQuantities(text string) (corev1.ResourceList, bool) {
	list := corev1.ResourceList{}
	for entry := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(entry, "=")
		quantity, err := resource.ParseQuantity(value)
		if !found || err != nil {
			return nil, false
		}
		list[corev1.ResourceName(name)] = quantity
	}
	return list, true
}

// without reports whether the quota has enough left without a Pod.
func (e exceeded) without(pod *corev1.Pod) bool {
	for name, requested := range e.requested {
		used, limit := e.used[name].DeepCopy(), e.limited[name]
		used.Sub(shareOf(pod, name))
		used.Add(requested)
		if used.Cmp(limit) > 0 {
			return false
		}
	}
	return true
}

// shareOf is the share that a Pod has of a resource of a ResourceQuota.
func shareOf(pod *corev1.Pod, name corev1.ResourceName) resource.Quantity {
	const objects, requests, limits = "count/pods", "requests.", "limits."
	options := componentresource.PodResourcesOptions{}
	text := string(name)
	switch {
	case pod.UID == "":
		return resource.Quantity{}
	case name == corev1.ResourcePods, text == objects:
		return *resource.NewQuantity(1, resource.DecimalSI)
	case strings.HasPrefix(text, limits):
		return componentresource.PodLimits(pod, options)[corev1.ResourceName(strings.TrimPrefix(text, limits))]
	}
	return componentresource.PodRequests(pod, options)[corev1.ResourceName(strings.TrimPrefix(text, requests))]
}
