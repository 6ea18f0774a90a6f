// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"slices"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func newCluster(city string, ready metav1.ConditionStatus) *clusterv1alpha1.Cluster {
	cluster := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Name: "a", Labels: map[string]string{v1alpha.LabelTopologyCity: city}, CreationTimestamp: metav1.Unix(1000, 0),
	}}
	if ready != "" {
		cluster.Status.Conditions = []metav1.Condition{{
			Type: clusterv1alpha1.ClusterConditionReady, Status: ready, LastTransitionTime: metav1.Unix(2000, 0),
		}}
	}
	return cluster
}

func forgotten(value string) *clusterv1alpha1.Cluster {
	cluster := newCluster("dfw", metav1.ConditionFalse)
	cluster.Annotations = map[string]string{v1alpha.AnnotationForget: value}
	return cluster
}

func cordonedCluster(schedulable metav1.ConditionStatus) *clusterv1alpha1.Cluster {
	cluster := newCluster("dfw", metav1.ConditionTrue)
	cluster.Status.Conditions = append(cluster.Status.Conditions,
		metav1.Condition{Type: v1alpha.ConditionComputeNodesSchedulable, Status: schedulable})
	return cluster
}

func TestNewCell(t *testing.T) {
	tests := map[string]struct {
		cluster *clusterv1alpha1.Cluster
		want    Cell
	}{
		"ready":             {newCluster("DFW", metav1.ConditionTrue), Cell{Name: "a", City: "dfw", Ready: true, Since: time.Unix(2000, 0)}},
		"lost":              {newCluster("dfw", metav1.ConditionFalse), Cell{Name: "a", City: "dfw", Since: time.Unix(2000, 0)}},
		"silent":            {newCluster("dfw", metav1.ConditionUnknown), Cell{Name: "a", City: "dfw", Since: time.Unix(2000, 0)}},
		"before its report": {newCluster("dfw", ""), Cell{Name: "a", City: "dfw", Since: time.Unix(1000, 0)}},
		"without a city":    {newCluster("", metav1.ConditionTrue), Cell{Name: "a", Ready: true, Since: time.Unix(2000, 0)}},
		"forgotten":         {forgotten("true"), Cell{Name: "a", City: "dfw", Since: time.Unix(2000, 0), Gone: true}},
		"cordoned": {
			cordonedCluster(metav1.ConditionFalse), Cell{Name: "a", City: "dfw", Ready: true, Since: time.Unix(2000, 0), Cordoned: true},
		},
		"not cordoned":  {cordonedCluster(metav1.ConditionTrue), Cell{Name: "a", City: "dfw", Ready: true, Since: time.Unix(2000, 0)}},
		"not forgotten": {forgotten("false"), Cell{Name: "a", City: "dfw", Since: time.Unix(2000, 0)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := NewCell(test.cluster); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	cells := Cells{
		{Name: "a", City: "dfw", Ready: true},
		{Name: "b", City: "ord"},
		{Name: "c", City: "dfw"},
		{Name: "d"},
		{Name: "e", City: "dfw", Ready: true, Gone: true},
	}
	for city, want := range map[string][]string{"DFW": {"a", "c"}, "ord": {"b"}, "LHR": nil, "": nil} {
		var got []string
		for _, cell := range cells.Of(city) {
			got = append(got, cell.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", city, got, want)
		}
	}
	if gone := cells.GoneOf("DFW"); len(gone) != 1 || gone[0].Name != "e" || cells.Exists("e") || !cells.Exists("b") ||
		cells.Exists("nobody") {
		t.Errorf("gone are %v", gone)
	}
	if !cells.AnyReady() || cells.Of("ord").AnyReady() {
		t.Error("a city is ready when one of its cells is")
	}
	if !cells.Ready("a") || cells.Ready("c") || cells.Ready("nobody") {
		t.Error("a cell is ready when Karmada says so of a Cluster of this name")
	}
}

func TestAgent(t *testing.T) {
	for reason, want := range map[string]bool{
		v1alpha.ReasonAgentReady: false, v1alpha.ReasonAgentOutdated: false, v1alpha.ReasonAgentMissing: true, v1alpha.ReasonAgentNotReady: true,
	} {
		cluster, other := newCluster("dfw", metav1.ConditionTrue), newCluster("dfw", metav1.ConditionTrue)
		cluster.Status.Conditions = append(cluster.Status.Conditions, metav1.Condition{
			Type: v1alpha.ConditionComputeAgentReady, Reason: reason, Message: "why", LastTransitionTime: metav1.Unix(3000, 0),
		})
		cell, found := Cells{{Name: "b"}, NewCell(cluster)}.Find("a")
		if agent := cell.Agent; !found || agent.Down != want || want && agent.Message != "why" {
			t.Errorf("%s: %t, %+v", reason, found, cell)
		}
		if got := HealthChanged().Update(event.UpdateEvent{ObjectOld: other, ObjectNew: cluster}); got != want {
			t.Errorf("%s is a change: %t", reason, got)
		}
	}
	if _, found := (Cells{{Name: "b"}}).Find("a"); found {
		t.Error("a cell that does not exist is found")
	}
	if !Changed().Update(event.UpdateEvent{
		ObjectOld: newCluster("dfw", metav1.ConditionTrue), ObjectNew: cordonedCluster(metav1.ConditionFalse),
	}) {
		t.Error("a cordon of all nodes is no change")
	}
	lost := newCluster("dfw", metav1.ConditionFalse)
	if !HealthChanged().Update(event.UpdateEvent{ObjectOld: newCluster("dfw", metav1.ConditionTrue), ObjectNew: lost}) {
		t.Error("a cell that is lost is no change")
	}
}

func TestChanged(t *testing.T) {
	now := metav1.Now()
	tests := map[string]struct {
		change func(*clusterv1alpha1.Cluster)
		want   bool
	}{
		"nothing":              {func(*clusterv1alpha1.Cluster) {}, false},
		"readiness":            {func(c *clusterv1alpha1.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse }, true},
		"what else it reports": {func(c *clusterv1alpha1.Cluster) { c.Status.KubernetesVersion = "v1" }, false},
		"city":                 {func(c *clusterv1alpha1.Cluster) { c.Labels = nil }, true},
		"deletion":             {func(c *clusterv1alpha1.Cluster) { c.DeletionTimestamp = &now }, true},
		"forgotten":            {func(c *clusterv1alpha1.Cluster) { c.Annotations = map[string]string{v1alpha.AnnotationForget: "true"} }, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before, after := newCluster("dfw", metav1.ConditionTrue), newCluster("dfw", metav1.ConditionTrue)
			test.change(after)
			if got := Changed().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
