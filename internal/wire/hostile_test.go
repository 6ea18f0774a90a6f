// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// allocated is how many bytes a function allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// checkAllocated fails if a reader of a cell's report allocates more than the report can account for: a multiple of its
// length, and the memory for the highest number of Instances.
func checkAllocated(t *testing.T, input int, do func()) {
	t.Helper()
	const perByte, constant = 256, 4 << 20
	if got, most := allocated(do), uint64(perByte*input+constant); got > most {
		t.Fatalf("%d bytes of input allocate %d bytes, more than %d", input, got, most)
	}
}

// hostileIndices are texts that a cell may report in place of indices.
func hostileIndices() []string {
	return []string{
		"", "0-4,7", "9999", "0-9999", "0-99999", "7-3", ",,,", "-", "0-", "-0", "0-9999,", "x",
		strings.Repeat("0-9999,", 4681), strings.Repeat("0,", 16384), strings.Repeat("0-9999,", 100000),
	}
}

func FuzzIndices(f *testing.F) {
	for _, text := range hostileIndices() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got []int
		checkAllocated(t, len(text), func() { got = naming.Parse(text) })
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("%v are not ascending", got)
		}
		if len(got) > 0 && (got[0] < 0 || got[len(got)-1] > naming.MaxIndex) {
			t.Fatalf("the indices are from %d to %d", got[0], got[len(got)-1])
		}
		if again := naming.Parse(naming.Format(got)); !slices.Equal(again, got) {
			t.Fatalf("%v is read as %v", got, again)
		}
	})
}

// FuzzStatus reads a status that cells report, of a deployment with two cells.
func FuzzStatus(f *testing.F) {
	for _, text := range hostileIndices() {
		quoted, err := json.Marshal(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(`{"indices":[{"cell":"a","existing":` + string(quoted) + `,"ready":` + string(quoted) + `,"held":` +
			string(quoted) + `,"current":` + string(quoted) + `}]}`))
	}
	f.Add([]byte(`{"reports":[{"cell":"a","states":[{"templateHash":"x"}],"instances":[{"index":0,"state":0},{"index":-1,"state":7},{"index":2147483647,"state":-1}]}]}`))
	f.Add([]byte(`{"reports":[{"cell":"a","states":[{"conditions":[` + strings.Repeat(`{},`, 3000) + `{}]}],"instances":[` +
		strings.Repeat(`{},`, 3000) + `{"index":1,"since":"` + strings.Repeat("+1 ", 9000) + `"}]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := divided()
		if json.Unmarshal(raw, &d.Status) != nil {
			return
		}
		var facts map[int]Facts
		var reported []Instance
		checkAllocated(t, len(raw), func() { facts, reported = FactsOf(d), Instances(d) })
		Highest(d)
		for index, fact := range facts {
			checkOwn(t, d, fact.Cell, index)
		}
		for i := range reported {
			index, ok := naming.InstanceIndex(d.Name, reported[i].Name)
			if !ok {
				t.Fatalf("%s is no Instance of %s", reported[i].Name, d.Name)
			}
			checkOwn(t, d, "", index)
		}
	})
}

// FuzzSlice reads a report in a slice, which must be what Bound leaves of the same report in a status.
func FuzzSlice(f *testing.F) {
	for _, state := range []string{
		`{"templateHash":"x"}`, `{"conditions":[{"type":"Ready","status":"True","reason":"has a space"}]}`,
		`{"conditions":[{"type":"Ready","status":"True","reason":"A","message":"` + strings.Repeat(`\u001b[2J`, 5000) + `"}]}`,
		`{"conditions":[` + strings.Repeat(`{},`, 3000) + `{}]}`, `7`, `{"templateHash":7}`,
	} {
		f.Add([]byte(`{"observedGeneration":1,"states":[` + state + `],"instances":[{"index":16,"state":0,"since":"\u001b",` +
			`"containers":[{"name":"a b","message":"\u001b[2J"}]},{"index":null}]}`))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got v1alpha.InstanceReport
		checkAllocated(t, len(raw), func() { got, _ = DecodeSlice("a", raw) })
		if len(got.Instances) > MaxInstances || len(got.States) > len(got.Instances) {
			t.Fatalf("%d Instances in %d states", len(got.Instances), len(got.States))
		}
		for _, state := range got.States {
			for _, c := range state.Conditions {
				if !isValid(c.Type, c.Reason, c.Status) || c.Message != boundMessage(c.Message) {
					t.Fatalf("an API server refuses, or a terminal obeys, %+v", c)
				}
			}
		}
		bounded := v1alpha.WorkloadDeploymentStatus{Reports: []v1alpha.InstanceReport{*got.DeepCopy()}}
		if Bound(&bounded); !equality.Semantic.DeepEqual(bounded.Reports[0], got) {
			t.Fatalf("a report in a status is bounded to %+v, in a slice it is %+v", bounded.Reports[0], got)
		}
	})
}

// divided is a deployment that two cells run.
func divided() *v1alpha.WorkloadDeployment {
	d := &v1alpha.WorkloadDeployment{}
	d.Name = "web"
	d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
		{Name: "a", Indices: naming.Ranges([]int{0, 1, 5})},
		{Name: "b", Indices: naming.Ranges([]int{2, 3}), Releasing: naming.Ranges([]int{20})},
	}}
	return d
}

// checkOwn fails when a cell reports an index of another one, or one that the deployment cannot have.
func checkOwn(t *testing.T, d *v1alpha.WorkloadDeployment, cell string, index int) {
	t.Helper()
	if index < 0 || index > 20 {
		t.Fatalf("index %d is none that the deployment may have", index)
	}
	if owner := d.Spec.Assignment.Owner(index); cell != "" && owner != "" && owner != cell {
		t.Fatalf("%s reports index %d of %s", cell, index, owner)
	}
}

// TestReportOfIndicesOfOthers: of a cell's report, only the indices assigned to it count, and unassigned indices up to
// the highest number of Instances that the deployment has had.
func TestReportOfIndicesOfOthers(t *testing.T) {
	d := divided()
	d.Status.Indices = []v1alpha.CellIndices{{Cell: "a", Existing: "0-9999", Ready: "0-9999"}}
	var got []int
	for index := range FactsOf(d) {
		got = append(got, index)
	}
	slices.Sort(got)
	// 2 and 3 are the other cell's; 20 is the highest that any cell may have.
	want := []int{0, 1}
	for index := 4; index <= 20; index++ {
		want = append(want, index)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the indices %s count", naming.Format(got))
	}
	d.Spec.Slices = 1
	if got := len(FactsOf(d)); got != naming.InlineInstances+naming.SliceInstances-2 {
		t.Errorf("with a slice %d Instances count", got)
	}
}

// TestEntriesOutsideHubNamespaces verifies that a cell cannot name a deployment that no hub sent there.
func TestEntriesOutsideHubNamespaces(t *testing.T) {
	for namespace, want := range map[string]bool{
		naming.HubNamespace("project", "namespace"): true, "": false, "victim": false, "kube-system": false, "karmada-es-dfw": false,
	} {
		entry := v1alpha.InventoryEntry{Namespace: namespace, Name: "web"}
		if got := Valid(&entry); got != want {
			t.Errorf("namespace %q: valid is %t", namespace, got)
		}
	}
}
