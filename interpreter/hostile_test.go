// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"unicode"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// FuzzAggregateStatus aggregates the reports of cells, in Go and in Lua: both agree, in memory that the length of the
// reports bounds, and the status of the hub's copy is not longer than the reports.
func FuzzAggregateStatus(f *testing.F) {
	for _, report := range []string{
		`{}`, `{"generation":1,"observedGeneration":1,"resourceTemplateGeneration":4,"indices":[{"existing":"0-9999"}]}`,
		`{"indices":[` + strings.Repeat(`{"existing":"0-9999,0-9999"},`, 300) + `{}]}`,
		`{"conditions":[` + strings.Repeat(`{"type":"A","status":"True"},`, 300) + `{"type":"B"}]}`,
		`{"reports":[{"states":[{"conditions":[` + strings.Repeat(`{"type":"A"},`, 300) + `{}]}],"instances":[` +
			strings.Repeat(`{"index":1},`, 300) + `{"index":-1,"state":9}]}]}`,
		hostileTexts(strings.Repeat("a", 4000)), hostileTexts("\\u001b[31m\\u0007"), hostileTexts("é\\u0000 <b>"),
		`{"indices":[{"existing":"0","held":"` + strings.Repeat("0,", 30000) + `"}]}`,
		`{"reports":[{"instances":[` + strings.Repeat(`{"networkInterfaces":[{"assignments":{"networkIP":"10.0.0.1"}}]},`,
			500) + `{}],"states":[` + strings.Repeat(`{"templateHash":"a"},`, 900) + `{}]}]}`,
		`{"reports":[{"instances":[{"networkInterfaces":[` + strings.Repeat(`{"assignments":{}},`, 900) +
			`{}]}],"states":[{"schedulingGates":[` + strings.Repeat(`{"name":"a"},`, 900) + `{}]}]}]}`,
		`{"replicas":"x","readyReplicas":1e300,"conditions":7,"reports":[{"states":{"a":1},"instances":[null,{"index":"0","since":[]}]}],"indices":[{"existing":7,"floorSequence":-9e15}]}`,
		`{"reports":[{"instances":[` + strings.Repeat(`{},`, 20000) + `{"index":""}]}]}`, `[null]`,
		`{"reports":[null,[],{"states":[[],[null],{}],"instances":[{"state":2.0}]}]}`,
	} {
		f.Add([]byte(report))
	}
	object := json.RawMessage(`{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadDeployment","metadata":{"name":"web","namespace":"ns-1","generation":4},
		"spec":{"assignment":{"cells":[{"name":"a","indices":[{"first":0,"last":3}]},{"name":"b","indices":[{"first":4,"last":4}]}]}}}`)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) || len(raw) > 1<<16 {
			return
		}
		c := &golden{Object: object, Items: []workv1alpha2.AggregatedStatusItem{
			{ClusterName: "a", Status: &apiruntime.RawExtension{Raw: raw}},
			{ClusterName: "b", Status: &apiruntime.RawExtension{Raw: []byte(`{"generation":1}`)}},
		}}
		const perByte, constant = 1024, 4 << 20
		statuses := map[string]any{}
		for by, run := range map[string]func() (answer, error){
			"Go":  func() (answer, error) { return served(t, configv1alpha1.InterpreterOperationAggregateStatus, c) },
			"Lua": func() (answer, error) { return scripted(t, configv1alpha1.InterpreterOperationAggregateStatus, c) },
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := run()
			runtime.ReadMemStats(&after)
			if used, most := after.TotalAlloc-before.TotalAlloc, uint64(perByte*len(raw)+constant); used > most {
				t.Fatalf("%s: %d bytes allocate %d bytes, more than %d", by, len(raw), used, most)
			}
			if err != nil {
				t.Fatalf("%s: the report of one cell stops all: %v", by, err)
			}
			statuses[by] = kept(t, configv1alpha1.InterpreterOperationAggregateStatus, got)
			if len(encoded(t, got["object"])) > 4*len(raw)+len(object)+4096 {
				t.Fatalf("%s: %d bytes become %d bytes", by, len(raw), len(encoded(t, got["object"])))
			}
			tree, _ := asTree(t, got["object"]).(map[string]any)
			checkBounds(t, by, "status", tree["status"])
		}
		same(t, "Lua", statuses["Lua"], statuses["Go"])
	})
}

// hostileTexts is a report in which every text is this one, in JSON.
func hostileTexts(text string) string {
	condition := `{"type":"` + text + `","status":"` + text + `","reason":"` + text + `","message":"` + text + `"}`
	hashes := `"templateHash":"` + text + `","observedTemplateHash":"` + text + `","dataHash":"` + text + `",`
	described := hashes + `"schedulingGates":[{"name":"` + text + `"}]`
	addresses := `"networkInterfaces":[{"assignments":{"networkIP":"` + text + `","externalIP":"` + text + `"}}]`
	return `{"conditions":[` + condition + `],
		"reports":[{"cell":"` + text + `","states":[{` + described + `,"conditions":[` + condition +
		`]}],"instances":[{"since":"` + text + `",` + addresses + `}]}],
		"indices":[{"cell":"` + text + `","existing":"0","templateHash":"` + text + `","dataMissing":"` + text + `",
		"addresses":"` + text + `"}]}`
}

// checkBounds checks every list and text of a status.
func checkBounds(t *testing.T, by, path string, value any) {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		for member, below := range value {
			checkBounds(t, by, path+"."+member, below)
		}
	case []any:
		if len(value) > wire.MaxInstances {
			t.Fatalf("%s: %s has %d entries", by, path, len(value))
		}
		for _, below := range value {
			checkBounds(t, by, path, below)
		}
	case string:
		most := v1alpha.MaxMessage
		switch {
		case strings.HasPrefix(path, "status.indices."):
			most = wire.IndicesText.Max
		case strings.HasSuffix(path, ".since"):
			most = wire.SinceText.Max
		case path == "status.conditions.message":
			most += len("cell a: ")
		}
		if len(value) > most || strings.ContainsFunc(value, unicode.IsControl) {
			t.Fatalf("%s: %s is %q", by, path, value)
		}
	}
}

// TestLongReports: Karmada ends a script after a second, and with it the reports of all cells. So what exceeds the
// bounds of a report is not read.
func TestLongReports(t *testing.T) {
	containers := `{"containers":[` + strings.Repeat(`{"name":"a"},`, 20) + `{"name":"a"}]}`
	for name, test := range map[string]struct {
		report string
		entry  string
		want   int
	}{
		"entries": {`{"reports":[{"instances":[` + strings.Repeat(`{"since":"0"},`, 5000) + `7]}]}`, `"since":"0"`, wire.MaxInstances},
		"containers": {
			`{"replicas":"x","reports":[{"instances":[` + strings.Repeat(containers+",", 600) + `{}]}]}`, `"name":"a"`, wire.MaxOfType,
		},
	} {
		c := &golden{Object: json.RawMessage(`{"metadata":{"generation":4}}`), Items: []workv1alpha2.AggregatedStatusItem{
			{ClusterName: "a", Status: &apiruntime.RawExtension{Raw: []byte(test.report)}},
		}}
		for by, run := range map[string]func() (answer, error){
			"Go":  func() (answer, error) { return served(t, configv1alpha1.InterpreterOperationAggregateStatus, c) },
			"Lua": func() (answer, error) { return scripted(t, configv1alpha1.InterpreterOperationAggregateStatus, c) },
		} {
			got, err := run()
			if entries := strings.Count(string(encoded(t, got["object"])), test.entry); err != nil || entries != test.want {
				t.Errorf("%s, %s: %d entries, want %d, %v", name, by, entries, test.want, err)
			}
		}
	}
}
