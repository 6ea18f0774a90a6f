// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// TestFaultsOfAHub: an operator sees each fault of the hub with its action. A hub without one is well.
func TestFaultsOfAHub(t *testing.T) {
	now := time.Unix(10_000, 0)
	lease := func(name string, age time.Duration) coordinationv1.Lease {
		return coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha.LeaseReplicaPrefix + name},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &name, RenewTime: &metav1.MicroTime{Time: now.Add(-age)}, LeaseDurationSeconds: new(int32(15)),
			},
		}
	}
	cell := clusterv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "dfw-1", Labels: map[string]string{v1alpha.LabelTopologyCity: "dfw"}},
		Status: clusterv1alpha1.ClusterStatus{Conditions: []metav1.Condition{
			{Type: clusterv1alpha1.ClusterConditionReady, Status: metav1.ConditionTrue, Reason: "ClusterReady"},
			{Type: v1alpha.ConditionComputeNodesSchedulable, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonNodesSchedulable},
		}},
	}
	deployment := v1alpha.WorkloadDeployment{Spec: v1alpha.WorkloadDeploymentSpec{
		CityCode: "DFW", ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 2},
	}}
	for name, test := range map[string]struct {
		change func(*HubObjects)
		want   []string
	}{
		"all is well": {change: func(*HubObjects) {}},
		"no replica": {
			change: func(o *HubObjects) { o.Leases = nil }, want: []string{"replicas: NoReplica"},
		},
		"no replica in time": {
			change: func(o *HubObjects) { o.Leases = []coordinationv1.Lease{lease("a", time.Minute)} }, want: []string{"replicas: NoReplica"},
		},
		"a late Lease": {
			change: func(o *HubObjects) { o.Leases = append(o.Leases, lease("b", time.Minute)) }, want: []string{"b: ReplicaNotRunning"},
		},
		"all nodes of a cell are cordoned": {
			change: func(o *HubObjects) {
				nodes := &o.Clusters[0].Status.Conditions[1]
				nodes.Status, nodes.Reason = metav1.ConditionFalse, v1alpha.ReasonNodesCordoned
			},
			want: []string{"dfw-1: NodesCordoned"},
		},
		"a city without a cell": {
			change: func(o *HubObjects) { o.Clusters[0].Labels[v1alpha.LabelTopologyCity] = "ord" }, want: []string{"DFW: NoMatchingLocation"},
		},
		"a city without a cell that nothing wants": {
			change: func(o *HubObjects) {
				o.Clusters[0].Labels[v1alpha.LabelTopologyCity], o.Deployments[0].Spec.ScaleSettings.MinReplicas = "ord", 0
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := &HubObjects{
				Leases:   []coordinationv1.Lease{lease("a", time.Second)},
				Clusters: []clusterv1alpha1.Cluster{*cell.DeepCopy()}, Deployments: []v1alpha.WorkloadDeployment{*deployment.DeepCopy()},
			}
			test.change(o)
			f := Summarize(o, now)
			var got []string
			for _, fault := range f.Faults {
				got = append(got, fmt.Sprintf("%s: %s", fault.Subject, fault.Reason))
				if fault.Actor != reasons.ActorOperator || fault.Do == "" {
					t.Errorf("nobody must act: %+v", fault)
				}
			}
			if !slices.Equal(got, test.want) || f.Well() != (len(test.want) == 0) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
