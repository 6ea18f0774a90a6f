// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// Kinds of the Gateway API. A cell need not serve them, so that they are neither imported nor watched.
var (
	routeKind   = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}
	gatewayKind = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway"}
)

// GatewayKinds are the kinds that a cell must serve for exposure Gateway.
func GatewayKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{routeKind, gatewayKind}
}

const (
	// routeStep is when a route without an answer of its Gateway is read again, and routeInterval when one that is accepted
	// is.
	routeStep     = 5 * time.Second
	routeInterval = time.Minute
	// settleTime is how long the Gateway has accepted a route before the name leads to it: controllers say that they accept a route
	// before their proxies have it. Times of conditions are without fractions of a second.
	settleTime = 4 * time.Second
)

// routing is the HTTPRoute that a Workload must have.
type routing struct {
	// known: it is known whether the Workload has a route. wanted: it has; withdrawRoute then leaves the route alone.
	known, wanted bool
}

// route keeps the HTTPRoute of a Service at the Gateway of the cell. It gives the Service the addresses of the Gateway while
// the Gateway accepts the route.
func (s *scope) route(
	ctx context.Context, service *corev1.Service, newest *v1alpha.WorkloadDeployment, by *v1alpha.CellLoadBalancer,
) error {
	s.routing.known = true
	if !newest.Spec.Service.Routed() {
		return nil
	}
	refuse := func(reason, message string) error {
		s.routed = condition(metav1.ConditionFalse, reason, message)
		s.RequeueAfter.AtMost(retryAfter)
		return nil
	}
	switch {
	case by == nil || by.Gateway == nil:
		return refuse(v1alpha.ReasonGatewayNotConfigured,
			"the operator has not named a Gateway of the cell: the Service is reached from the cell only")
	case len(newest.Spec.Service.Hostnames) == 0:
		return refuse(v1alpha.ReasonRouteWithoutNames, "the Workload has no DNS name that belongs to its project alone")
	case !s.Gateways.awaited():
		return refuse(v1alpha.ReasonGatewayNotServed, "the cell does not serve HTTPRoute and Gateway of gateway.networking.k8s.io/v1")
	}
	if s.existing.UID == "" {
		// The event of the Service requeues the Workload.
		s.routed = condition(metav1.ConditionFalse, v1alpha.ReasonAwaitingAddress, "the Service is created before its route")
		return nil
	}
	s.routing.wanted = true
	gateway := newObject(gatewayKind, client.ObjectKey{Namespace: by.Gateway.Namespace, Name: by.Gateway.Name})
	route, err := s.keepRoute(ctx, desiredRoute(service, newest, by.Gateway))
	switch {
	case meta.IsNoMatchError(err):
		return refuse(v1alpha.ReasonGatewayNotServed, "the cell no longer serves HTTPRoute of gateway.networking.k8s.io/v1")
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return refuse(v1alpha.ReasonServiceRefused, "the cell refuses the HTTPRoute: "+err.Error())
	case err != nil:
		return err
	case route == nil:
		return refuse(v1alpha.ReasonServiceNameTaken, fmt.Sprintf(
			"namespace %s of the cell has an HTTPRoute %s that the add-on did not create", s.key.Namespace, s.key.Name))
	}
	err = s.APIReader.Get(ctx, client.ObjectKeyFromObject(gateway), gateway)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return refuse(v1alpha.ReasonGatewayNotFound, fmt.Sprintf(
			"the cell has no Gateway %s in namespace %s", gateway.GetName(), gateway.GetNamespace()))
	case apierrors.IsForbidden(err):
		return refuse(v1alpha.ReasonServiceRefused, "the agent may not read the Gateway: "+err.Error())
	case err != nil:
		return fmt.Errorf("get Gateway %s: %w", client.ObjectKeyFromObject(gateway), err)
	}
	s.attach(service, route, gateway)
	return nil
}

// attach gives the Service the addresses of the Gateway, if the Gateway has accepted the route.
func (s *scope) attach(service *corev1.Service, route, gateway *unstructured.Unstructured) {
	accepted, problem := answerOf(route, gateway)
	addresses, again := addressesOf(gateway), routeStep
	settles := s.settles(accepted)
	switch {
	case problem != "":
		s.routed = condition(metav1.ConditionFalse, v1alpha.ReasonRouteNotAccepted, problem)
	case accepted == nil:
		s.routed = condition(metav1.ConditionFalse, v1alpha.ReasonAwaitingAddress, fmt.Sprintf(
			"Gateway %s of the cell has not answered about HTTPRoute %s", gateway.GetName(), s.key))
	case addresses == "":
		s.routed = condition(metav1.ConditionFalse, v1alpha.ReasonAwaitingAddress, fmt.Sprintf(
			"Gateway %s of the cell has no address", gateway.GetName()))
	case settles > 0:
		again = settles
		s.routed = condition(metav1.ConditionFalse, v1alpha.ReasonAwaitingAddress, fmt.Sprintf(
			"Gateway %s of the cell has accepted HTTPRoute %s, and gets %s to apply it", gateway.GetName(), s.key, settleTime))
	default:
		metav1.SetMetaDataAnnotation(&service.ObjectMeta, v1alpha.AnnotationGatewayAddresses, addresses)
		metav1.SetMetaDataAnnotation(&service.ObjectMeta, v1alpha.AnnotationServiceAnnotations, v1alpha.AnnotationGatewayAddresses)
		s.routed = condition(metav1.ConditionTrue, v1alpha.ReasonServiceProgrammed, "")
		again = routeInterval
	}
	s.RequeueAfter.AtMost(again)
}

// settles returns for how long a Service without addresses still waits for the proxy of a Gateway.
func (s *scope) settles(accepted *metav1.Condition) time.Duration {
	if accepted == nil || s.existing.Annotations[v1alpha.AnnotationGatewayAddresses] != "" {
		return 0
	}
	since := s.Clock.Now().Sub(accepted.LastTransitionTime.Time)
	if since < 0 {
		// The controller has another clock.
		return 0
	}
	return settleTime - since
}

// answerOf returns condition Accepted of a route if a Gateway has accepted the route and found its Service. problem is a
// condition that says that it has not. Without an answer both are empty.
func answerOf(route, gateway *unstructured.Unstructured) (accepted *metav1.Condition, problem string) {
	parents, _, _ := unstructured.NestedSlice(route.Object, "status", "parents")
	for _, one := range parents {
		parent, _ := one.(map[string]any)
		namespace, _, _ := unstructured.NestedString(parent, "parentRef", "namespace")
		name, _, _ := unstructured.NestedString(parent, "parentRef", "name")
		if name != gateway.GetName() || namespace != gateway.GetNamespace() {
			continue
		}
		found := conditionsOf(parent, route.GetGeneration())
		for _, kind := range []string{"Accepted", "ResolvedRefs"} {
			if c := found[kind]; c != nil && c.Status == metav1.ConditionFalse {
				return nil, fmt.Sprintf("Gateway %s: %s is False: %s: %s", name, kind, c.Reason, c.Message)
			}
		}
		if c := found["Accepted"]; c != nil && c.Status == metav1.ConditionTrue {
			return c, ""
		}
	}
	return nil, ""
}

// conditionsOf are the conditions of a generation of a route, by type.
func conditionsOf(parent map[string]any, generation int64) map[string]*metav1.Condition {
	list, _, _ := unstructured.NestedSlice(parent, "conditions")
	result := map[string]*metav1.Condition{}
	for _, one := range list {
		fields, _ := one.(map[string]any)
		text := func(name string) string { value, _ := fields[name].(string); return value }
		observed, _ := fields["observedGeneration"].(int64)
		if observed == generation {
			since, _ := time.Parse(time.RFC3339, text("lastTransitionTime"))
			result[text("type")] = &metav1.Condition{
				Status: metav1.ConditionStatus(text("status")), Reason: text("reason"), Message: text("message"),
				LastTransitionTime: metav1.NewTime(since),
			}
		}
	}
	return result
}

// addressesOf are the addresses of a Gateway, as the cell reports them.
func addressesOf(gateway *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(gateway.Object, "status", "addresses")
	var addresses []string
	for _, one := range list {
		fields, _ := one.(map[string]any)
		// A comma would make two of one.
		if value, _ := fields["value"].(string); value != "" && !strings.Contains(value, ",") {
			addresses = append(addresses, value)
		}
	}
	return joined(addresses)
}

// keepRoute creates or changes the HTTPRoute of the agent, and returns the stored one. It returns nil if others have a
// route of this name.
func (s *scope) keepRoute(ctx context.Context, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	existing := newObject(routeKind, s.key)
	err := s.APIReader.Get(ctx, s.key, existing)
	switch {
	case apierrors.IsNotFound(err):
		if err := s.Client.Create(ctx, desired, client.FieldOwner(FieldManager)); err != nil {
			return nil, fmt.Errorf("create HTTPRoute %s: %w", s.key, err)
		}
		return desired, nil
	case err != nil:
		return nil, fmt.Errorf("get HTTPRoute %s: %w", s.key, err)
	case !isOwn(existing):
		return nil, nil
	case existing.GetDeletionTimestamp() != nil:
		return existing, nil
	}
	spec, have := desired.Object["spec"], existing.Object["spec"]
	if containsAll(have, spec) && equality.Semantic.DeepEqual(existing.GetOwnerReferences(), desired.GetOwnerReferences()) {
		return existing, nil
	}
	return existing, apply.Replace(ctx, s.Client, FieldManager, existing, map[string]any{
		"/metadata/resourceVersion": existing.GetResourceVersion(), "/metadata/ownerReferences": desired.GetOwnerReferences(), "/spec": spec,
	})
}

// containsAll reports whether a stored value has all that is wanted. The API server adds defaults to maps.
func containsAll(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		stored, isMap := have.(map[string]any)
		for name, value := range want {
			if !isMap || !containsAll(stored[name], value) {
				return false
			}
		}
		return isMap
	case []any:
		stored, isList := have.([]any)
		if !isList || len(stored) != len(want) {
			return false
		}
		for i := range want {
			if !containsAll(stored[i], want[i]) {
				return false
			}
		}
		return true
	}
	return equality.Semantic.DeepEqual(have, want)
}

// withdrawRoute deletes the HTTPRoute of a Workload that must have none any more.
func (s *scope) withdrawRoute(ctx context.Context) error {
	if !s.routing.known || s.routing.wanted || !s.Gateways.Served() {
		return nil
	}
	existing := newObject(routeKind, s.key)
	err := s.APIReader.Get(ctx, s.key, existing)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) || err == nil && (!isOwn(existing) || existing.GetDeletionTimestamp() != nil) {
		return nil
	}
	if err == nil {
		uid := existing.GetUID()
		err = client.IgnoreNotFound(s.Client.Delete(ctx, existing, client.Preconditions{UID: &uid}))
	}
	if err != nil {
		return fmt.Errorf("delete HTTPRoute %s: %w", s.key, err)
	}
	return nil
}

func newObject(kind schema.GroupVersionKind, key client.ObjectKey) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	return object
}

// desiredRoute is the HTTPRoute of a Service: all requests for its names go to its first port.
func desiredRoute(service *corev1.Service, newest *v1alpha.WorkloadDeployment, by *v1alpha.CellGateway) *unstructured.Unstructured {
	route := newObject(routeKind, client.ObjectKeyFromObject(service))
	route.SetLabels(ownLabel())
	route.SetOwnerReferences(service.OwnerReferences)
	var names []any
	for _, name := range newest.Spec.Service.Hostnames {
		names = append(names, name)
	}
	route.Object["spec"] = map[string]any{
		"parentRefs": []any{map[string]any{
			"group": gatewayKind.Group, "kind": gatewayKind.Kind, "namespace": by.Namespace, "name": by.Name,
		}},
		"hostnames": names,
		"rules": []any{map[string]any{
			"backendRefs": []any{map[string]any{
				"group": "", "kind": "Service", "name": service.Name, "port": int64(service.Spec.Ports[0].Port), "weight": int64(1),
			}},
		}},
	}
	return route
}
