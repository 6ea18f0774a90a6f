// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"fmt"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/references/choice"
)

// TestShareOfTheHistory: when the history is too large, each Workload keeps its newest revisions, however many the others
// have had. A complete revision is always kept.
func TestShareOfTheHistory(t *testing.T) {
	t.Parallel()
	var got []string
	for _, r := range choice.Ordered([]choice.Revision{
		{Workload: "busy", Number: 901},
		{Workload: "quiet", Number: 1, Complete: true},
		{Workload: "busy", Number: 903},
		{Workload: "quiet", Number: 3},
		{Workload: "busy", Number: 902},
		{Workload: "quiet", Number: 2},
	}) {
		got = append(got, fmt.Sprintf("%s %d", r.Workload, r.Number))
	}
	want := []string{"quiet 1", "busy 903", "quiet 3", "busy 902", "quiet 2", "busy 901"}
	if !slices.Equal(got, want) {
		t.Errorf("kept are %v, want %v", got, want)
	}
}

// TestFindingsOfSnapshots: a fault of snapshots is told once, in one order, however many deployments need them and
// in whatever order the cache lists them.
func TestFindingsOfSnapshots(t *testing.T) {
	t.Parallel()
	w := &workload{Workload: &v1alpha.Workload{}, data: &v1alpha.WorkloadDataStatus{Objects: []v1alpha.DataVersion{
		{Kind: "ConfigMap", Name: "a", Hash: "0123456789abcdef"}, {Kind: "ConfigMap", Name: "b", Hash: "0123456789abcdef"},
	}}}
	w.UID = "uid"
	s := &facts{objects: map[item]*object{}}
	for _, hubNamespace := range []string{"ns-1", "ns-2"} {
		for _, one := range w.data.Objects {
			i := snapshotItem(hubNamespace, one)
			s.objects[i] = &object{item: i, finding: finding{reason: v1alpha.ReasonSourceRefused, message: one.Name + " is refused"}}
		}
		original := &v1alpha.WorkloadDeployment{}
		original.Labels = map[string]string{v1alpha.LabelWorkloadUID: "uid"}
		s.deployments = append(s.deployments, &deployment{original: original, copied: original, hubNamespace: hubNamespace})
	}
	s.objects[snapshotItem("ns-1", w.data.Objects[0])].present = true
	first, ready := s.snapshotsOf(w)
	slices.Reverse(s.deployments)
	second, _ := s.snapshotsOf(w)
	if ready || len(first) != 2 || !slices.Equal(first, second) {
		t.Errorf("ready: %t; told are %v, and in another order %v", ready, first, second)
	}
}
