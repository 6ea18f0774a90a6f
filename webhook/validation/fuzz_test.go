// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func FuzzWorkload(f *testing.F) {
	for _, seed := range []*v1alpha.Workload{{}, sandbox(), machine(), broken()} {
		data, err := json.Marshal(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := &v1alpha.Workload{}
		if json.Unmarshal(data, w) != nil {
			t.Skip("no Workload")
		}
		original := w.DeepCopy()
		first, second := inFull(w), inFull(w)
		if !slices.Equal(first, second) {
			t.Errorf("problems are now %q, now %q", first, second)
		}
		if again := Workload(w, w); len(again) > 0 {
			t.Errorf("old problems are reported: %v", again)
		}
		if !slices.Equal(Warnings(w), Warnings(w)) {
			t.Error("warnings differ")
		}
		References(w)
		if !equality.Semantic.DeepEqual(w, original) {
			t.Errorf("changed by the validation: %+v, was %+v", w, original)
		}
	})
}

// inFull renders problems as a user sees them.
func inFull(w *v1alpha.Workload) []string {
	var lines []string
	for _, problem := range Workload(w, nil) {
		lines = append(lines, problem.Error())
	}
	return lines
}
