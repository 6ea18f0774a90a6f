// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// findPlace determines the hub namespace of the deployment. The annotation alone decides nothing, because a consumer
// may write it: it counts if it names a hub namespace of this project that has the copy of this very deployment.
// Otherwise the place is derived from the UIDs of the project and of its namespace.
func (s *scope) findPlace(ctx context.Context) error {
	noted, err := s.noted(ctx)
	if err != nil {
		return err
	}
	if noted != nil {
		s.use(noted)
		return nil
	}
	if s.namespaceUID, err = s.Namespaces.Read(ctx, s.origin, s.projectAPI); err != nil {
		return err
	}
	s.hubNamespace = s.origin.HubNamespace(s.namespaceUID)
	return nil
}

// noted returns the hub namespace that the deployment's annotation names, if it has the copy of this deployment;
// otherwise nil. It reads only the hub's cache.
func (s *scope) noted(ctx context.Context) (*corev1.Namespace, error) {
	noted, confirmed, err := s.origin.Noted(ctx, s.Hub, s.deployment)
	if err != nil || !confirmed {
		return nil, err
	}
	copied, err := s.copyIn(ctx, noted.Name)
	if err != nil || copied == nil || !path.IsCopy(copied, s.deployment) {
		return nil, err
	}
	s.existing = copied
	return noted, nil
}

// copyIn returns the deployment's copy in a hub namespace, by its name; nil: none exists.
func (s *scope) copyIn(ctx context.Context, hubNamespace string) (*v1alpha.WorkloadDeployment, error) {
	copied := &v1alpha.WorkloadDeployment{}
	err := s.Hub.Get(ctx, types.NamespacedName{Namespace: hubNamespace, Name: s.deployment.Name}, copied)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get the hub's copy: %w", err)
	}
	return copied, nil
}

// use directs the steps to a hub namespace that is the project's.
func (s *scope) use(namespace *corev1.Namespace) {
	s.hubNamespace, s.hubNamespaceUID = namespace.Name, namespace.UID
	if uid := namespace.Labels[v1alpha.LabelProjectNamespaceUID]; uid != "" {
		s.namespaceUID = types.UID(uid)
	}
}

// ownNamespaces returns the hub namespaces that may hold objects of the deployment, read past the cache: a finalizer
// depends on it. If the namespace in the project does not exist any more, it returns the namespaces whose labels prove
// that they are the project's.
func (s *scope) ownNamespaces(ctx context.Context) ([]corev1.Namespace, error) {
	var err error
	s.namespaceUID, err = s.origin.NamespaceUID(ctx, s.projectAPI)
	if wire.IsMissing(err, s.deployment.Namespace) {
		labelled, err := s.labelledNamespaces(ctx, s.APIReader)
		return slices.DeleteFunc(labelled, func(namespace corev1.Namespace) bool { return !s.proves(&namespace) }), err
	}
	if err != nil {
		return nil, err
	}
	own, name := corev1.Namespace{}, s.origin.HubNamespace(s.namespaceUID)
	err = s.APIReader.Get(ctx, client.ObjectKey{Name: name}, &own)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return nil, fmt.Errorf("get namespace %s of the hub: %w", name, err)
	case err == nil && s.origin.Owns(&own, s.namespaceUID):
		return []corev1.Namespace{own}, nil
	}
	return nil, nil
}

// labelledNamespaces returns the namespaces on the hub with the labels of the origin.
func (s *scope) labelledNamespaces(ctx context.Context, hub client.Reader) ([]corev1.Namespace, error) {
	var namespaces corev1.NamespaceList
	if err := hub.List(ctx, &namespaces, client.MatchingLabels(s.origin.Labels())); err != nil {
		return nil, fmt.Errorf("list the hub namespaces of namespace %s: %w", s.origin.Namespace, err)
	}
	return namespaces.Items, nil
}

// proves reports whether the labels of a namespace prove its name, or the UID of the namespace in the project does, if
// that is known.
func (s *scope) proves(labelled *corev1.Namespace) bool {
	return s.origin.Owns(labelled, "") || s.origin.Owns(labelled, s.namespaceUID)
}

// refuseNote reports an annotation that names another namespace than the deployment's, and returns whether it does. The
// add-on does not touch the namespace that it names.
func (s *scope) refuseNote() bool {
	note := s.deployment.Annotations[v1alpha.AnnotationHubNamespace]
	if note == "" || note == s.origin.HubNamespace(s.namespaceUID) {
		return false
	}
	s.warn("ForeignHubNamespace", "annotation %s names hub namespace %q, which does not belong to this namespace of the project; "+
		"the add-on does not touch it. Do not change the annotation", v1alpha.AnnotationHubNamespace, note)
	return true
}

// refuseNamespace reports a namespace that has the name of the hub namespace, and that the add-on has not created.
func (s *scope) refuseNamespace(ctx context.Context, namespace *corev1.Namespace) {
	log.FromContext(ctx).Info("A namespace that the add-on has not created has the name of a hub namespace; nothing is written there",
		"hubNamespace", namespace.Name, "labels", namespace.Labels)
	s.warn("HubNamespaceTaken", "namespace %s on the hub has the name of the hub namespace of this project's namespace, but not its labels; "+
		"the deployment waits until an operator has removed that namespace or, if the add-on created it, restored its labels", namespace.Name)
	s.blocked = true
}

func (s *scope) warn(reason, message string, args ...any) {
	s.engaged.Recorder(string(FieldManager)).Eventf(s.deployment, corev1.EventTypeWarning, reason, message, args...)
}
