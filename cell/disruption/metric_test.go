// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package disruption

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// cached are the budgets of a cache.
type cached []policyv1.PodDisruptionBudget

func (cached) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return nil
}

func (c cached) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if budgets, ok := list.(*policyv1.PodDisruptionBudgetList); ok {
		budgets.Items = c
	}
	return nil
}

func TestCountsOfBudgets(t *testing.T) {
	t.Parallel()
	budget := func(floor, healthy, allowed int32, observed int64, sequence string) policyv1.PodDisruptionBudget {
		return policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Generation: 2, Annotations: map[string]string{v1alpha.AnnotationFloorSequence: sequence}},
			Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(floor))},
			Status:     policyv1.PodDisruptionBudgetStatus{CurrentHealthy: healthy, DisruptionsAllowed: allowed, ObservedGeneration: observed},
		}
	}
	// The second one has changed, the third allows nothing, and the last one is another's.
	budgets := cached{budget(2, 3, 1, 2, "5"), budget(3, 4, 1, 1, "6"), budget(240000, 2, 0, 2, "7"), budget(1, 9, 8, 2, "")}
	want := `
# HELP karmada_compute_cell_budget_instances Instances in the cell that have a disruption budget: available, of which disruptions leave floor, and may take disruptable now. A deployment that makes no voluntary disruption has a floor of all its available Instances. karmada_compute_cell_evictions_total counts the agent's own evictions that a budget held.
# TYPE karmada_compute_cell_budget_instances gauge
karmada_compute_cell_budget_instances{count="available"} 9
karmada_compute_cell_budget_instances{count="disruptable"} 1
karmada_compute_cell_budget_instances{count="floor"} 7
`
	if err := testutil.CollectAndCompare(Counts{budgets}, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
