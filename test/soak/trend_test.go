// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"strings"
	"testing"
	"time"
)

// TestTrend compares the second quarter with the last, and leaves out restarted processes.
func TestTrend(t *testing.T) {
	var readings []Reading
	for i := range 12 {
		restarted := 1.0
		if i > 8 {
			restarted = 2
		}
		readings = append(readings, Reading{
			At: time.Duration(i+1) * time.Minute, Workloads: 40,
			Processes: map[string]Usage{
				"replica/0": {Memory: float64(100+i) * (1 << 20), Goroutines: 300, Started: 1},
				"agent/dfw": {Memory: 1 << 20, Goroutines: 10, Started: restarted},
			},
			Writes: map[string]float64{"hub": 20},
		})
	}
	want := strings.Join([]string{
		"| 12 readings in 12 min | second quarter | last quarter | change |",
		"| --- | ---: | ---: | ---: |",
		"| Workloads | 40.0 | 40.0 | +0 % |",
		"| replica/0: memory | 104.0 MiB | 110.0 MiB | +6 % |",
		"| replica/0: goroutines | 300.0 | 300.0 | +0 % |",
		"| hub: writes | 20.0 a second | 20.0 a second | +0 % |",
	}, "\n")
	if got := Trend(readings); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Trend(readings[:leastReadings-1]); got != "" {
		t.Errorf("of too few readings it is\n%s", got)
	}
}

func TestParseUsage(t *testing.T) {
	metrics := `# HELP go_goroutines Number of goroutines that currently exist.
# TYPE go_goroutines gauge
go_goroutines 312
go_goroutines_other 5
process_resident_memory_bytes 4.3e+07
process_start_time_seconds 1.76e+09
`
	if got, err := parseUsage(strings.NewReader(metrics)); err != nil || got != (Usage{Memory: 43e6, Goroutines: 312, Started: 1.76e9}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, broken := range map[string]string{
		memoryMetric:    strings.ReplaceAll(metrics, memoryMetric, "other"),
		goroutineMetric: strings.ReplaceAll(metrics, "go_goroutines 312", ""),
		startMetric:     "go_goroutines 1\nprocess_resident_memory_bytes 1\n",
	} {
		if _, err := parseUsage(strings.NewReader(broken)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
