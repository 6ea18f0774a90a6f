// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// named are the templates of a deployment whose Instances have a hash.
func named(hash string) *owned.Templates { return &owned.Templates{Hash: hash, Sent: hash} }

func deployment(replicas int32) *v1alpha.WorkloadDeployment {
	d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 3}}
	d.Spec.ScaleSettings.MinReplicas = replicas
	return d
}

func instance(name, hash, reason string, changes ...func(*v1alpha.Instance)) v1alpha.Instance {
	i := v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: name}}
	i.Spec.Controller = &v1alpha.InstanceController{TemplateHash: hash}
	if reason != "" {
		status := metav1.ConditionFalse
		if reason == v1alpha.ReasonAvailable {
			status = metav1.ConditionTrue
		}
		i.Status.Conditions = []metav1.Condition{{Type: v1alpha.ConditionReady, Status: status, Reason: reason, Message: "about " + name}}
	}
	for _, change := range changes {
		change(&i)
	}
	return i
}

func deleted(i *v1alpha.Instance) { i.DeletionTimestamp = &metav1.Time{Time: now} }

func held(i *v1alpha.Instance) {
	i.Spec.Controller.SchedulingGates = []v1alpha.SchedulingGate{{Name: v1alpha.GateQuota}}
	i.Status.Conditions = append(i.Status.Conditions, metav1.Condition{Type: v1alpha.ConditionQuotaGranted, Status: metav1.ConditionFalse})
}

func lacking(i *v1alpha.Instance) {
	i.Spec.Controller.SchedulingGates = []v1alpha.SchedulingGate{{Name: v1alpha.GateReferencedData}}
	i.Status.Conditions = append(i.Status.Conditions,
		metav1.Condition{Type: v1alpha.ConditionReferencedDataReady, Status: metav1.ConditionFalse})
}

func justMade(i *v1alpha.Instance) {
	i.Spec.Controller.SchedulingGates = []v1alpha.SchedulingGate{{Name: v1alpha.GateQuota}}
}

func TestDesiredStatus(t *testing.T) {
	tests := map[string]struct {
		replicas  int32
		instances []v1alpha.Instance
		// wantCounts are replicas, current, desired and ready.
		wantCounts    [4]int32
		wantAvailable string
		wantSettled   bool
		wantReady     bool
		wantMessage   string
	}{
		"nothing yet": {
			2, nil, [4]int32{0, 0, 2, 0}, "InstancesProvisioning", false, false, "0 of 2 Instances are Ready; 2 Instances are not created yet",
		},
		"all there": {
			2,
			[]v1alpha.Instance{instance("web-0", "h", "Available"), instance("web-1", "h", "Available")},
			[4]int32{2, 2, 2, 2},
			"StableInstanceFound", true, true, "2 of 2 Instances are Ready",
		},
		"one without conditions": {
			1,
			[]v1alpha.Instance{instance("web-0", "h", "")},
			[4]int32{1, 1, 1, 0},
			"InstancesProvisioning", false, false,
			"web-0 has not been reconciled",
		},
		"the worst is named, not the first": {
			3,
			[]v1alpha.Instance{
				instance("web-0", "h", "Provisioning"), instance("web-1", "h", "ConfigurationError"), instance("web-2", "h", "InstanceCrashing"),
			},
			[4]int32{3, 3, 3, 0},
			"ConfigurationError", false, false, "Instance web-1: ConfigurationError: about web-1",
		},
		"a class that nobody serves comes before what passes": {
			2,
			[]v1alpha.Instance{instance("web-0", "h", "SchedulingGatesPresent"), instance("web-1", "h", "RuntimeClassNotServed")},
			[4]int32{2, 2, 2, 0},
			"RuntimeClassNotServed", false, false, "Instance web-1: RuntimeClassNotServed: about web-1",
		},
		"of equals the first is named": {
			2,
			[]v1alpha.Instance{instance("web-1", "h", "ImageUnavailable"), instance("web-0", "h", "ImageUnavailable")},
			[4]int32{2, 2, 2, 0},
			"ImageUnavailable", false, false, "Instance web-0: ImageUnavailable",
		},
		"held by data": {
			1,
			[]v1alpha.Instance{instance("web-0", "h", "SchedulingGatesPresent", lacking)},
			[4]int32{1, 1, 1, 0},
			"ReferencedDataNotReady", false, false, "Instance web-0: SchedulingGatesPresent",
		},
		"one held by data, another Ready": {
			2,
			[]v1alpha.Instance{instance("web-0", "h", "Available"), instance("web-1", "h", "SchedulingGatesPresent", lacking)},
			[4]int32{2, 2, 2, 1},
			"StableInstanceFound", false, false, "Instance web-1: SchedulingGatesPresent",
		},
		"one held by quota, another broken": {
			2,
			[]v1alpha.Instance{instance("web-0", "h", "SchedulingGatesPresent", held), instance("web-1", "h", "ImageUnavailable")},
			[4]int32{2, 2, 2, 0},
			"ImageUnavailable", false, false, "Instance web-1: ImageUnavailable",
		},
		"held by quota": {
			1,
			[]v1alpha.Instance{instance("web-0", "h", "SchedulingGatesPresent", held)},
			[4]int32{1, 1, 1, 0},
			"QuotaNotGranted", false, false, "SchedulingGatesPresent",
		},
		"a gate without its condition is no refusal": {
			1,
			[]v1alpha.Instance{instance("web-0", "h", "SchedulingGatesPresent", justMade)},
			[4]int32{1, 1, 1, 0},
			"InstancesProvisioning", false, false, "",
		},
		"available with one held by quota": {
			2,
			[]v1alpha.Instance{instance("web-0", "h", "Available"), instance("web-1", "h", "SchedulingGatesPresent", held)},
			[4]int32{2, 2, 2, 1},
			"StableInstanceFound", false, false, "1 of 2",
		},
		"one of eight is Available": {
			8, []v1alpha.Instance{instance("web-0", "h", "Available")}, [4]int32{1, 1, 8, 1}, "InstancesProvisioning", false, false, "1 of 8",
		},
		"none is wanted": {0, nil, [4]int32{}, "ScaledToZero", true, true, "0 of 0"},
		"the last one is being deleted": {
			0, []v1alpha.Instance{instance("web-0", "h", "Available", deleted)}, [4]int32{1, 0, 0, 0}, "ScaledToZero", false, true, "0 of 0",
		},
		"rolling": {
			2,
			[]v1alpha.Instance{instance("web-0", "old", "Available"), instance("web-1", "h", "Available")},
			[4]int32{2, 1, 2, 2},
			"StableInstanceFound", false, true, "2 of 2",
		},
		"scaling down": {
			1,
			[]v1alpha.Instance{instance("web-0", "h", "Available"), instance("web-1", "h", "Available")},
			[4]int32{2, 2, 1, 2},
			"StableInstanceFound", false, true, "1 of 1",
		},
		"one being deleted counts until it is gone, but not as Ready or current": {
			1,
			[]v1alpha.Instance{instance("web-0", "h", "Available"), instance("web-1", "h", "Available", deleted)},
			[4]int32{2, 1, 1, 1},
			"StableInstanceFound", false, true, "1 of 1",
		},
		"a foreign name does not count": {
			1,
			[]v1alpha.Instance{instance("web-0", "h", "Available"), instance("web-x", "h", "Available")},
			[4]int32{1, 1, 1, 1},
			"StableInstanceFound", true, true, "",
		},
	}
	isTrue := []string{v1alpha.ReasonStableInstanceFound, v1alpha.ReasonScaledToZero}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := deployment(test.replicas)
			got := desiredStatus(d, newSummary(d, named("h"), test.instances), apply.Stamp{Generation: d.Generation, Now: now})
			if counts := [4]int32{got.Replicas, got.CurrentReplicas, got.DesiredReplicas, got.ReadyReplicas}; counts != test.wantCounts {
				t.Errorf("counts %v, want %v", counts, test.wantCounts)
			}
			available := meta.FindStatusCondition(got.Conditions, v1alpha.ConditionAvailable)
			if available.Reason != test.wantAvailable || (available.Status == metav1.ConditionTrue) != slices.Contains(isTrue, available.Reason) ||
				!strings.Contains(available.Message, test.wantMessage) {
				t.Errorf("available %+v", available)
			}
			if got := meta.IsStatusConditionFalse(got.Conditions, v1alpha.ConditionProgressing); got != test.wantSettled {
				t.Errorf("settled %t", got)
			}
			if got := meta.IsStatusConditionTrue(got.Conditions, v1alpha.ConditionReplicasReady); got != test.wantReady {
				t.Errorf("replicas ready %t", got)
			}
			if got.ObservedGeneration != 3 || got.Conditions[0].ObservedGeneration != 3 {
				t.Errorf("observed generation %d", got.ObservedGeneration)
			}
		})
	}
}

// TestProgressing: until the wanted Instances run, the message names the Instance that holds up the deployment, and the
// reason.
func TestProgressing(t *testing.T) {
	d := deployment(2)
	gone := instance("web-1", "h", v1alpha.ReasonNodeLost, deleted)
	for name, test := range map[string]struct {
		instances []v1alpha.Instance
		want      string
	}{
		"a new Instance that no node can take": {
			[]v1alpha.Instance{instance("web-0", "old", "Available"), instance("web-1", "h", v1alpha.ReasonUnschedulable)},
			"1 of 2 Instances have the current template, 0 are being deleted; Instance web-1: Unschedulable: about web-1",
		},
		"a deletion": {
			[]v1alpha.Instance{instance("web-0", "old", "Available"), instance("web-1", "old", "Provisioning", deleted)},
			"0 of 2 Instances have the current template, 1 is being deleted",
		},
		"a deletion that a lost node holds": {
			[]v1alpha.Instance{instance("web-0", "h", "Available"), gone},
			"1 of 2 Instances have the current template, 1 is being deleted; Instance web-1: NodeLost: about web-1",
		},
	} {
		got := desiredStatus(d, newSummary(d, named("h"), test.instances), apply.Stamp{Now: now})
		if progressing := meta.FindStatusCondition(got.Conditions, v1alpha.ConditionProgressing); progressing.Message != test.want {
			t.Errorf("%s: got %q, want %q", name, progressing.Message, test.want)
		}
	}
}

func TestReportedInstances(t *testing.T) {
	d := deployment(11)
	ip := "10.0.0.1"
	running := instance("web-10", "h", "Available", func(i *v1alpha.Instance) {
		i.Status.Controller = &v1alpha.InstanceControllerStatus{ObservedTemplateHash: "h"}
		i.Status.NetworkInterfaces = []v1alpha.InstanceNetworkInterfaceStatus{{Assignments: v1alpha.InstanceNetworkAssignments{NetworkIP: &ip}}}
	})
	all := []v1alpha.Instance{
		running, instance("web-2", "old", "SchedulingGatesPresent", held), instance("web-x", "h", "Available"),
		instance("web-0", "h", "", deleted),
	}
	status := desiredStatus(d, newSummary(d, named("h"), all), apply.Stamp{Now: now})
	d.Status.Reports = status.Reports
	got := wire.Instances(d)
	var names []string
	for i := range got {
		names = append(names, got[i].Name)
	}
	if want := []string{"web-0", "web-2", "web-10"}; !slices.Equal(names, want) {
		t.Fatalf("names %v, want %v", names, want)
	}
	if got[1].TemplateHash != "old" || len(got[1].SchedulingGates) != 1 || len(got[1].Conditions) != 2 || got[1].ObservedTemplateHash != "" {
		t.Errorf("got %+v", got[1])
	}
	if got[2].ObservedTemplateHash != "h" || *got[2].NetworkInterfaces[0].Assignments.NetworkIP != ip {
		t.Errorf("got %+v", got[2])
	}
}

// TestSlices: Instances that do not fit into the status have their entries in slices, and an Instance without a slice
// is reported as unlisted.
func TestSlices(t *testing.T) {
	d := deployment(100)
	d.Spec.Slices = 2
	var all []v1alpha.Instance
	for _, i := range []int{0, 15, 16, 47, 48, 80, 5000} {
		all = append(all, instance(naming.InstanceName("web", i), "h", "Provisioning", func(i *v1alpha.Instance) {
			i.Status.Conditions[0].Message = strings.Repeat("x", 600)
		}))
	}
	got, err := Report(d, all, func(number int) bool { return number == 0 }, now)
	if err != nil {
		t.Fatal(err)
	}
	listed := func(report v1alpha.InstanceReport) string {
		var indices []int
		for i := range report.Instances {
			indices = append(indices, int(report.Instances[i].Index))
		}
		return naming.Format(indices)
	}
	if len(got.Status.Reports) != 1 || listed(got.Status.Reports[0]) != "0,15" || got.Status.Indices[0].Existing != "0,15-16,47-48,80,5000" {
		t.Errorf("the status has %+v", got.Status)
	}
	if got.Slices() != 2 || listed(got.Slice(0)) != "16,47" || listed(got.Slice(1)) != "48" {
		t.Errorf("the slices have %+v, %+v", got.Slice(0), got.Slice(1))
	}
	if message := got.Slice(0).States[0].Conditions[0].Message; len(message) != v1alpha.MaxMessage {
		t.Errorf("a message has %d bytes", len(message))
	}
	message := meta.FindStatusCondition(got.Status.Conditions, v1alpha.ConditionAvailable).Message
	if !strings.Contains(message, "3 Instances are not listed") {
		t.Errorf("the message does not say which Instances have no slice: %q", message)
	}
}

func TestSameStatus(t *testing.T) {
	d := deployment(2)
	all := []v1alpha.Instance{instance("web-0", "h", "Available"), instance("web-1", "h", "Available")}
	wanted := desiredStatus(d, newSummary(d, named("h"), all), apply.Stamp{Generation: 3, Now: now})
	tests := map[string]struct {
		change func(*v1alpha.WorkloadDeploymentStatus)
		want   bool
	}{
		"as it is":             {func(*v1alpha.WorkloadDeploymentStatus) {}, true},
		"another order":        {func(s *v1alpha.WorkloadDeploymentStatus) { slices.Reverse(s.Conditions) }, true},
		"another generation":   {func(s *v1alpha.WorkloadDeploymentStatus) { s.ObservedGeneration++ }, false},
		"another count":        {func(s *v1alpha.WorkloadDeploymentStatus) { s.ReadyReplicas++ }, false},
		"an Instance more":     {func(s *v1alpha.WorkloadDeploymentStatus) { s.Reports[0].Instances = s.Reports[0].Instances[:1] }, false},
		"another Instance":     {func(s *v1alpha.WorkloadDeploymentStatus) { s.Reports[0].Instances[1].Index = 7 }, false},
		"an Instance differs":  {func(s *v1alpha.WorkloadDeploymentStatus) { s.Reports[0].States[0].TemplateHash = "other" }, false},
		"an index differs":     {func(s *v1alpha.WorkloadDeploymentStatus) { s.Indices[0].Ready = "0" }, false},
		"a condition differs":  {func(s *v1alpha.WorkloadDeploymentStatus) { s.Conditions[0].Message = "other" }, false},
		"nothing was reported": {func(s *v1alpha.WorkloadDeploymentStatus) { *s = v1alpha.WorkloadDeploymentStatus{} }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			existing := wanted.DeepCopy()
			test.change(existing)
			if got := sameStatus(existing, &wanted); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
