// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// serving is an Instance as the controllers of a cell report it.
func serving(index int) wire.Instance {
	condition := func(kind, reason, message string, after int) metav1.Condition {
		return metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message,
			LastTransitionTime: metav1.NewTime(began.Add(time.Duration(index+after) * time.Second)),
		}
	}
	return wire.Instance{
		Name: naming.InstanceName("web", index), TemplateHash: "5f7d9c8b6d", ObservedTemplateHash: "5f7d9c8b6d",
		Conditions: []metav1.Condition{
			condition(v1alpha.ConditionReady, v1alpha.ReasonAvailable, "the Instance serves", 12),
			condition(v1alpha.ConditionAvailable, v1alpha.ReasonAvailable, "", 12),
			condition(v1alpha.ConditionProgrammed, v1alpha.ReasonProgrammed, "the Pod has a node", 3),
			condition(v1alpha.ConditionQuotaGranted, v1alpha.ReasonQuotaAvailable, "the quota of the project is granted", 0),
			condition(v1alpha.ConditionReferencedDataReady, v1alpha.ReasonReferencedDataPresent,
				"every ConfigMap and Secret that the template names is in the cell", -1),
		},
		NetworkInterfaces: []v1alpha.InstanceNetworkInterfaceStatus{
			{Assignments: v1alpha.InstanceNetworkAssignments{NetworkIP: new(fmt.Sprintf("10.244.1%02d.200", index))}},
		},
	}
}

// TestReportHasEverything: the project shows the same of an Instance, however its cell reports it.
func TestReportHasEverything(t *testing.T) {
	failing := serving(3)
	failing.Conditions[0].Status, failing.Conditions[0].Reason, failing.Conditions[0].Message = metav1.ConditionFalse,
		"InstanceCrashing", `exit code 1: "x" <&>`
	failing.Conditions[0].LastTransitionTime = metav1.NewTime(began.Add(-time.Hour))
	held := wire.Instance{Name: "web-7", TemplateHash: "old", SchedulingGates: []v1alpha.SchedulingGate{{Name: v1alpha.GateQuota}}}
	started := metav1.NewTime(began.Add(-time.Minute))
	failing.Restarts, failing.StartTime, failing.DataHash = 7, &started, "0123456789abcdef"
	failing.Containers = []v1alpha.InstanceContainerStatus{
		{Name: "web", RestartCount: 7, ImageID: "example.com/web@sha256:1", LastTermination: &v1alpha.ContainerTermination{
			Reason: "Error", ExitCode: 1, Message: "no such file", FinishedAt: metav1.NewTime(began),
		}},
		{Name: "proxy", ImageID: "example.com/proxy@sha256:2"},
	}
	healthy := serving(1)
	healthy.StartTime = &started
	want := []wire.Instance{serving(0), healthy, failing, held, serving(12)}
	report := wire.New("web", want)
	if len(report.States) != 3 {
		t.Errorf("%d states", len(report.States))
	}
	raw, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var read v1alpha.InstanceReport
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(want, wire.Reported(&read, "web")); difference != "" {
		t.Errorf("(-want +got):\n%s", difference)
	}
}

// TestEntryIsSmall: all entries of a report are written four times for each change of one.
func TestEntryIsSmall(t *testing.T) {
	var instances []wire.Instance
	for i := range 32 {
		instances = append(instances, serving(i))
	}
	raw, err := json.Marshal(wire.New("web", instances))
	if err != nil {
		t.Fatal(err)
	}
	if each := len(raw) / len(instances); each > 200 {
		t.Errorf("%d bytes for each entry", each)
	} else {
		t.Logf("%d bytes for each entry", each)
	}
}

// TestReportedIsRobust: the entries come from cells, which are not trusted.
func TestReportedIsRobust(t *testing.T) {
	report := v1alpha.InstanceReport{
		States: []v1alpha.InstanceState{{TemplateHash: "h", Conditions: []v1alpha.StateCondition{{Type: "Ready"}, {Type: "Available"}}}},
		Instances: []v1alpha.InstanceEntry{
			{Index: -1},
			{Index: 0, State: 1},
			{Index: 1, State: -1},
			{Index: 2},
			{Index: 3, Since: "2026-01-01T00:00:00Z x"},
			{Index: 4, Since: "2026-01-01T00:00:00Z +1 +2"},
		},
	}
	if got := wire.Reported(&report, "web"); len(got) != 6 || got[1].TemplateHash != "" || len(got[3].Conditions) != 2 ||
		got[4].Conditions[1].LastTransitionTime.Unix() != 0 || got[5].Conditions[0].LastTransitionTime.Unix() != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestReportedInstances(t *testing.T) {
	of := func(cell string, indices ...int) v1alpha.InstanceReport {
		report := v1alpha.InstanceReport{Cell: cell, States: []v1alpha.InstanceState{{TemplateHash: cell}}}
		for _, index := range indices {
			report.Instances = append(report.Instances, v1alpha.InstanceEntry{Index: int32(index)})
		}
		return report
	}
	d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
		{Name: "a", Indices: naming.Ranges([]int{0, 1})}, {Name: "b", Indices: naming.Ranges([]int{2, 3})},
	}}
	d.Status.Reports = []v1alpha.InstanceReport{of("a", 0, 2, 4, -1), of("b", 1, 2, 3, 4)}
	var got []string
	for _, instance := range wire.Instances(d) {
		got = append(got, instance.Name+" "+instance.TemplateHash)
	}
	if want := []string{"web-0 a", "web-2 b", "web-3 b", "web-4 a"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestInstanceFacts(t *testing.T) {
	d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
		{Name: "a", Indices: naming.Ranges([]int{0, 1})}, {Name: "b", Indices: naming.Ranges([]int{2, 3})},
	}}
	d.Status.Indices = []v1alpha.CellIndices{
		{Cell: "a", Existing: "0-2", Ready: "0-2", TemplateHash: "h", Current: "1-2"}, {Cell: "b", Existing: "2", Held: "2,9"},
	}
	want := map[int]wire.Facts{
		0: {Cell: "a", Ready: true}, 1: {Cell: "a", Ready: true, TemplateHash: "h"}, 2: {Cell: "b", Held: true},
	}
	if difference := cmp.Diff(want, wire.FactsOf(d)); difference != "" {
		t.Errorf("(-want +got):\n%s", difference)
	}
	if got := wire.Highest(d); got != 2 {
		t.Errorf("the highest index is %d", got)
	}
	d.Status.Indices[0].Existing = "0,3-20"
	if got := wire.Highest(d); got != 20 {
		t.Errorf("the highest index is %d", got)
	}
	if got := wire.Highest((&v1alpha.WorkloadDeployment{})); got != -1 {
		t.Errorf("of nothing the highest index is %d", got)
	}
}

// TestHealthyInstancesReportNoContainers keeps reports small: container states that the conditions imply are not
// reported.
func TestHealthyInstancesReportNoContainers(t *testing.T) {
	containers := []v1alpha.InstanceContainerStatus{{Name: "web", ImageID: "example.com/web@sha256:1"}}
	healthy, restarted, starting := serving(0), serving(1), serving(2)
	restarted.Restarts = 1
	starting.Conditions[1].Status = metav1.ConditionFalse
	for _, instance := range []*wire.Instance{&healthy, &restarted, &starting} {
		instance.Containers = containers
	}
	report := wire.New("web", []wire.Instance{healthy, restarted, starting})
	for i, want := range []int{0, 1, 1} {
		if got := len(report.Instances[i].Containers); got != want {
			t.Errorf("Instance %d reports %d containers, want %d", i, got, want)
		}
	}
}

// TestReportedContainersHaveNames: the names are the keys of the list in an Instance. An API server would refuse one
// without a name, or two with the same.
func TestReportedContainersHaveNames(t *testing.T) {
	report := v1alpha.InstanceReport{
		States: []v1alpha.InstanceState{{}},
		Instances: []v1alpha.InstanceEntry{{Containers: []v1alpha.ContainerEntry{
			{Name: "web", FinishedAt: "soon"}, {Name: ""}, {Name: "web", RestartCount: 9},
		}}},
	}
	got := wire.Reported(&report, "web")[0].Containers
	if want := []v1alpha.InstanceContainerStatus{{Name: "web"}}; cmp.Diff(want, got) != "" {
		t.Errorf("got %+v", got)
	}
}
