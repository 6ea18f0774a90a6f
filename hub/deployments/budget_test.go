// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestBudgetOfTwoReplicas: of two plans from the same version of the Workload the second one fails, and no floor of it
// is written.
func TestBudgetOfTwoReplicas(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	planes.Change(t, f.Planes, f.workload(t, "main DFW ORD"), func(w *v1alpha.Workload) {
		w.Spec.Disruption = &v1alpha.WorkloadDisruption{MinAvailable: new(intstr.FromInt32(3))}
	})
	f.cell().settle(t)
	// The next plan is another one.
	planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Disruption.MinAvailable = new(intstr.FromInt32(4)) })
	f.Project.Once("apply status", v1alpha.KindWorkload, func() error {
		planes.ChangeStatus(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) { w.Status.Disruption.Sequence++ })
		return nil
	})
	f.Project.Calls()
	if err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("the second plan is stored: %v", err)
	}
	for _, call := range f.Project.Writes() {
		if call.Kind == v1alpha.KindWorkloadDeployment {
			t.Errorf("it writes %+v", call)
		}
	}
}
