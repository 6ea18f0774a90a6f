// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
)

// FuzzAggregateStatus sums up what cells report, in Go and in Lua: both agree, in memory that the length of the reports bounds, and the
// status of the hub's copy is not longer than they are.
func FuzzAggregateStatus(f *testing.F) {
	for _, report := range []string{
		`{}`, `{"generation":1,"observedGeneration":1,"resourceTemplateGeneration":4,"indices":[{"existing":"0-9999"}]}`,
		`{"indices":[` + strings.Repeat(`{"existing":"0-9999,0-9999"},`, 300) + `{}]}`,
		`{"conditions":[` + strings.Repeat(`{"type":"A","status":"True"},`, 300) + `{"type":"B"}]}`,
		`{"reports":[{"states":[{"conditions":[` + strings.Repeat(`{"type":"A"},`, 300) + `{}]}],"instances":[` + strings.Repeat(`{"index":1},`, 300) + `{"index":-1,"state":9}]}]}`,
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
		for by, run := range map[string]func() (answer, error){
			"Go":  func() (answer, error) { return direct(configv1alpha1.InterpreterOperationAggregateStatus, c) },
			"Lua": func() (answer, error) { return scripted(t, configv1alpha1.InterpreterOperationAggregateStatus, c) },
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := run()
			runtime.ReadMemStats(&after)
			if used, most := after.TotalAlloc-before.TotalAlloc, uint64(perByte*len(raw)+constant); used > most {
				t.Fatalf("%s: %d bytes allocate %d bytes, more than %d", by, len(raw), used, most)
			}
			if err == nil && len(encoded(t, got["object"])) > 4*len(raw)+len(object)+4096 {
				t.Fatalf("%s: %d bytes become %d bytes", by, len(raw), len(encoded(t, got["object"])))
			}
		}
	})
}
