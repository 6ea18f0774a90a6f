// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// isCopy reports whether the deployment is the copy of a hub: it names the hub, and so does its namespace, which has
// the name of a hub namespace. On the hub only the add-on writes these. Other deployments start nothing, such as the
// original of a project that a policy of another product has brought here. Nothing is deleted either: a copy may have
// lost its labels for a moment.
func (s *scope) isCopy(ctx context.Context) (bool, error) {
	hub := s.deployment.Labels[v1alpha.LabelHub]
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if hub != "" && naming.IsHubNamespace(s.deployment.Namespace) {
		err := s.Client.Get(ctx, client.ObjectKey{Name: s.deployment.Namespace}, namespace)
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("get namespace %s: %w", s.deployment.Namespace, err)
		}
		if namespace.Labels[v1alpha.LabelHub] == hub {
			return true, nil
		}
	}
	log.FromContext(ctx).Info("The deployment is not proved to be a copy of the hub: it or its namespace lacks the label of the hub; "+
		"nothing is created or deleted",
		"label", v1alpha.LabelHub, "hub", hub)
	return false, nil
}
