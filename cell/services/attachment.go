// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"cmp"
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
	// service is the time at which the Service of the route was created.
	service time.Time
}

// controllerOf is the name of the controller of a Gateway; "": it is not known. A cell that does not serve the kind has not
// named the controller.
func (s *scope) controllerOf(ctx context.Context, gateway *unstructured.Unstructured) (string, error) {
	name := textOf(gateway.Object, "spec", "gatewayClassName")
	class := newObject(classKind, client.ObjectKey{Name: name})
	err := s.APIReader.Get(ctx, client.ObjectKeyFromObject(class), class)
	if err != nil && !wire.IsMissing(err, name) && !apierrors.IsForbidden(err) {
		return "", fmt.Errorf("get GatewayClass %s: %w", name, err)
	}
	return textOf(class.Object, "spec", "controllerName"), nil
}

// answer holds what the controller of a Gateway reports about a route.
type answer struct {
	// accepted is condition Accepted of a listener that has the route, with a note as its message; nil: no listener has it.
	accepted *metav1.Condition
	// problem describes a condition that is False.
	problem string
	// refusing has the listeners that have a problem, by name.
	refusing map[string]bool
}

// answer returns the answer about a route. Without one it is empty.
func (a *attachment) answer(route *unstructured.Unstructured) answer {
	result := answer{refusing: map[string]bool{}}
	for _, entry := range mapsOf(route.Object, "status", "parents") {
		if !a.counts(entry, route) {
			continue
		}
		accepted, problem := a.answerOf(entry, route.GetGeneration())
		listener := textOf(entry, "parentRef", "sectionName")
		if _, known := result.refusing[listener]; problem != "" && !known {
			result.refusing[listener] = true
		}
		result.problem = cmp.Or(result.problem, problem)
		if accepted != nil {
			result.accepted, result.refusing[listener] = accepted, false
		}
	}
	return result
}

// counts reports whether an entry in the status of a route is from the controller of the Gateway, and about a listener that the route
// names.
func (a *attachment) counts(entry map[string]any, route *unstructured.Unstructured) bool {
	parent := func(field, missing string) string { return cmp.Or(textOf(entry, "parentRef", field), missing) }
	return parent("kind", gatewayKind.Kind) == gatewayKind.Kind && parent("name", "") == a.gateway.GetName() &&
		parent("namespace", route.GetNamespace()) == a.gateway.GetNamespace() &&
		(a.controller == "" || textOf(entry, "controllerName") == a.controller) &&
		(parent("sectionName", "") == "" || isNamed(route, parent("sectionName", "")))
}

// answerOf returns condition Accepted if an entry of the status accepts a generation of a route and has found its Service, and
// otherwise the condition that is False.
func (a *attachment) answerOf(entry map[string]any, generation int64) (accepted *metav1.Condition, problem string) {
	found, controller, note := conditionsOf(entry, generation), textOf(entry, "controllerName"), ""
	if c := found["ResolvedRefs"]; c != nil && c.Reason == "BackendNotFound" && c.LastTransitionTime.Time.Before(a.service) {
		note = fmt.Sprintf("controller %s reported BackendNotFound before the Service existed", controller)
		delete(found, "ResolvedRefs")
	}
	for _, kind := range []string{"Accepted", "ResolvedRefs"} {
		if c := found[kind]; c != nil && c.Status == metav1.ConditionFalse {
			return nil, fmt.Sprintf("Gateway %s: %s is False: %s: %s", a.gateway.GetName(), kind, c.Reason, c.Message)
		}
	}
	accepted = found["Accepted"]
	if accepted == nil || accepted.Status != metav1.ConditionTrue {
		return nil, ""
	}
	if accepted.ObservedGeneration == 0 {
		note = fmt.Sprintf("controller %s does not report which generation of the HTTPRoute it has read", controller)
	}
	accepted.Message = note
	return accepted, ""
}

// conditionsOf are the conditions of a generation of an object, by type. Some controllers do not write the generation that they
// have read: their conditions count for each.
func conditionsOf(status map[string]any, generation int64) map[string]*metav1.Condition {
	result := map[string]*metav1.Condition{}
	for _, fields := range mapsOf(status, "conditions") {
		text := func(name string) string { return textOf(fields, name) }
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

// parents are the references of a route to the Gateway, one for each listener that it names. The operator names the listeners. Without
// any, they are the HTTPS listeners of the route's host names, so that no request is answered in clear text where TLS is offered. A
// Gateway without them has one reference for all of its listeners.
func (a *attachment) parents(listeners, hostnames []string, namespace string) (parents []any) {
	if len(listeners) == 0 {
		listeners = a.secure(hostnames, namespace)
	}
	reference := func() map[string]any {
		return map[string]any{
			"group": gatewayKind.Group, "kind": gatewayKind.Kind, "namespace": a.gateway.GetNamespace(), "name": a.gateway.GetName(),
		}
	}
	for _, name := range listeners {
		parent := reference()
		parent["sectionName"] = name
		parents = append(parents, parent)
	}
	if len(parents) == 0 {
		return []any{reference()}
	}
	return parents
}

// missing are the names of listeners that the Gateway lacks.
func (a *attachment) missing(listeners []string) []string {
	missing := slices.Clone(listeners)
	for _, listener := range mapsOf(a.gateway.Object, "spec", "listeners") {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == textOf(listener, "name") })
	}
	return missing
}

// secure are the HTTPS listeners that may have one of the host names of a namespace.
func (a *attachment) secure(hostnames []string, namespace string) (names []string) {
	for _, listener := range mapsOf(a.gateway.Object, "spec", "listeners") {
		if textOf(listener, "protocol") == "HTTPS" && a.admits(listener, namespace) &&
			slices.ContainsFunc(hostnames, func(name string) bool { return matches(textOf(listener, "hostname"), name) }) {
			names = append(names, textOf(listener, "name"))
		}
	}
	slices.Sort(names)
	return names
}

// isNamed reports whether a route is for a listener.
func isNamed(route *unstructured.Unstructured, listener string) bool {
	return slices.ContainsFunc(mapsOf(route.Object, "spec", "parentRefs"), func(parent map[string]any) bool {
		name := textOf(parent, "sectionName")
		return name == "" || name == listener
	})
}

// unrouted are the host names of a route for which no listener has it: a route counts as accepted if one of its names
// has a listener. all reports that no name has one.
func (a *attachment) unrouted(route *unstructured.Unstructured, refusing map[string]bool) (names []string, all bool) {
	names, _, _ = unstructured.NestedStringSlice(route.Object, "spec", "hostnames")
	asked := len(names)
	for _, listener := range mapsOf(a.gateway.Object, "spec", "listeners") {
		name := textOf(listener, "name")
		if isNamed(route, name) && !refusing[name] && a.admits(listener, route.GetNamespace()) {
			host := textOf(listener, "hostname")
			names = slices.DeleteFunc(names, func(name string) bool { return matches(host, name) })
		}
	}
	return names, len(names) == asked && asked > 0
}

// admits reports whether a listener may have HTTPRoutes of a namespace. Labels of namespaces are not compared: the answer of
// the Gateway has that.
func (a *attachment) admits(listener map[string]any, namespace string) bool {
	protocol, from := textOf(listener, "protocol"), textOf(listener, "allowedRoutes", "namespaces", "from")
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

// addresses are the addresses of the Gateway, as the cell reports them. A Gateway that is not programmed has none; absent describes why
// it has none.
func (a *attachment) addresses() (addresses, absent string) {
	status, _, _ := unstructured.NestedMap(a.gateway.Object, "status")
	if c := conditionsOf(status, a.gateway.GetGeneration())["Programmed"]; c != nil && c.Status == metav1.ConditionFalse {
		return "", fmt.Sprintf("is not programmed: %s: %s", c.Reason, c.Message)
	}
	var values []string
	for _, address := range mapsOf(status, "addresses") {
		// A comma would make two of one.
		if value := textOf(address, "value"); value != "" && !strings.Contains(value, ",") {
			values = append(values, value)
		}
	}
	return joined(values), "has no address"
}

// textOf is the text in a field of an object; "": the field is missing.
func textOf(object map[string]any, path ...string) string {
	value, _, _ := unstructured.NestedString(object, path...)
	return value
}

// mapsOf are the objects in a list of an object.
func mapsOf(object map[string]any, path ...string) []map[string]any {
	list, _, _ := unstructured.NestedSlice(object, path...)
	result := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok {
			result = append(result, fields)
		}
	}
	return result
}
