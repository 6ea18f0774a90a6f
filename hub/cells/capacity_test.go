// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells_test

import (
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

func TestHasMoreCapacity(t *testing.T) {
	cell := func(change func(*clusterv1alpha1.Cluster)) *clusterv1alpha1.Cluster {
		c := &clusterv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: "dfw", Labels: map[string]string{v1alpha.LabelTopologyCity: "dfw"}},
			Status: clusterv1alpha1.ClusterStatus{
				Conditions: []metav1.Condition{{Type: clusterv1alpha1.ClusterConditionReady, Status: metav1.ConditionTrue}},
				ResourceSummary: &clusterv1alpha1.ResourceSummary{
					Allocatable: corev1.ResourceList{"cpu": resource.MustParse("8"), "pods": resource.MustParse("110")},
					Allocated:   corev1.ResourceList{"cpu": resource.MustParse("6"), "pods": resource.MustParse("10")},
					Allocating:  corev1.ResourceList{"cpu": resource.MustParse("1")},
				},
			},
		}
		change(c)
		return c
	}
	same := func(*clusterv1alpha1.Cluster) {}
	lost := func(c *clusterv1alpha1.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse }
	for name, test := range map[string]struct {
		before, after func(*clusterv1alpha1.Cluster)
		want          bool
	}{
		"nothing": {same, same, false},
		"a node joins": {same, func(c *clusterv1alpha1.Cluster) {
			c.Status.ResourceSummary.Allocatable["cpu"] = resource.MustParse("16")
		}, true},
		"a Pod ends": {same, func(c *clusterv1alpha1.Cluster) {
			c.Status.ResourceSummary.Allocated["cpu"] = resource.MustParse("5500m")
		}, true},
		"a Pod comes": {same, func(c *clusterv1alpha1.Cluster) { c.Status.ResourceSummary.Allocated["cpu"] = resource.MustParse("7") }, false},
		"a Pod gets a node": {same, func(c *clusterv1alpha1.Cluster) {
			c.Status.ResourceSummary.Allocated["cpu"], c.Status.ResourceSummary.Allocating = resource.MustParse("7"), nil
		}, false},
		"a new resource": {same, func(c *clusterv1alpha1.Cluster) {
			c.Status.ResourceSummary.Allocatable["nvidia.com/gpu"] = resource.MustParse("1")
		}, true},
		"the first report":   {func(c *clusterv1alpha1.Cluster) { c.Status.ResourceSummary = nil }, same, true},
		"no report any more": {same, func(c *clusterv1alpha1.Cluster) { c.Status.ResourceSummary = nil }, false},
		"it returns":         {lost, same, true},
		"it is lost":         {same, lost, false},
		"it comes to a city": {func(c *clusterv1alpha1.Cluster) { c.Labels = nil }, same, true},
	} {
		if got := cells.HasMoreCapacity(cell(test.before), cell(test.after)); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestRoom: the cells of a city that take Instances count together, each with the resource that it has least of.
func TestRoom(t *testing.T) {
	cell := func(name string, change func(*clusterv1alpha1.Cluster)) cells.Cell {
		c := &clusterv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha.LabelTopologyCity: "dfw"}},
			Status: clusterv1alpha1.ClusterStatus{
				Conditions: []metav1.Condition{{Type: clusterv1alpha1.ClusterConditionReady, Status: metav1.ConditionTrue}},
				ResourceSummary: &clusterv1alpha1.ResourceSummary{
					Allocatable: corev1.ResourceList{
						"cpu": resource.MustParse("8"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110"),
					},
					Allocated: corev1.ResourceList{"cpu": resource.MustParse("6"), "pods": resource.MustParse("10")},
				},
			},
		}
		change(c)
		return cells.NewCell(c)
	}
	same := func(*clusterv1alpha1.Cluster) {}
	summary := func(change func(*clusterv1alpha1.ResourceSummary)) func(*clusterv1alpha1.Cluster) {
		return func(c *clusterv1alpha1.Cluster) { change(c.Status.ResourceSummary) }
	}
	half := corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("1Gi")}
	for name, test := range map[string]struct {
		cells cells.Cells
		size  corev1.ResourceList
		want  int32
		known bool
	}{
		"the CPUs of one":       {cells.Cells{cell("a", same)}, half, 4, true},
		"of two":                {cells.Cells{cell("a", same), cell("b", same)}, half, 8, true},
		"no size: Pods":         {cells.Cells{cell("a", same)}, nil, 100, true},
		"a resource of no node": {cells.Cells{cell("a", same)}, corev1.ResourceList{"gpu": resource.MustParse("1")}, 0, true},
		"more is taken than exists": {cells.Cells{cell("a", summary(func(s *clusterv1alpha1.ResourceSummary) {
			s.Allocated["cpu"] = resource.MustParse("9")
		}))}, half, 0, true},
		"no Pods are reported": {cells.Cells{cell("a", summary(func(s *clusterv1alpha1.ResourceSummary) {
			delete(s.Allocatable, "pods")
			delete(s.Allocated, "pods")
		}))}, half, 4, true},
		"cordoned or lost": {cells.Cells{
			cell("a", func(c *clusterv1alpha1.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse }),
			cell("b", func(c *clusterv1alpha1.Cluster) {
				c.Spec.Taints = []corev1.Taint{{Effect: corev1.TaintEffectNoSchedule}}
			}),
		}, half, 0, true},
		"nodes on demand": {cells.Cells{cell("a", func(c *clusterv1alpha1.Cluster) {
			c.Annotations = map[string]string{v1alpha.AnnotationNodesOnDemand: "20"}
		})}, half, 20, true},
		"no report": {cells.Cells{cell("a", same), cell("b", func(c *clusterv1alpha1.Cluster) {
			c.Status.ResourceSummary = nil
		})}, half, 0, false},
		"beyond numbers": {cells.Cells{cell("a", summary(func(s *clusterv1alpha1.ResourceSummary) {
			s.Allocatable["cpu"], s.Allocatable["memory"] = resource.MustParse("9E"), resource.MustParse("9E")
		}))}, half, 100, true},
	} {
		if got, known := test.cells.Room("DFW", test.size); got != test.want || known != test.known {
			t.Errorf("%s: %d, %t, want %d, %t", name, got, known, test.want, test.known)
		}
	}
}
