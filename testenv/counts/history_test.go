// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// plane is the history of Workload web with a deployment in two cells.
type plane struct {
	*History
	revision int
	now      time.Time
}

func (p *plane) deployment(name string, desired int32, c v1alpha.ReplicaCounts) {
	p.revision++
	d := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: strconv.Itoa(p.revision)},
	}
	d.Spec.WorkloadRef.UID, d.Spec.ScaleSettings.MinReplicas = "web", desired
	d.Status.ReplicaCounts, d.Status.Indices = c, []v1alpha.CellIndices{{Cell: "a"}, {Cell: "b"}}
	p.Deployment(p.now, d, false)
}

func (p *plane) workload(c v1alpha.ReplicaCounts) {
	p.revision++
	w := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web", ResourceVersion: strconv.Itoa(p.revision)}}
	w.Status.ReplicaCounts, w.Status.Placements = c, []v1alpha.WorkloadPlacementStatus{{Name: "main", ReplicaCounts: c}}
	p.Workload(p.now, w)
}

func (p *plane) instance(cell, name string, ready metav1.ConditionStatus) {
	i := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha.LabelDeploymentName: "web-dfw"}}}
	i.Status.Conditions = []metav1.Condition{{Type: v1alpha.ConditionReady, Status: ready}}
	p.Instance(p.now, cell, i, false)
}

// overridden is an Instance with the template of the deployments, which an override policy has changed in the cell.
func (p *plane) overridden(cell, name string) {
	sent, _ := templates.Hash(&v1alpha.InstanceTemplateSpec{})
	i := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha.LabelDeploymentName: "web-dfw"}}}
	i.Spec.Controller = &v1alpha.InstanceController{TemplateHash: sent + "-changed"}
	i.Status.Conditions = []metav1.Condition{{Type: v1alpha.ConditionReady, Status: metav1.ConditionTrue}}
	p.Instance(p.now, cell, i, false)
}

func countsOf(existing, ready int32) v1alpha.ReplicaCounts {
	return v1alpha.ReplicaCounts{Replicas: existing, DesiredReplicas: existing, ReadyReplicas: ready}
}

// newPlane is a history in which one Instance is Ready in each of two cells, and the project shows it.
func newPlane() *plane {
	p := &plane{History: NewHistory(), now: time.Unix(1000, 0)}
	for _, cell := range []string{"a", "b"} {
		p.Cell(p.now, cell, nil)
	}
	p.deployment("web-dfw", 2, v1alpha.ReplicaCounts{})
	p.instance("a", "web-dfw-0", metav1.ConditionTrue)
	p.instance("b", "web-dfw-1", metav1.ConditionTrue)
	p.now = p.now.Add(time.Second)
	p.deployment("web-dfw", 2, countsOf(2, 2))
	p.workload(countsOf(2, 2))
	return p
}

func TestHistory(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		then func(*plane)
		want string
	}{
		"what happened": {then: func(p *plane) {
			p.instance("a", "web-dfw-0", metav1.ConditionFalse)
			p.deployment("web-dfw", 2, countsOf(2, 1))
			p.workload(countsOf(2, 1))
		}},
		"a report that is late": {then: func(p *plane) {
			p.instance("a", "web-dfw-0", metav1.ConditionFalse)
			p.deployment("web-dfw", 2, countsOf(2, 1))
			p.now = p.now.Add(20 * time.Second)
			p.deployment("web-dfw", 2, countsOf(2, 2))
		}},
		"an Instance that is Ready no more": {want: "readyReplicas is 2, and it was 1", then: func(p *plane) {
			p.instance("a", "web-dfw-0", metav1.ConditionFalse)
			p.deployment("web-dfw", 2, countsOf(2, 1))
			p.now = p.now.Add(time.Minute)
			p.deployment("web-dfw", 2, countsOf(2, 2))
		}},
		"an Instance that is counted twice": {want: "replicas is 3, and it was 2", then: func(p *plane) {
			p.deployment("web-dfw", 3, countsOf(3, 2))
		}},
		"more than are asked for": {want: "desiredReplicas is 3, and it was 2", then: func(p *plane) {
			p.deployment("web-dfw", 2, v1alpha.ReplicaCounts{Replicas: 2, DesiredReplicas: 3, ReadyReplicas: 2})
		}},
		"a cell that is not watched": {then: func(p *plane) {
			p.Blind(p.now, "b")
			p.deployment("web-dfw", 3, countsOf(3, 2))
		}},
		"a cell that Karmada does not watch yet": {then: func(p *plane) {
			p.Blind(p.now, "b")
			p.instance("b", "web-dfw-1", metav1.ConditionFalse)
			p.deployment("web-dfw", 2, countsOf(2, 1))
			p.now = p.now.Add(behind + reconnect/2)
			p.deployment("web-dfw", 2, countsOf(2, 2))
		}},
		"a cell that Karmada watches again": {want: "readyReplicas is 2, and it was 1", then: func(p *plane) {
			p.Blind(p.now, "b")
			p.instance("b", "web-dfw-1", metav1.ConditionFalse)
			p.deployment("web-dfw", 2, countsOf(2, 1))
			p.now = p.now.Add(behind + reconnect + time.Second)
			p.deployment("web-dfw", 2, countsOf(2, 2))
		}},
		"a Workload with more than its deployments": {want: "Workload web, revision 4: readyReplicas is 3", then: func(p *plane) {
			p.workload(countsOf(3, 3))
		}},
		"counts that contradict each other": {want: "readyReplicas 2 is more than replicas 1", then: func(p *plane) {
			p.deployment("web-dfw", 2, v1alpha.ReplicaCounts{Replicas: 1, ReadyReplicas: 2})
		}},
		"the newest template": {want: "updatedReplicas is 1, and it was 0", then: func(p *plane) {
			c := countsOf(2, 2)
			c.UpdatedReplicas = 1
			p.deployment("web-dfw", 2, c)
		}},
		"the newest template, as an override policy has changed it": {then: func(p *plane) {
			p.overridden("a", "web-dfw-0")
			c := countsOf(2, 2)
			c.UpdatedReplicas = 1
			p.deployment("web-dfw", 2, c)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlane()
			test.then(p)
			found := strings.Join(p.Impossible(), "\n")
			if (found == "") != (test.want == "") || !strings.Contains(found, test.want) {
				t.Errorf("found %q, want %q", found, test.want)
			}
		})
	}
}
