// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// attachment is a route at a Gateway.
type attachment struct {
	gateway *unstructured.Unstructured
	// controller is the name of the Gateway's controller; "": it is not known, so that the answer of any controller counts.
	controller string
}

// controllerOf is the name of the controller of a Gateway; "": it is not known. A cell that does not serve the kind has not
// named the controller.
func (s *scope) controllerOf(ctx context.Context, gateway *unstructured.Unstructured) (string, error) {
	name, _, _ := unstructured.NestedString(gateway.Object, "spec", "gatewayClassName")
	class := newObject(classKind, client.ObjectKey{Name: name})
	err := s.APIReader.Get(ctx, client.ObjectKeyFromObject(class), class)
	if err != nil && !wire.IsMissing(err, name) && !apierrors.IsForbidden(err) {
		return "", fmt.Errorf("get GatewayClass %s: %w", name, err)
	}
	controller, _, _ := unstructured.NestedString(class.Object, "spec", "controllerName")
	return controller, nil
}

// answer returns condition Accepted of a route if the Gateway has accepted the route and found its Service. problem is a
// condition that says that it has not. Without an answer both are empty.
func (a *attachment) answer(route *unstructured.Unstructured) (accepted *metav1.Condition, problem string) {
	parents, _, _ := unstructured.NestedSlice(route.Object, "status", "parents")
	for _, item := range parents {
		parent, _ := item.(map[string]any)
		text := func(path ...string) string { value, _, _ := unstructured.NestedString(parent, path...); return value }
		if text("parentRef", "name") != a.gateway.GetName() || text("parentRef", "namespace") != a.gateway.GetNamespace() ||
			a.controller != "" && text("controllerName") != a.controller {
			continue
		}
		found := conditionsOf(parent, route.GetGeneration())
		for _, kind := range []string{"Accepted", "ResolvedRefs"} {
			if c := found[kind]; c != nil && c.Status == metav1.ConditionFalse {
				return nil, fmt.Sprintf("Gateway %s: %s is False: %s: %s", a.gateway.GetName(), kind, c.Reason, c.Message)
			}
		}
		if c := found["Accepted"]; c != nil && c.Status == metav1.ConditionTrue {
			c.Message = ""
			if c.ObservedGeneration == 0 {
				c.Message = fmt.Sprintf("controller %s does not report which generation of the HTTPRoute it has read", text("controllerName"))
			}
			return c, ""
		}
	}
	return nil, ""
}

// conditionsOf are the conditions of a generation of a route, by type. Some controllers do not write the generation that they
// have read: their conditions count for each.
func conditionsOf(parent map[string]any, generation int64) map[string]*metav1.Condition {
	list, _, _ := unstructured.NestedSlice(parent, "conditions")
	result := map[string]*metav1.Condition{}
	for _, item := range list {
		fields, _ := item.(map[string]any)
		text := func(name string) string { value, _ := fields[name].(string); return value }
		observed, _ := fields["observedGeneration"].(int64)
		if observed == generation || observed == 0 {
			since, _ := time.Parse(time.RFC3339, text("lastTransitionTime"))
			result[text("type")] = &metav1.Condition{
				Status: metav1.ConditionStatus(text("status")), Reason: text("reason"), Message: text("message"),
				LastTransitionTime: metav1.NewTime(since), ObservedGeneration: observed,
			}
		}
	}
	return result
}

// unrouted are the host names of a route that no listener of the Gateway has: a route counts as accepted if one of its names
// has a listener. all reports that no name has one.
func (a *attachment) unrouted(route *unstructured.Unstructured) (names []string, all bool) {
	names, _, _ = unstructured.NestedStringSlice(route.Object, "spec", "hostnames")
	listeners, _, _ := unstructured.NestedSlice(a.gateway.Object, "spec", "listeners")
	asked := len(names)
	for _, item := range listeners {
		listener, _ := item.(map[string]any)
		if a.admits(listener, route.GetNamespace()) {
			host, _, _ := unstructured.NestedString(listener, "hostname")
			names = slices.DeleteFunc(names, func(name string) bool { return matches(host, name) })
		}
	}
	return names, len(names) == asked && asked > 0
}

// admits reports whether a listener may have HTTPRoutes of a namespace. Labels of namespaces are not compared: the answer of
// the Gateway has that.
func (a *attachment) admits(listener map[string]any, namespace string) bool {
	protocol, _, _ := unstructured.NestedString(listener, "protocol")
	from, _, _ := unstructured.NestedString(listener, "allowedRoutes", "namespaces", "from")
	if slices.Contains([]string{"TCP", "UDP", "TLS"}, protocol) || from == "None" {
		return false
	}
	return from != "" && from != "Same" || namespace == a.gateway.GetNamespace()
}

// matches reports whether the host name of a listener stands for a name: "" for each, and "*." for one label or more.
func matches(listener, name string) bool {
	suffix, wildcard := strings.CutPrefix(strings.ToLower(listener), "*")
	name = strings.ToLower(name)
	return listener == "" || name == suffix || wildcard && strings.HasSuffix(name, suffix) && len(name) > len(suffix)
}

// addressesOf are the addresses of a Gateway, as the cell reports them.
func addressesOf(gateway *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(gateway.Object, "status", "addresses")
	var addresses []string
	for _, item := range list {
		fields, _ := item.(map[string]any)
		// A comma would make two of one.
		if value, _ := fields["value"].(string); value != "" && !strings.Contains(value, ",") {
			addresses = append(addresses, value)
		}
	}
	return joined(addresses)
}
