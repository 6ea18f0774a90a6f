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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestStandingsOfAConsumer: each city of a Workload has the standing that its deployment shows.
func TestStandingsOfAConsumer(t *testing.T) {
	now := time.Unix(10_000, 0)
	began := condition(v1alpha.ConditionReplicasReady, "True", v1alpha.ReasonAllReplicasReady, "")
	rolling := workload(2, 2)
	rolling.Status.Rollout = &v1alpha.WorkloadRolloutStatus{Phase: v1alpha.RolloutProgressing, City: "DFW"}
	for name, test := range map[string]struct {
		workload   *v1alpha.Workload
		conditions []metav1.Condition
		ready      int32
		want       CityStanding
	}{
		"well":             {conditions: []metav1.Condition{began}, ready: 2, want: CityStanding{Standing: StandingWell}},
		"an Instance less": {ready: 1, want: CityStanding{Standing: StandingRolling, Rolling: 1}},
		"the rollout is in the city": {
			workload: rolling, conditions: []metav1.Condition{began}, ready: 2, want: CityStanding{Standing: StandingRolling, Rolling: 1},
		},
		"broken": {
			conditions: []metav1.Condition{condition(v1alpha.ConditionReplicasReady, "False", v1alpha.ReasonImageUnavailable, "")},
			want:       CityStanding{Standing: StandingBroken, Broken: 1},
		},
		"no cell": {
			conditions: []metav1.Condition{condition(v1alpha.ConditionAvailable, "False", v1alpha.ReasonNoMatchingLocation, "")},
			want:       CityStanding{Standing: StandingNoCell, Broken: 1},
		},
		"the cell is not reached": {
			conditions: []metav1.Condition{condition(v1alpha.ConditionStatusCurrent, "False", v1alpha.ReasonCellNotReady, "")},
			want:       CityStanding{Standing: StandingSilent, Broken: 1},
		},
		"no agent, while the last report says Ready": {
			conditions: []metav1.Condition{began, condition(v1alpha.ConditionStatusCurrent, "False", v1alpha.ReasonAgentNotReady, "")}, ready: 2,
			want: CityStanding{Standing: StandingSilent, Broken: 1},
		},
		"no new Instances": {
			conditions: []metav1.Condition{began, condition(v1alpha.ConditionScheduled, "False", v1alpha.ReasonCellsTainted, "")}, ready: 2,
			want: CityStanding{Standing: StandingDrained, Broken: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.workload == nil {
				test.workload = workload(2, 2)
			}
			d := deployment("DFW", test.ready, 2, test.conditions...)
			d.Spec.WorkloadRef.UID = test.workload.UID
			d.Namespace = test.workload.Namespace
			test.want.Name = "DFW"
			got := Standings([]Overview{OverviewOf(test.workload, []v1alpha.WorkloadDeployment{d}, now)}, 1)
			if !slices.Equal(got, []CityStanding{test.want}) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestStandingsAreBounded: a city has the most serious standing of all Workloads, and of many cities the most serious
// ones are shown, by name.
func TestStandingsAreBounded(t *testing.T) {
	var all []Overview
	for i := range 300 {
		city := CityOverview{City: fmt.Sprintf("C%03d", i), Standing: StandingWell}
		all = append(all, Overview{Deployments: []CityOverview{city}})
	}
	all = append(all,
		Overview{Deployments: []CityOverview{{City: "C299", Standing: StandingBroken}, {City: "C299", Standing: StandingRolling}}},
		Overview{Deployments: []CityOverview{{City: "C299", Standing: StandingRolling}, {City: "C007", Standing: StandingSilent}}})
	got := Standings(all, 3)
	if want := []CityStanding{
		{Name: "C000", Standing: StandingWell},
		{Name: "C007", Standing: StandingSilent, Broken: 1},
		{Name: "C299", Standing: StandingBroken, Broken: 1, Rolling: 1},
	}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestStandingsOfAHub: each city of a hub has the standing of its cells; one cell of two is a fault of the city.
func TestStandingsOfAHub(t *testing.T) {
	now := time.Unix(10_000, 0)
	holder := "a"
	lease := coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha.LeaseReplicaPrefix + holder},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, RenewTime: &metav1.MicroTime{Time: now}, LeaseDurationSeconds: new(int32(15)),
		},
	}
	lost := func(c *clusterv1alpha1.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse }
	cordoned := func(c *clusterv1alpha1.Cluster) {
		nodes := condition(v1alpha.ConditionComputeNodesSchedulable, "False", v1alpha.ReasonNodesCordoned, "")
		c.Status.Conditions = append(c.Status.Conditions, nodes)
	}
	tainted := func(c *clusterv1alpha1.Cluster) {
		c.Spec.Taints = []corev1.Taint{{Key: "node.kubernetes.io/unschedulable", Effect: corev1.TaintEffectNoSchedule}}
	}
	same := func(*clusterv1alpha1.Cluster) {}
	type changes = []func(*clusterv1alpha1.Cluster)
	for name, test := range map[string]struct {
		cells   changes
		ready   int32
		noLease bool
		want    Standing
	}{
		"well":                    {cells: changes{same, same}, ready: 2, want: StandingWell},
		"Instances start":         {cells: changes{same}, ready: 1, want: StandingRolling},
		"no cell":                 {want: StandingNoCell},
		"both are lost":           {cells: changes{lost, lost}, ready: 2, want: StandingSilent},
		"one is lost":             {cells: changes{lost, same}, ready: 2, want: StandingBroken},
		"both are drained":        {cells: changes{cordoned, tainted}, ready: 2, want: StandingDrained},
		"one is drained":          {cells: changes{same, tainted}, ready: 2, want: StandingBroken},
		"one lost, one drained":   {cells: changes{lost, tainted}, ready: 2, want: StandingSilent},
		"no replica hears of any": {cells: changes{same}, ready: 2, noLease: true, want: StandingSilent},
	} {
		t.Run(name, func(t *testing.T) {
			o := &HubObjects{Leases: []coordinationv1.Lease{lease}, Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", test.ready, 2)}}
			if test.noLease {
				o.Leases = nil
			}
			o.Deployments[0].Spec.ScaleSettings.MinReplicas = 2
			for i, change := range test.cells {
				cell := clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("dfw-", i), Labels: map[string]string{
					v1alpha.LabelTopologyCity: "dfw",
				}}}
				cell.Status.Conditions = []metav1.Condition{condition(clusterv1alpha1.ClusterConditionReady, "True", "ClusterReady", "")}
				change(&cell)
				o.Clusters = append(o.Clusters, cell)
			}
			if f := Summarize(o, now); len(f.Cities) != 1 || f.Cities[0].Standing != test.want {
				t.Errorf("got %+v, want %s", f.Cities, test.want)
			}
		})
	}
}
