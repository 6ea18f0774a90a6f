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
