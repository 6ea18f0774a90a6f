// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// maxAddresses is the most addresses of a Service that are reported.
const maxAddresses = 8

// Addresses are the addresses that a load balancer has given the Service of a deployment, or of the Gateway that has
// accepted its route, as the cell reports them. A Service that is of another Workload, or that is no longer exposed, has none.
func Addresses(service *corev1.Service, deployment *v1alpha.WorkloadDeployment) string {
	if service.Labels[v1alpha.LabelWorkloadUID] != string(deployment.Spec.WorkloadRef.UID) || !service.DeletionTimestamp.IsZero() {
		return ""
	}
	if deployment.Spec.Service.Routed() {
		return service.Annotations[v1alpha.AnnotationGatewayAddresses]
	}
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer || !deployment.Spec.Service.Exposed() {
		return ""
	}
	return cmp.Or(balancedAddresses(service), service.Annotations[v1alpha.AnnotationLastAddresses])
}

// Unrouted are the DNS names of the route of a deployment that no listener of the Gateway has, as the cell reports them.
func Unrouted(service *corev1.Service, deployment *v1alpha.WorkloadDeployment) string {
	if service.Labels[v1alpha.LabelWorkloadUID] != string(deployment.Spec.WorkloadRef.UID) || !deployment.Spec.Service.Routed() {
		return ""
	}
	return service.Annotations[v1alpha.AnnotationUnroutedHostnames]
}

// balancedAddresses are the addresses in the status of a Service.
func balancedAddresses(service *corev1.Service) string {
	var addresses []string
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		for _, address := range []string{ingress.IP, ingress.Hostname} {
			if address != "" {
				addresses = append(addresses, address)
			}
		}
	}
	return joined(addresses)
}

// joined are addresses as the cell reports them. The load balancer decides about their order, which has no meaning.
func joined(addresses []string) string {
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	return strings.Join(addresses[:min(len(addresses), maxAddresses)], ",")
}

// loadBalancer finds the settings of the load balancer of the cell from the hub of a deployment; nil: it has none. Without
// the Cell they are not known, and the settings that the Service was created with hold.
func (s *scope) loadBalancer(ctx context.Context, deployment *v1alpha.WorkloadDeployment) error {
	if !deployment.Spec.Service.Exposed() {
		return nil
	}
	cell := &v1alpha.Cell{}
	key := client.ObjectKey{Name: wire.CellName(types.UID(deployment.Labels[v1alpha.LabelHub]))}
	err := s.Client.Get(ctx, key, cell)
	switch {
	case apierrors.IsNotFound(err):
		s.unknown, s.balancer = true, settingsOf(s.existing)
	case err != nil:
		return fmt.Errorf("get Cell %s: %w", key.Name, err)
	default:
		s.balancer = cell.Spec.LoadBalancer
	}
	return nil
}

// settingsOf are the settings that a stored Service has; nil: it has no load balancer.
func settingsOf(stored *corev1.Service) *v1alpha.CellLoadBalancer {
	if stored.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return nil
	}
	result := &v1alpha.CellLoadBalancer{Class: stored.Annotations[v1alpha.AnnotationLoadBalancerClass], Annotations: map[string]string{}}
	for _, name := range ownAnnotations(stored) {
		if value, found := stored.Annotations[name]; found && !strings.HasPrefix(name, v1alpha.GroupVersion.Group+"/") {
			result.Annotations[name] = value
		}
	}
	return result
}

// expose gives a Service its load balancer.
func expose(service *corev1.Service, balancer *v1alpha.CellLoadBalancer) {
	service.Spec.Type = corev1.ServiceTypeLoadBalancer
	service.Annotations = map[string]string{}
	maps.Copy(service.Annotations, balancer.Annotations)
	if balancer.Class != "" {
		service.Spec.LoadBalancerClass = new(balancer.Class)
		service.Annotations[v1alpha.AnnotationLoadBalancerClass] = balancer.Class
	}
}

// keepsBalancer reports whether a Service for a Gateway keeps its load balancer: the cell has no Gateway, or
// does not know it. A load balancer that is created again may have another address.
func (s *scope) keepsBalancer(newest *v1alpha.WorkloadDeployment) bool {
	balanced := newest.Spec.Service.Routed() && s.existing.Spec.Type == corev1.ServiceTypeLoadBalancer
	return balanced && s.balancer != nil && s.balancer.Gateway == nil
}

// needsRecreation reports whether the stored Service cannot be changed to the wanted one: an address cannot be added or
// removed, and a load balancer keeps its class. A class that the agent did not ask for is a webhook's of the cell, and stays. Settings
// without a class take nothing away: the new Service would have another address.
func needsRecreation(stored, wanted *corev1.Service) bool {
	const balanced = corev1.ServiceTypeLoadBalancer
	if isHeadless(stored) != isHeadless(wanted) {
		return true
	}
	if stored.Spec.Type != balanced || wanted.Spec.Type != balanced {
		return false
	}
	class, asked := ptr.Deref(stored.Spec.LoadBalancerClass, ""), stored.Annotations[v1alpha.AnnotationLoadBalancerClass]
	next := ptr.Deref(wanted.Spec.LoadBalancerClass, "")
	return next != "" && next != class && next != asked
}

// listAnnotations gives the wanted Service the list of the annotations that the agent sets.
func listAnnotations(wanted *corev1.Service) {
	if len(wanted.Annotations) > 0 {
		names := strings.Join(slices.Sorted(maps.Keys(wanted.Annotations)), ",")
		wanted.Annotations[v1alpha.AnnotationServiceAnnotations] = names
	}
}

// ownAnnotations are the names of the annotations that the agent has set.
func ownAnnotations(stored *corev1.Service) []string {
	return strings.Split(stored.Annotations[v1alpha.AnnotationServiceAnnotations], ",")
}

// annotationsOf are the annotations of the stored Service without the ones that the agent has set before, and with the
// wanted ones: controllers of load balancers write annotations, too.
func annotationsOf(stored, wanted *corev1.Service) map[string]string {
	result := maps.Clone(stored.Annotations)
	for _, name := range ownAnnotations(stored) {
		delete(result, name)
	}
	delete(result, v1alpha.AnnotationServiceAnnotations)
	if result == nil {
		result = map[string]string{}
	}
	maps.Copy(result, wanted.Annotations)
	return result
}

// exposureOf is the condition of a Service that is written: of an exposed one, whether it has an address.
func (s *scope) exposureOf(newest *v1alpha.WorkloadDeployment) *metav1.Condition {
	switch {
	case newest.Spec.Service.Routed():
		return s.routed
	case !newest.Spec.Service.Exposed():
	case s.balancer == nil && s.unknown:
		return s.withoutSettings()
	case s.balancer == nil:
		return condition(metav1.ConditionFalse, v1alpha.ReasonLoadBalancerNotConfigured,
			"the operator has not configured the load balancer of the cell: the Service is reached from the cell only")
	case balancedAddresses(s.existing) == "":
		return condition(metav1.ConditionFalse, v1alpha.ReasonAwaitingAddress, fmt.Sprintf(
			"the load balancer of the cell has not given Service %s an address%s", s.key, s.held))
	}
	return condition(metav1.ConditionTrue, v1alpha.ReasonServiceProgrammed, "")
}

// withoutSettings is the condition of a Service while the cell does not have the settings of the hub.
func (s *scope) withoutSettings() *metav1.Condition {
	return condition(metav1.ConditionFalse, v1alpha.ReasonAwaitingAddress,
		"the cell has not received the settings of its load balancer from the hub: its Cell object is missing")
}

// ofCell requests the Workloads with an exposed Service: the settings of the load balancer have changed.
func (r *Reconciler) ofCell(ctx context.Context, _ client.Object) []reconcile.Request {
	var list v1alpha.WorkloadDeploymentList
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if list.Items[i].Spec.Service.Exposed() {
			requests = append(requests, ofDeployment(ctx, &list.Items[i])...)
		}
	}
	return requests
}
