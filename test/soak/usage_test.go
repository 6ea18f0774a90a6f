// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"strings"
	"testing"
)

func TestParseUsage(t *testing.T) {
	metrics := `# HELP process_resident_memory_bytes Resident memory size in bytes.
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 4.3e+07
process_resident_memory_bytes_other 5
process_start_time_seconds 1.76e+09
`
	if got, err := parseUsage(strings.NewReader(metrics)); err != nil || got != (Usage{Memory: 43e6, Started: 1.76e9}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, broken := range map[string]string{
		memoryMetric: strings.ReplaceAll(metrics, memoryMetric, "other"),
		startMetric:  "process_resident_memory_bytes 1\n",
	} {
		if _, err := parseUsage(strings.NewReader(broken)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
