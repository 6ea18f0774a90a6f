// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// ownLabel is on every Service that the agent creates. The cache selects by it.
func ownLabel() map[string]string {
	return map[string]string{v1alpha.LabelManagedBy: v1alpha.ManagedByCell}
}

// isOwn reports whether the agent created a Service.
func isOwn(service metav1.Object) bool {
	return service.GetLabels()[v1alpha.LabelManagedBy] == v1alpha.ManagedByCell
}

// served are the deployments of one Workload that have a service, by name. Of Workloads of one name, of which all but
// one are being deleted, it is the newest. A deployment that is being deleted counts only while no other has a service:
// the Service is there until the last of them is gone.
func served(deployments []v1alpha.WorkloadDeployment) []*v1alpha.WorkloadDeployment {
	var live, leaving []*v1alpha.WorkloadDeployment
	for i := range deployments {
		switch deployment := &deployments[i]; {
		case deployment.Spec.Service == nil:
		case deployment.DeletionTimestamp.IsZero():
			live = append(live, deployment)
		default:
			leaving = append(leaving, deployment)
		}
	}
	if len(live) == 0 {
		live = leaving
	}
	if len(live) == 0 {
		return nil
	}
	workload := newestWorkload(live)
	result := slices.DeleteFunc(live, func(d *v1alpha.WorkloadDeployment) bool { return d.Spec.WorkloadRef.UID != workload })
	slices.SortFunc(result, func(a, b *v1alpha.WorkloadDeployment) int { return strings.Compare(a.Name, b.Name) })
	return result
}

// newestWorkload is the Workload of the deployment that was created last.
func newestWorkload(deployments []*v1alpha.WorkloadDeployment) types.UID {
	newest := slices.MaxFunc(deployments, func(a, b *v1alpha.WorkloadDeployment) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Spec.WorkloadRef.UID, b.Spec.WorkloadRef.UID))
	})
	return newest.Spec.WorkloadRef.UID
}

// current is the deployment with the newest service: the hub may have sent a change to some deployments only. Of equal
// generations, the first name counts.
func current(deployments []*v1alpha.WorkloadDeployment) *v1alpha.WorkloadDeployment {
	return slices.MaxFunc(deployments, func(a, b *v1alpha.WorkloadDeployment) int {
		return cmp.Or(cmp.Compare(a.Spec.ServiceGeneration, b.Spec.ServiceGeneration), strings.Compare(b.Name, a.Name))
	})
}

// desiredService is the Service of deployments of one Workload. They own it together, so that Kubernetes deletes it with
// the last of them, also while the agent is down. balancer is the load balancer that exposes it; nil: none.
func desiredService(deployments []*v1alpha.WorkloadDeployment, balancer *v1alpha.CellLoadBalancer) *corev1.Service {
	newest := current(deployments)
	wanted := templates.CompleteService(newest.Spec.Service)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: newest.Namespace, Name: newest.Spec.WorkloadRef.Name, Labels: ownLabel(),
		},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: map[string]string{v1alpha.LabelWorkloadUID: string(newest.Spec.WorkloadRef.UID)},

			PublishNotReadyAddresses: wanted.PublishNotReadyAddresses,
		},
	}
	service.Labels[v1alpha.LabelWorkloadUID] = string(newest.Spec.WorkloadRef.UID)
	service.Labels[v1alpha.LabelWorkloadName] = newest.Spec.WorkloadRef.Name
	if wanted.Headless {
		service.Spec.ClusterIP = corev1.ClusterIPNone
	}
	for i := range wanted.Ports {
		port := &wanted.Ports[i]
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{
			Name: port.Name, Port: port.Port, TargetPort: *port.TargetPort, Protocol: *port.Protocol, AppProtocol: port.AppProtocol,
		})
	}
	if balancer != nil && wanted.Exposure == v1alpha.ServiceExposureLoadBalancer {
		expose(service, balancer)
	}
	for _, deployment := range deployments {
		service.OwnerReferences = append(service.OwnerReferences, deployment.OwnerReference())
	}
	return service
}

// keepOthers gives the wanted Service what the cell and other parties have set in the stored one: addresses, node ports, and
// all fields that the agent does not ask for.
func keepOthers(stored, wanted *corev1.Service) {
	keepPorts(stored, wanted)
	spec, asked := stored.Spec.DeepCopy(), &wanted.Spec
	spec.Type, spec.Selector, spec.Ports = asked.Type, asked.Selector, asked.Ports
	spec.PublishNotReadyAddresses = asked.PublishNotReadyAddresses
	if stored.Spec.Type != asked.Type {
		// Only a Service of a load balancer may have these.
		spec.LoadBalancerClass, spec.AllocateLoadBalancerNodePorts = asked.LoadBalancerClass, nil
		spec.LoadBalancerIP, spec.LoadBalancerSourceRanges = "", nil
		spec.ExternalTrafficPolicy, spec.HealthCheckNodePort = "", 0
	}
	wanted.Spec = *spec
	wanted.OwnerReferences = ownersOf(stored, wanted.OwnerReferences)
}

// keepPorts gives each wanted port its port of the nodes, and the application protocol that another party has set.
func keepPorts(stored, wanted *corev1.Service) {
	for i := range wanted.Spec.Ports {
		port := &wanted.Spec.Ports[i]
		at := slices.IndexFunc(stored.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port.Port && p.Protocol == port.Protocol })
		if at < 0 {
			continue
		}
		if stored.Spec.Type == wanted.Spec.Type {
			port.NodePort = stored.Spec.Ports[at].NodePort
		}
		if port.AppProtocol == nil && !hasSetProtocol(stored, port) {
			port.AppProtocol = stored.Spec.Ports[at].AppProtocol
		}
	}
}

// hasSetProtocol reports whether the agent has set the application protocol of a port.
func hasSetProtocol(stored *corev1.Service, port *corev1.ServicePort) bool {
	key := fieldpath.KeyByFields("port", int64(port.Port), "protocol", string(port.Protocol))
	path := fieldpath.MakePathOrDie("spec", "ports", key, "appProtocol")
	return slices.ContainsFunc(stored.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		set := &fieldpath.Set{}
		return entry.Manager == string(FieldManager) && entry.FieldsV1 != nil &&
			set.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)) == nil && set.Has(path)
	})
}

// KeepOwnFields is the transform of the cache of Services: of the managed fields it keeps the agent's.
func KeepOwnFields(obj any) (any, error) {
	if service, ok := obj.(*corev1.Service); ok {
		service.ManagedFields = slices.DeleteFunc(service.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
			return entry.Manager != string(FieldManager)
		})
	}
	return obj, nil
}

// ownersOf are the wanted owners of an object of the agent, and the owners that other parties have added.
func ownersOf(stored client.Object, wanted []metav1.OwnerReference) []metav1.OwnerReference {
	result := slices.Clone(wanted)
	for _, owner := range stored.GetOwnerReferences() {
		if owner.Kind != v1alpha.KindWorkloadDeployment {
			result = append(result, owner)
		}
	}
	return result
}

// isHeadless reports whether a Service has no address. It has one, or none, for as long as it exists.
func isHeadless(service *corev1.Service) bool { return service.Spec.ClusterIP == corev1.ClusterIPNone }
