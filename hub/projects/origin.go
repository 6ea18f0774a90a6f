// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// Pods in the hub namespaces of a cell must satisfy the baseline level of Pod security: a user who can write Pods there
// cannot reach the node. The restricted level would refuse images that run as root.
const (
	LabelPodSecurity = "pod-security.kubernetes.io/enforce"
	PodSecurity      = "baseline"
)

// HubNamespace returns the name of the hub namespace for a namespace UID in the project.
func (o Origin) HubNamespace(namespaceUID types.UID) string {
	return naming.HubNamespace(string(o.ProjectUID), string(namespaceUID))
}

// Marks reports whether an object on the hub has the labels of this origin.
func (o Origin) Marks(onHub client.Object) bool {
	for key, value := range o.Labels() {
		if onHub.GetLabels()[key] != value {
			return false
		}
	}
	return true
}

// Owns reports whether a namespace on the hub is the hub namespace of this origin, by its labels and its name.
// namespaceUID is the UID of the namespace in the project, or "" if it is unknown: then only a namespace whose labels
// prove its name counts.
func (o Origin) Owns(namespace *corev1.Namespace, namespaceUID types.UID) bool {
	labelled := types.UID(namespace.Labels[v1alpha.LabelProjectNamespaceUID])
	switch {
	case namespaceUID == "":
		namespaceUID = labelled
	case labelled != "" && labelled != namespaceUID:
		return false
	}
	return namespaceUID != "" && o.Marks(namespace) && namespace.Name == o.HubNamespace(namespaceUID)
}

// IsHubNamespace reports whether the add-on created a namespace on the hub that has its labels.
func IsHubNamespace(namespace *corev1.Namespace) bool {
	from := Origin{ProjectUID: types.UID(namespace.Labels[v1alpha.LabelProjectUID])}
	uid := types.UID(namespace.Labels[v1alpha.LabelProjectNamespaceUID])
	return IsMarked(namespace) && from.ProjectUID != "" && uid != "" && namespace.Name == from.HubNamespace(uid)
}

// Noted returns the namespace on the hub that the annotation of a deployment names, nil if it does not exist, and
// whether the labels of that namespace confirm that it is the hub namespace of this origin. It reads only the hub.
func (o Origin) Noted(
	ctx context.Context, hub client.Reader, deployment *v1alpha.WorkloadDeployment,
) (noted *corev1.Namespace, confirmed bool, err error) {
	name := deployment.Annotations[v1alpha.AnnotationHubNamespace]
	if name == "" {
		return nil, false, nil
	}
	noted, err = getNamespace(ctx, hub, name)
	return noted, err == nil && noted != nil && o.Owns(noted, ""), err
}

// NamespaceUID reads the UID of the origin's namespace from the project.
func (o Origin) NamespaceUID(ctx context.Context, project client.Reader) (types.UID, error) {
	var namespace corev1.Namespace
	if err := project.Get(ctx, client.ObjectKey{Name: o.Namespace}, &namespace); err != nil {
		return "", fmt.Errorf("get namespace %s of the project for its UID: %w", o.Namespace, err)
	}
	return namespace.UID, nil
}

// getNamespace returns nil if no such namespace exists.
func getNamespace(ctx context.Context, hub client.Reader, name string) (*corev1.Namespace, error) {
	namespace := &corev1.Namespace{}
	err := hub.Get(ctx, client.ObjectKey{Name: name}, namespace)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get namespace %s of the hub: %w", name, err)
	}
	return namespace, nil
}
