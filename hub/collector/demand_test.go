// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/policies"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// demandFixture is a city with three cells, "a", "b" and "c", and deployment web of it. The test plays Karmada.
type demandFixture struct {
	*deploymentsFixture
	demand *Demand
	cells  map[string]*clusterv1alpha1.Cluster
	owns   bool
}

func newDemandFixture(t *testing.T) *demandFixture {
	t.Helper()
	f := &demandFixture{deploymentsFixture: newDeploymentsFixture(t), owns: true}
	city := f.copied.Spec.CityCode
	f.cells = map[string]*clusterv1alpha1.Cluster{"a": f.cell, "b": f.Cell(t, city), "c": f.Cell(t, city)}
	f.restart()
	t.Cleanup(func() {
		for _, cell := range f.cells {
			_ = f.Client.Delete(t.Context(), cell)
		}
	})
	return f
}

// restart plays a replica that starts.
func (f *demandFixture) restart() {
	f.demand = &Demand{Existence: ownsDemand{f}, Hub: f.Hub, APIReader: f.HubAPI, Clock: f.clock}
}

type ownsDemand struct{ *demandFixture }

func (o ownsDemand) Owns(key naming.ShardKey) bool { return o.owns && key == demandKey }

func (ownsDemand) Lookup(context.Context, string) (types.UID, bool, error) { return "", false, nil }

// onDemand annotates a cell, as an operator does.
func (f *demandFixture) onDemand(t *testing.T, cell, most string) {
	t.Helper()
	planes.Change(t, f.Planes, f.cells[cell], func(c *clusterv1alpha1.Cluster) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1alpha.AnnotationNodesOnDemand, most)
	})
}

// divide plays Karmada's scheduler, which has divided a deployment among cells and refuses what is missing.
func (f *demandFixture) divide(t *testing.T, replicas int32, shares map[string]int32) {
	t.Helper()
	city := policies.City{Code: f.copied.Spec.CityCode}
	for _, name := range slices.Sorted(maps.Keys(f.cells)) {
		city.Cells = append(city.Cells, f.cells[name].Name)
	}
	planes.Change(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) {
		b.Spec.Replicas, b.Spec.Clusters = replicas, nil
		b.Spec.Placement = &policies.CityPolicy(f.HubNamespace, city).Spec.Placement
		for _, name := range slices.Sorted(maps.Keys(shares)) {
			b.Spec.Clusters = append(b.Spec.Clusters, workv1alpha2.TargetCluster{Name: f.cells[name].Name, Replicas: shares[name]})
		}
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, cells.AnnotationAppliedPlacement, "{}")
	})
	f.refuse(t)
}

// shares returns the division of the deployment by the cells' short names.
func (f *demandFixture) shares(t *testing.T) map[string]int32 {
	t.Helper()
	shares := map[string]int32{}
	for _, target := range f.binding(t).Spec.Clusters {
		for name, cell := range f.cells {
			if cell.Name == target.Name {
				shares[name] = target.Replicas
			}
		}
	}
	return shares
}

func (f *demandFixture) look(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := f.demand.Reconcile(t.Context(), reconcile.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (f *demandFixture) want(t *testing.T, why string, want map[string]int32) {
	t.Helper()
	f.look(t)
	if got := f.shares(t); !maps.Equal(got, want) {
		t.Errorf("%s: the cells have %v, want %v", why, got, want)
	}
}

// TestNodesOnDemand: a cell whose nodes come on demand gets what Karmada finds no capacity for, within its bound, first the
// cell in which the fewest wait. Nothing moves.
func TestNodesOnDemand(t *testing.T) {
	type counts = map[string]int32
	for name, test := range map[string]struct {
		most             map[string]string
		replicas         int32
		shares, expected counts
	}{
		"no cell":                 {nil, 2, nil, counts{}},
		"one cell":                {map[string]string{"b": "5"}, 2, nil, counts{"b": 2}},
		"what runs stays":         {map[string]string{"b": "5"}, 4, counts{"a": 1, "c": 1}, counts{"a": 1, "b": 2, "c": 1}},
		"the bound":               {map[string]string{"b": "3"}, 5, nil, counts{"b": 3}},
		"the bound counts":        {map[string]string{"b": "3"}, 5, counts{"b": 2}, counts{"b": 3}},
		"no more than the bound":  {map[string]string{"b": "3"}, 9, counts{"b": 4}, counts{"b": 4}},
		"the fewest that wait":    {map[string]string{"a": "9", "b": "9"}, 4, counts{"a": 1, "b": 2}, counts{"a": 2, "b": 2}},
		"the next cell":           {map[string]string{"a": "2", "b": "9"}, 6, counts{"b": 1}, counts{"a": 2, "b": 4}},
		"nothing is missing":      {map[string]string{"b": "9"}, 2, counts{"a": 2}, counts{"a": 2}},
		"a value that is refused": {map[string]string{"a": "many", "b": "10000", "c": "-1"}, 2, nil, counts{}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newDemandFixture(t)
			for cell, most := range test.most {
				f.onDemand(t, cell, most)
			}
			f.divide(t, test.replicas, test.shares)
			f.want(t, "at once", test.expected)
			f.want(t, "later", test.expected)
			f.restart()
			f.want(t, "in the next replica", test.expected)
			changed := !maps.Equal(f.shares(t), test.shares) && len(test.expected) > 0
			if _, kept := f.binding(t).Annotations[cells.AnnotationAppliedPlacement]; kept == changed {
				t.Errorf("the scheduler tries again: %t", !kept)
			}
		})
	}
}

// TestNodesHaveCome: Instances that are Ready wait no longer, and others may.
func TestNodesHaveCome(t *testing.T) {
	f := newDemandFixture(t)
	f.onDemand(t, "b", "2")
	f.divide(t, 5, nil)
	if result := f.look(t); result.RequeueAfter != demandInterval {
		t.Errorf("it is reconciled again after %s", result.RequeueAfter)
	}
	f.want(t, "nodes have not come", map[string]int32{"b": 2})
	// Cell b reports two Ready Instances.
	f.Deliver(t, f.copied, map[string]*v1alpha.WorkloadDeploymentStatus{f.cells["b"].Name: &f.copied.Status})
	f.divide(t, 5, map[string]int32{"b": 2})
	f.want(t, "two nodes have come", map[string]int32{"b": 4})
}

// TestWhoGetsNothingOnDemand: a refusal for another reason, and a cell that takes no Instances.
func TestWhoGetsNothingOnDemand(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *demandFixture){
		"no cell fits": func(t *testing.T, f *demandFixture) {
			planes.ChangeStatus(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) {
				b.Status.Conditions[0].Reason = workv1alpha2.BindingReasonNoClusterFit
			})
		},
		"quota": func(t *testing.T, f *demandFixture) {
			planes.ChangeStatus(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) {
				b.Status.Conditions[0].Reason = workv1alpha2.BindingReasonQuotaExceeded
			})
		},
		"another replica does it": func(_ *testing.T, f *demandFixture) { f.owns = false },
		"the cell is not Ready": func(t *testing.T, f *demandFixture) {
			f.SetReady(t, f.cells["b"], metav1.ConditionFalse, metav1.Now())
		},
		"the cell is cordoned": func(t *testing.T, f *demandFixture) {
			planes.ChangeStatus(t, f.Planes, f.cells["b"], func(c *clusterv1alpha1.Cluster) {
				meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
					Type: v1alpha.ConditionComputeNodesSchedulable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonNodesCordoned,
				})
			})
		},
		"the cell has a taint": func(t *testing.T, f *demandFixture) {
			planes.Change(t, f.Planes, f.cells["b"], func(c *clusterv1alpha1.Cluster) {
				c.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
			})
		},
		"Karmada evicts from the cell": func(t *testing.T, f *demandFixture) {
			planes.Change(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) {
				b.Spec.GracefulEvictionTasks = []workv1alpha2.GracefulEvictionTask{{
					FromCluster: f.cells["b"].Name, Reason: "a", Producer: "b",
				}}
			})
		},
		"the policy excludes the cell": func(t *testing.T, f *demandFixture) {
			planes.Change(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) {
				b.Spec.Placement.ClusterAffinities[0].ExcludeClusters = []string{f.cells["b"].Name}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newDemandFixture(t)
			f.onDemand(t, "b", "5")
			f.divide(t, 2, nil)
			change(t, f)
			f.want(t, name, map[string]int32{})
		})
	}
}

// TestOnDemandWhileKarmadaSchedules: what Karmada has written meanwhile stays.
func TestOnDemandWhileKarmadaSchedules(t *testing.T) {
	f := newDemandFixture(t)
	f.onDemand(t, "b", "5")
	f.divide(t, 2, nil)
	f.Hub.Once("patch", "ResourceBinding", func() error {
		planes.Change(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) {
			b.Spec.Clusters = []workv1alpha2.TargetCluster{{Name: f.cells["a"].Name, Replicas: 2}}
		})
		return nil
	})
	f.want(t, "Karmada was faster", map[string]int32{"a": 2})
}

// TestOnDemandWithAnOldCache: what was given counts before the cache has it, for each deployment.
func TestOnDemandWithAnOldCache(t *testing.T) {
	f := newDemandFixture(t)
	f.onDemand(t, "b", "3")
	f.divide(t, 2, nil)
	f.want(t, "at once", map[string]int32{"b": 2})
	key := f.binding(t)
	rooms := []room{{cell: f.cells["b"].Name, most: 3}}
	stale := key.DeepCopy()
	stale.Spec.Clusters = nil
	if err := f.demand.count(t.Context(), []*workv1alpha2.ResourceBinding{stale}, rooms); err != nil || rooms[0].waiting != 2 {
		t.Errorf("%d wait, %v", rooms[0].waiting, err)
	}
	f.pass(2 * cacheLag)
	rooms[0].waiting = 0
	if err := f.demand.count(t.Context(), []*workv1alpha2.ResourceBinding{stale}, rooms); err != nil || rooms[0].waiting != 0 {
		t.Errorf("much later %d wait, %v", rooms[0].waiting, err)
	}
}

// TestOnDemandWithAFault: a look whose write fails is repeated, and gives nothing twice.
func TestOnDemandWithAFault(t *testing.T) {
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newDemandFixture(t)
		f.onDemand(t, "b", "3")
		f.divide(t, 2, nil)
		f.Hub.Through(faults)
		for range 3 {
			faults.Reconcile(t, func() error {
				_, err := f.demand.Reconcile(t.Context(), reconcile.Request{})
				return err
			})
		}
		if got := fmt.Sprint(f.shares(t)); got != "map[b:2]" {
			t.Errorf("the cells have %s", got)
		}
	})
}
