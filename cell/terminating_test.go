// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/cell/autoscaler"
	"github.com/karmada-compute/karmada-compute/cell/isolation"
)

// TestTerminatingNamespace: what cannot be created, because the namespace is being deleted, is no error of any controller.
func TestTerminatingNamespace(t *testing.T) {
	f := newFixture(t)
	f.deployment(3, withFloor(3, 2, 1), serving(1, 80), autoscaled(5))
	f.remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}})
	f.sync()
	f.reconcile(f.deployments(), "web")
	f.reconcile(f.disruption(), "web")
	f.reconcile(f.services(), "web")
	f.reconcile(&isolation.Reconciler{Client: f.cached}, "web")
	f.reconcile(&autoscaler.Reconciler{Client: f.cached}, "web")
	f.reconcile(f.rollup(), "web")
}
