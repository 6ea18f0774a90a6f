// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// UnprovenRequeue is the time until a deployment is checked again that is not proved to be a copy of the hub.
const UnprovenRequeue = 15 * time.Second

// IsCopy reports whether a deployment is proved to be the copy of a hub: it names the hub, and so does its namespace,
// which has the name of a hub namespace. On the hub only the add-on writes these. For any other deployment, such as the
// original of a project that a policy of another product has brought here, a controller creates nothing: its namespace
// may be of others. It deletes nothing either: a copy may have lost its labels for a moment.
func IsCopy(ctx context.Context, cell client.Reader, deployment *v1alpha.WorkloadDeployment) (bool, error) {
	hub := deployment.Labels[v1alpha.LabelHub]
	if hub == "" || !naming.IsHubNamespace(deployment.Namespace) {
		return false, nil
	}
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := cell.Get(ctx, client.ObjectKey{Name: deployment.Namespace}, namespace); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("get namespace %s: %w", deployment.Namespace, err)
	}
	return namespace.Labels[v1alpha.LabelHub] == hub, nil
}
