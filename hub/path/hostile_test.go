// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	goruntime "runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// FuzzReport reads a cell's report: the length of the report bounds the memory, and the kept part is not longer than
// the report.
func FuzzReport(f *testing.F) {
	const current = `"generation":2,"observedGeneration":2,"resourceTemplateGeneration":5`
	for _, report := range []string{
		``, `null`, `{}`, `{` + current + `,"indices":[{"existing":"0-3,7"}]}`,
		`{` + current + `,"indices":[{"existing":"` + strings.Repeat("0-9999,", 4681) + `"}]}`,
		`{` + current + `,"indices":[` + strings.Repeat(`{"existing":"0-9999"},`, 3000) + `{}]}`,
		`{` + current + `,"conditions":[` + strings.Repeat(`{"type":"Suspended"},`, 3000) + `{}]}`,
	} {
		f.Add([]byte(report))
	}
	copied := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 5}}
	f.Fuzz(func(t *testing.T, raw []byte) {
		binding := reporting(map[string]string{"a": string(raw), "b": ""})
		var before, after goruntime.MemStats
		var kept any
		goruntime.ReadMemStats(&before)
		trimmed, err := TrimBinding(binding)
		if err != nil {
			t.Fatal(err)
		}
		kept = trimmed
		MayRun(binding, copied, "a", 1)
		goruntime.ReadMemStats(&after)
		goruntime.KeepAlive(kept)
		const perByte, constant = 256, 1 << 20
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(perByte*len(raw)+constant); got > most {
			t.Fatalf("%d bytes allocate %d bytes, more than %d", len(raw), got, most)
		}
	})
}

// TestReportTooLarge: a report that is larger than any agent's confirms nothing.
func TestReportTooLarge(t *testing.T) {
	copied := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 5}}
	const current = `{"generation":2,"observedGeneration":2,"resourceTemplateGeneration":5`
	for name, report := range map[string]string{
		"indices twice": current + `,"indices":[{"existing":"0"},{"existing":"2"}]}`,
		"a long text":   current + `,"indices":[{"existing":"` + strings.Repeat("0,", 20000) + `"}]}`,
	} {
		if !MayRun(trimBinding(t, reporting(map[string]string{"a": report, "b": ""})), copied, "a", 1) {
			t.Errorf("%s: the index is released", name)
		}
		if DecodeReport(&runtime.RawExtension{Raw: []byte(report)}) != nil {
			t.Errorf("%s: it is read", name)
		}
	}
}
