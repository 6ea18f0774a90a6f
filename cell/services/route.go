// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Kinds of the Gateway API. A cell need not serve them, so that they are neither imported nor watched.
var (
	routeKind   = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}
	gatewayKind = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway"}
	classKind   = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "GatewayClass"}
)

// GatewayKinds are the kinds that a cell must serve for exposure Gateway.
func GatewayKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{routeKind, gatewayKind}
}

const (
	// routeStep is the poll interval of a route until its Gateway answers, and routeInterval once it has accepted.
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
// the Gateway accepts the route. Silence of the cell or the Gateway changes nothing.
func (s *scope) route(ctx context.Context, service *corev1.Service, newest *v1alpha.WorkloadDeployment) error {
	s.routing.known = true
	if !newest.Spec.Service.Routed() {
		return nil
	}
	balancer := s.balancer
	switch {
	case s.unknown:
		s.routing.wanted = true
		s.keepAttached(service)
		s.routed = s.withoutSettings()
		return nil
	case balancer == nil || balancer.Gateway == nil:
		reached := "the Service is reached from the cell only"
		if service.Spec.Type == corev1.ServiceTypeLoadBalancer {
			reached = "the Service keeps its load balancer, whose addresses are not offered"
		}
		return s.refuse(v1alpha.ReasonGatewayNotConfigured, "the operator has not named a Gateway of the cell: "+reached)
	case len(newest.Spec.Service.Hostnames) == 0:
		return s.refuse(v1alpha.ReasonRouteWithoutNames, "the Workload has no DNS name that belongs to its project alone")
	case !s.Gateways.awaited():
		s.remember(service, v1alpha.AnnotationGatewayAddresses, "")
		return s.refuse(v1alpha.ReasonGatewayNotServed, "the cell does not serve HTTPRoute and Gateway of gateway.networking.k8s.io/v1")
	}
	return s.program(ctx, service, newest)
}

// program keeps the route once its Service exists.
func (s *scope) program(ctx context.Context, service *corev1.Service, newest *v1alpha.WorkloadDeployment) error {
	if s.existing.UID == "" {
		// The event of the Service requeues the Workload.
		s.routed = condition(metav1.ConditionFalse, v1alpha.ReasonAwaitingAddress, "the Service is created before its route")
		return nil
	}
	s.routing.wanted = true
	at, err := s.gatewayOf(ctx, service)
	if at == nil || err != nil {
		return err
	}
	listeners, parents := s.balancer.Gateway.Listeners, []any(nil)
	missing := at.missing(listeners)
	if len(missing) == 0 {
		parents = at.parents(listeners, newest.Spec.Service.Hostnames, service.Namespace)
	}
	route, err := s.keepRoute(ctx, desiredRoute(service, newest, parents))
	switch refused := isRefusal(err); {
	case wire.IsUnserved(err):
		return s.unserved(service, routeKind)
	case err != nil && !refused:
		return err
	case route == nil && !refused:
		return s.refuse(v1alpha.ReasonServiceNameTaken, fmt.Sprintf(
			"namespace %s of the cell has an HTTPRoute %s that the add-on did not create", s.key.Namespace, s.key.Name))
	case len(missing) > 0:
		s.keepAttached(service)
		return s.refuse(v1alpha.ReasonGatewayNotFound, fmt.Sprintf(
			"Gateway %s of the cell has no listener %s: the route stays at its listeners", at.gateway.GetName(), strings.Join(missing, ", ")))
	case route != nil:
		s.attach(service, route, at)
	}
	if err != nil {
		return s.refuse(v1alpha.ReasonServiceRefused, "the cell refuses the HTTPRoute: "+err.Error())
	}
	return nil
}

// refuse reports why the Service has no route, or keeps an earlier one.
func (s *scope) refuse(reason, message string) error {
	s.routed = condition(metav1.ConditionFalse, reason, message+s.held)
	s.RequeueAfter.AtMost(retryAfter)
	return nil
}

// unserved keeps what the Service has of its Gateway while the cell does not serve a kind that it has served: that is no answer about
// its objects.
func (s *scope) unserved(service *corev1.Service, kind schema.GroupVersionKind) error {
	s.keepAttached(service)
	return s.refuse(v1alpha.ReasonGatewayNotServed, fmt.Sprintf("the cell no longer serves %s of %s", kind.Kind, kind.GroupVersion()))
}

// gatewayOf reads the Gateway that the operator has named; nil: it cannot be read, which the condition of the Service describes.
func (s *scope) gatewayOf(ctx context.Context, service *corev1.Service) (*attachment, error) {
	place := s.balancer.Gateway
	gateway := newObject(gatewayKind, client.ObjectKey{Namespace: place.Namespace, Name: place.Name})
	err := s.APIReader.Get(ctx, client.ObjectKeyFromObject(gateway), gateway)
	switch {
	case wire.IsUnserved(err):
		return nil, s.unserved(service, gatewayKind)
	case apierrors.IsNotFound(err):
		s.remember(service, v1alpha.AnnotationGatewayAddresses, "")
		return nil, s.refuse(v1alpha.ReasonGatewayNotFound, fmt.Sprintf(
			"the cell has no Gateway %s in namespace %s", gateway.GetName(), gateway.GetNamespace()))
	case apierrors.IsForbidden(err):
		s.keepAttached(service)
		return nil, s.refuse(v1alpha.ReasonServiceRefused, "the agent may not read the Gateway: "+err.Error())
	case err != nil:
		return nil, fmt.Errorf("get Gateway %s: %w", client.ObjectKeyFromObject(gateway), err)
	}
	controller, err := s.controllerOf(ctx, gateway)
	if wire.IsUnserved(err) {
		return nil, s.unserved(service, classKind)
	}
	return &attachment{gateway: gateway, controller: controller, service: s.existing.CreationTimestamp.Time}, err
}

// isRefusal reports whether a cell refuses a write until an operator acts.
func isRefusal(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// keepAttached gives the wanted Service what the stored one has of its Gateway: nothing says that it is gone.
func (s *scope) keepAttached(wanted *corev1.Service) {
	for _, name := range []string{v1alpha.AnnotationGatewayAddresses, v1alpha.AnnotationUnroutedHostnames} {
		if value := s.existing.Annotations[name]; value != "" {
			metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, name, value)
		}
	}
}

// attach gives the Service the addresses of the Gateway, if the Gateway has accepted the route. While the Gateway has not
// answered about the present generation of a route that it has accepted before, it serves the one before.
func (s *scope) attach(service *corev1.Service, route *unstructured.Unstructured, at *attachment) {
	got := at.answer(route)
	addresses, absent := at.addresses()
	unrouted, all := at.unrouted(route, got.refusing)
	if len(unrouted) > 0 {
		metav1.SetMetaDataAnnotation(&service.ObjectMeta, v1alpha.AnnotationUnroutedHostnames, strings.Join(unrouted, ","))
	}
	remaining, again, name := s.untilProgrammed(got.accepted), routeStep, at.gateway.GetName()
	missing := fmt.Sprintf("Gateway %s of the cell has no listener for %s: add one, or remove the name", name, strings.Join(unrouted, ", "))
	wait := func(message string) {
		s.routed = condition(metav1.ConditionFalse, v1alpha.ReasonAwaitingAddress, message+s.held)
	}
	switch {
	case got.accepted == nil && got.problem != "":
		s.routed = condition(metav1.ConditionFalse, v1alpha.ReasonRouteNotAccepted, got.problem)
	case all:
		s.routed = condition(metav1.ConditionFalse, v1alpha.ReasonRouteNotAccepted, missing)
	case addresses == "":
		s.remember(service, v1alpha.AnnotationGatewayAddresses, "")
		wait(fmt.Sprintf("Gateway %s of the cell %s", name, absent))
	case got.accepted == nil:
		s.remember(service, v1alpha.AnnotationGatewayAddresses, s.existing.Annotations[v1alpha.AnnotationGatewayAddresses])
		wait(fmt.Sprintf("Gateway %s of the cell has not answered about HTTPRoute %s", name, s.key))
	case remaining > 0:
		again = remaining
		wait(fmt.Sprintf("Gateway %s of the cell has accepted HTTPRoute %s, and gets %s to apply it", name, s.key, settleTime))
	case len(unrouted) > 0:
		s.remember(service, v1alpha.AnnotationGatewayAddresses, addresses)
		s.routed = condition(metav1.ConditionFalse, v1alpha.ReasonRouteNotAccepted, missing)
		again = routeInterval
	default:
		s.remember(service, v1alpha.AnnotationGatewayAddresses, addresses)
		s.routed = condition(metav1.ConditionTrue, v1alpha.ReasonServiceProgrammed, got.accepted.Message)
		again = routeInterval
	}
	s.RequeueAfter.AtMost(again)
}

// untilProgrammed returns for how long a Service without addresses still waits for the proxy of a Gateway.
func (s *scope) untilProgrammed(accepted *metav1.Condition) time.Duration {
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

// keepRoute creates or changes the HTTPRoute of the agent, and returns the stored one, also if it cannot be changed. It returns
// nil if others have a route of this name, or if there is none.
func (s *scope) keepRoute(ctx context.Context, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	existing := newObject(routeKind, s.key)
	err := s.APIReader.Get(ctx, s.key, existing)
	switch {
	case wire.IsMissing(err, s.key.Name):
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
	owners := ownersOf(existing, desired.GetOwnerReferences())
	changed := changedFields(existing, desired)
	if len(changed) == 0 && equality.Semantic.DeepEqual(existing.GetOwnerReferences(), owners) {
		return existing, nil
	}
	values := map[string]any{"/metadata/resourceVersion": existing.GetResourceVersion(), "/metadata/ownerReferences": owners}
	maps.Copy(values, changed)
	before := existing.DeepCopy()
	if err := apply.Replace(ctx, s.Client, FieldManager, existing, values); err != nil {
		return before, err
	}
	return existing, nil
}

// changedFields are the fields of the spec that a stored route has otherwise than the desired one, by their JSON paths. Parents have no
// fields of others: one for the whole Gateway lacks the name of a listener.
func changedFields(existing, desired *unstructured.Unstructured) map[string]any {
	stored, _ := existing.Object["spec"].(map[string]any)
	spec, _ := desired.Object["spec"].(map[string]any)
	changed := map[string]any{}
	for name, value := range spec {
		same := containsAll(stored[name], value)
		if name == "parentRefs" {
			same = equality.Semantic.DeepEqual(stored[name], value)
		}
		if !same {
			changed["/spec/"+name] = value
		}
	}
	return changed
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
	if wire.IsUnserved(err) {
		s.RequeueAfter.AtMost(retryAfter)
		return nil
	}
	if apierrors.IsNotFound(err) || err == nil && (!isOwn(existing) || existing.GetDeletionTimestamp() != nil) {
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

// desiredRoute is the HTTPRoute of a Service: all requests for its names go to its first port. Without parents it stays at the ones
// that it has.
func desiredRoute(service *corev1.Service, newest *v1alpha.WorkloadDeployment, parents []any) *unstructured.Unstructured {
	route := newObject(routeKind, client.ObjectKeyFromObject(service))
	route.SetLabels(ownLabel())
	route.SetOwnerReferences(service.OwnerReferences)
	var names []any
	for _, name := range newest.Spec.Service.Hostnames {
		names = append(names, name)
	}
	spec := map[string]any{
		"hostnames": names,
		"rules": []any{map[string]any{
			"backendRefs": []any{map[string]any{
				"group": "", "kind": "Service", "name": service.Name, "port": int64(service.Spec.Ports[0].Port), "weight": int64(1),
			}},
		}},
	}
	if len(parents) > 0 {
		spec["parentRefs"] = parents
	}
	route.Object["spec"] = spec
	return route
}
