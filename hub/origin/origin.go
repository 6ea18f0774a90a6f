// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package origin says which object in which project a hub object was made from.
package origin

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Project is the name of the project that a hub object belongs to, or "".
func Project(onHub client.Object) multicluster.ClusterName {
	return multicluster.ClusterName(onHub.GetAnnotations()[v1alpha.AnnotationProjectName])
}

// OfCopy asks for the original of a WorkloadDeployment on the hub: none when it is no copy.
func OfCopy(_ context.Context, onHub client.Object) []mcreconcile.Request {
	namespace := onHub.GetLabels()[v1alpha.LabelProjectNamespace]
	if Project(onHub) == "" || namespace == "" {
		return nil
	}
	return []mcreconcile.Request{{
		ClusterName: Project(onHub),
		Request:     reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: onHub.GetName()}},
	}}
}

// OnHubEvent handles events of the hub by requests about projects.
func OnHubEvent(requests func(context.Context, client.Object) []mcreconcile.Request) mchandler.EventHandlerFunc {
	return func(multicluster.ClusterName, cluster.Cluster) mchandler.EventHandler {
		return handler.TypedEnqueueRequestsFromMapFunc(handler.TypedMapFunc[client.Object, mcreconcile.Request](requests))
	}
}
