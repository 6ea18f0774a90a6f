// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestTheLastCellIsGone: its Instances are no longer shown, although the hub's copy still has its report.
func TestTheLastCellIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue), instance("web-1", f.hash, metav1.ConditionTrue))
	f.mustReconcile(t)
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{} })
	f.mustReconcile(t)
	shown := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web-0"}}
	if !planes.Exists(t, f.Planes, shown) {
		t.Fatal("an Instance of a cell that is there is not shown")
	}
	var clusters clusterv1alpha1.ClusterList
	if err := f.Client.List(t.Context(), &clusters, client.MatchingLabels{v1alpha.LabelTopologyCity: naming.CityLabel(f.city)}); err != nil {
		t.Fatal(err)
	}
	for i := range clusters.Items {
		planes.Change(t, f.Planes, &clusters.Items[i], func(c *clusterv1alpha1.Cluster) {
			c.Annotations = map[string]string{
				v1alpha.AnnotationForget: "true",
			}
		})
	}
	f.mustReconcile(t)
	if planes.Exists(t, f.Planes, shown) {
		t.Error("an Instance of a cell that is gone for good is shown")
	}
	status := planes.Get(t, f.Planes, f.Namespace.Name, "web", &v1alpha.WorkloadDeployment{}).Status
	available := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionAvailable)
	if status.ReadyReplicas != 0 || available == nil || available.Reason != v1alpha.ReasonNoMatchingLocation {
		t.Errorf("the status is %+v", status)
	}
}
