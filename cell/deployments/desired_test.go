// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"cmp"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func deployment() *v1alpha.WorkloadDeployment {
	return &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-main-dfw", Namespace: "ns-1", UID: "cell-uid",
			Labels: map[string]string{v1alpha.LabelDeploymentUID: "project-uid"},
		},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef: v1alpha.WorkloadReference{Name: "web", UID: "workload-uid"}, PlacementName: "main", CityCode: "DFW",
			Template: v1alpha.InstanceTemplateSpec{ObjectMeta: metav1.ObjectMeta{
				Name: "ignored", Labels: map[string]string{"app": "web", v1alpha.LabelCityCode: "forged"}, Annotations: map[string]string{"a": "b"},
			}},
			ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 2},
		},
	}
}

func secretVolume(name string, optional *bool) v1alpha.InstanceVolume {
	return v1alpha.InstanceVolume{InstanceVolumeSource: v1alpha.InstanceVolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: name, Optional: optional},
	}}
}

func TestDesiredInstance(t *testing.T) {
	tests := map[string]struct {
		change    func(*v1alpha.WorkloadDeployment)
		wantUID   string
		wantGates []v1alpha.SchedulingGate
	}{
		"no quota, no gate": {func(*v1alpha.WorkloadDeployment) {}, "project-uid", nil},
		"a quota puts the gate, even where it is granted already": {
			func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{Granted: naming.Ranges([]int{1})}
			},
			"project-uid",
			[]v1alpha.SchedulingGate{{Name: v1alpha.GateQuota}},
		},
		"data that is needed puts a gate, behind that of quota": {
			func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{}
				d.Spec.Template.Spec.Volumes = []v1alpha.InstanceVolume{secretVolume("database", nil)}
			},
			"project-uid",
			[]v1alpha.SchedulingGate{{Name: v1alpha.GateQuota}, {Name: v1alpha.GateReferencedData}},
		},
		"data that is optional puts none": {
			func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Template.Spec.Volumes = []v1alpha.InstanceVolume{secretVolume("database", new(true)), secretVolume("", nil)}
			},
			"project-uid", nil,
		},
		"a deployment of no project is known by its own UID": {func(d *v1alpha.WorkloadDeployment) { d.Labels = nil }, "cell-uid", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := deployment()
			d.Spec.InstanceTypeResources = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
			test.change(d)
			got := desiredInstance(d, 1, "hash")
			wantLabels := map[string]string{
				"app": "web", v1alpha.LabelInstanceIndex: "1", v1alpha.LabelWorkloadUID: "workload-uid", v1alpha.LabelWorkloadName: "web",
				v1alpha.LabelDeploymentUID: test.wantUID, v1alpha.LabelDeploymentName: "web-main-dfw",
				v1alpha.LabelCityCode: "DFW", v1alpha.LabelPlacementName: "main",
			}
			if got.Name != "web-main-dfw-1" || got.Namespace != "ns-1" || !equality.Semantic.DeepEqual(got.Labels, wantLabels) ||
				got.Annotations["a"] != "b" {
				t.Errorf("metadata %+v", got.ObjectMeta)
			}
			owner := metav1.GetControllerOf(got)
			if owner == nil || owner.UID != "cell-uid" || owner.Kind != "WorkloadDeployment" || !*owner.BlockOwnerDeletion {
				t.Errorf("owner %+v", owner)
			}
			wantController := &v1alpha.InstanceController{
				TemplateHash: "hash", SchedulingGates: test.wantGates, InstanceTypeResources: d.Spec.InstanceTypeResources,
			}
			if got.Spec.Location.Name != "dfw" || !equality.Semantic.DeepEqual(got.Spec.Controller, wantController) {
				t.Errorf("location %+v, controller %+v", got.Spec.Location, got.Spec.Controller)
			}
			if d.Spec.Template.Labels[v1alpha.LabelCityCode] != "forged" || d.Spec.Template.Spec.Controller != nil {
				t.Error("the template was changed")
			}
		})
	}
}

func TestNewTarget(t *testing.T) {
	d := deployment()
	if got := newTarget(d, &versions{hash: "h"}, time.Now()); !slices.Equal(got.indices, []int{0, 1}) || got.parallel ||
		!got.startable("web-main-dfw-0") {
		t.Errorf("got %+v", got)
	}
	d.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{Granted: naming.Ranges([]int{1})}
	if got := newTarget(d, &versions{hash: "h", missing: []templates.DataObject{{Kind: "Secret", Name: "absent"}}},
		time.Now()); got.startable("web-main-dfw-1") {
		t.Error("an Instance would start without its data")
	}
	d.Spec.ScaleSettings.InstanceManagementPolicy = v1alpha.Parallel
	if got := newTarget(d, &versions{hash: "h"}, time.Now()); !got.parallel || got.startable("web-main-dfw-0") ||
		!got.startable("web-main-dfw-1") {
		t.Errorf("got %+v", got)
	}
}

// TestInstanceOfPartition: an Instance that the partition keeps has the earlier template, with the size and the labels of that.
// What an autoscaler adds is kept, too: the step has not named it.
func TestInstanceOfPartition(t *testing.T) {
	d := deployment()
	d.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{
		Index: 1, Indices: []v1alpha.IndexRange{{First: 1, Last: 1}, {First: 6, Last: 7}}, Template: *d.Spec.Template.DeepCopy(),
	}
	d.Spec.Partition.Template.Labels = map[string]string{"version": "earlier"}
	d.Spec.Template.Labels = map[string]string{"version": "newest"}
	for index, want := range map[int]string{0: "earlier", 1: "newest", 2: "earlier", 5: "earlier", 6: "newest", 7: "newest", 8: "earlier"} {
		known := versions{hash: "newest", earlier: "earlier"}
		if got := known.hashAt(d, index); got != want {
			t.Errorf("Instance %d has the hash of the %s template", index, got)
		}
		if target := newTarget(d, &known, time.Now()); target.kept(index) != (want == "earlier") {
			t.Errorf("Instance %d, of the %s template, is kept: %t", index, want, target.kept(index))
		}
		if got := desiredInstance(d, index, "hash").Labels["version"]; got != want {
			t.Errorf("Instance %d has the %s template", index, got)
		}
	}
}

// TestLapse: only an Instance that was Ready with its Pod may become Ready again by itself, for a while.
func TestLapse(t *testing.T) {
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ceased := started.Add(time.Minute)
	for name, test := range map[string]struct {
		reason   string
		since    time.Time
		now      time.Time
		unbegun  bool
		want     time.Duration
		wasReady metav1.ConditionStatus
	}{
		"a slow probe": {
			reason: v1alpha.ReasonProvisioning, since: ceased, now: ceased.Add(time.Second), want: lapses - time.Second,
		},
		"a failing probe":              {reason: v1alpha.ReasonProbeFailing, since: ceased, now: ceased, want: lapses},
		"after a while":                {reason: v1alpha.ReasonProvisioning, since: ceased, now: ceased.Add(lapses)},
		"by a clock that is behind":    {reason: v1alpha.ReasonProvisioning, since: ceased, now: started, want: lapses},
		"one that has never been":      {reason: v1alpha.ReasonProvisioning, since: started, now: started},
		"one without a Pod":            {reason: v1alpha.ReasonProvisioning, since: ceased, now: ceased, unbegun: true},
		"an image that does not exist": {reason: v1alpha.ReasonImageUnavailable, since: ceased, now: ceased},
		"one that is Ready":            {reason: v1alpha.ReasonAvailable, since: ceased, now: ceased, wasReady: metav1.ConditionTrue},
	} {
		instance := &v1alpha.Instance{}
		if !test.unbegun {
			instance.Status.StartTime = &metav1.Time{Time: started}
		}
		instance.Status.Conditions = []metav1.Condition{{
			Type: v1alpha.ConditionReady, Status: cmp.Or(test.wasReady, metav1.ConditionFalse), Reason: test.reason,
			LastTransitionTime: metav1.NewTime(test.since),
		}}
		if got := lapse(instance, test.now); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
