// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"encoding/json"
	goruntime "runtime"
	"strings"
	"testing"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// FuzzReport reads a cell's report: the length of the report bounds the memory, and the kept part is not longer than
// the report. A report releases an index only with the fields that prove it.
func FuzzReport(f *testing.F) {
	const current = `"generation":2,"observedGeneration":2,"resourceTemplateGeneration":5`
	for _, report := range []string{
		``, `null`, `{}`, `{` + current + `,"indices":[{"existing":"0-3,7"}]}`,
		`{` + current + `,"indices":[{"existing":"` + strings.Repeat("0-9999,", 4681) + `"}]}`,
		`{` + current + `,"indices":[` + strings.Repeat(`{"existing":"0-9999"},`, 3000) + `{}]}`,
		`{` + current + `,"conditions":[` + strings.Repeat(`{"type":"Suspended"},`, 3000) + `{}]}`,
		`{` + current + `,"replicas":"3","indices":[{"existing":"0"}]}`, `{` + current + `,"indices":[{"existing":7}]}`,
		`{` + current + `,"indices":[null,7]}`,
		`{"generation":"2","observedGeneration":[],"resourceTemplateGeneration":5,"indices":[{"existing":"0"}]}`,
		`{` + current + `,"conditions":[` + strings.Repeat(`{"type":7},`, 3000) + `{}],"reports":[` + strings.Repeat(`[],`, 3000) + `{}]}`,
	} {
		f.Add([]byte(report))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		copied := reporting(t, nil).copied
		work := planes.WorkOf(t, copied, "a")
		work.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &runtime.RawExtension{Raw: raw}}}
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		kept := trimmed(t, work)
		reports := ReportsIn(copied, newBinding("a"), map[string]*workv1alpha1.Work{"a": kept})
		released := !reports.MayRun("a", 1)
		_ = reports.Status()
		goruntime.ReadMemStats(&after)
		goruntime.KeepAlive(kept)
		const perByte, constant = 256, 1 << 20
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(perByte*len(raw)+constant); got > most {
			t.Fatalf("%d bytes allocate %d bytes, more than %d", len(raw), got, most)
		}
		if released && !proves(raw) {
			t.Fatalf("the index is released by %s", raw)
		}
	})
}

// proves reports whether the fields of a report that prove the end of an Instance have their types, whatever the others
// have.
func proves(raw []byte) bool {
	for _, fields := range []any{
		&struct {
			ResourceTemplateGeneration float64 `json:"resourceTemplateGeneration"`
		}{},
		&struct {
			Generation float64 `json:"generation"`
		}{},
		&struct {
			ObservedGeneration float64 `json:"observedGeneration"`
		}{},
		&struct {
			Indices []struct {
				Existing string `json:"existing"`
			} `json:"indices"`
		}{},
	} {
		if json.Unmarshal(raw, fields) != nil {
			return false
		}
	}
	return true
}

// TestReportTooLarge: a report that is larger than any agent's confirms nothing.
func TestReportTooLarge(t *testing.T) {
	const current = `{"generation":2,"observedGeneration":2,"resourceTemplateGeneration":5`
	for name, report := range map[string]string{
		"indices twice": current + `,"indices":[{"existing":"0"},{"existing":"2"}]}`,
		"a long text":   current + `,"indices":[{"existing":"` + strings.Repeat("0,", 20000) + `"}]}`,
		"a long report": current + `,"selector":"` + strings.Repeat("0", maxReport) + `","indices":[{"existing":"0"}]}`,
	} {
		if !reporting(t, map[string]string{"a": report, "b": ""}).MayRun("a", 1) {
			t.Errorf("%s: the index is released", name)
		}
		if read := DecodeReport(&runtime.RawExtension{Raw: []byte(report)}); read != nil && len(read.Indices) > 0 {
			t.Errorf("%s: it is read", name)
		}
	}
}
