// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

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
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Origin is the namespace of a project that an object on the hub originates from.
type Origin struct {
	// Project is the name of the project.
	Project string
	// ProjectUID is the UID of the project.
	ProjectUID types.UID
	// Namespace is the namespace in the project.
	Namespace string
}

// Labels returns the labels of every object on the hub with this origin. The map is the caller's own.
func (o Origin) Labels() map[string]string {
	return map[string]string{
		v1alpha.LabelProject:          naming.ProjectLabel(o.Project),
		v1alpha.LabelProjectNamespace: o.Namespace,
		v1alpha.LabelProjectUID:       string(o.ProjectUID),
	}
}

// Annotations returns the annotations of every object on the hub with this origin. The map is the caller's own.
func (o Origin) Annotations() map[string]string {
	return map[string]string{v1alpha.AnnotationProjectName: o.Project}
}

// IsMarked reports whether the add-on created an object on the hub.
func IsMarked(onHub client.Object) bool { return onHub.GetLabels()[v1alpha.LabelProject] != "" }

// NameOf returns the name of the project that an object on the hub originates from, or "".
func NameOf(onHub client.Object) multicluster.ClusterName {
	return multicluster.ClusterName(onHub.GetAnnotations()[v1alpha.AnnotationProjectName])
}

// OfCopy requests the original of an object on the hub, which has the same name; it requests nothing for an object that
// is no copy.
func OfCopy(_ context.Context, onHub client.Object) []mcreconcile.Request {
	namespace := onHub.GetLabels()[v1alpha.LabelProjectNamespace]
	return requestIn(onHub, types.NamespacedName{Namespace: namespace, Name: onHub.GetName()})
}

// NamespaceOfCopy requests the namespace of the project that an object on the hub originates from; it requests nothing
// for an object that is no copy.
func NamespaceOfCopy(_ context.Context, onHub client.Object) []mcreconcile.Request {
	return requestIn(onHub, types.NamespacedName{Name: onHub.GetLabels()[v1alpha.LabelProjectNamespace]})
}

func requestIn(onHub client.Object, name types.NamespacedName) []mcreconcile.Request {
	if NameOf(onHub) == "" || onHub.GetLabels()[v1alpha.LabelProjectNamespace] == "" {
		return nil
	}
	return []mcreconcile.Request{{ClusterName: NameOf(onHub), Request: reconcile.Request{NamespacedName: name}}}
}

// OnHubEvent maps events of the hub to requests for objects in projects.
func OnHubEvent(requests func(context.Context, client.Object) []mcreconcile.Request) mchandler.EventHandlerFunc {
	return func(multicluster.ClusterName, cluster.Cluster) mchandler.EventHandler {
		return handler.TypedEnqueueRequestsFromMapFunc(handler.TypedMapFunc[client.Object, mcreconcile.Request](requests))
	}
}
