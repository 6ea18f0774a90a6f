// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"
	"time"
)

func TestParseMemory(t *testing.T) {
	got, err := parseMemory("Name:\tbench\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\nThreads:\t7\n")
	if want := (memory{rss: 10 << 20, peak: 20 << 20}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for name, status := range map[string]string{"ended": "Name:\tbench\nState:\tZ (zombie)\n", "no number": "VmRSS:\tmuch\n"} {
		if _, err := parseMemory(status); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestParseCPU(t *testing.T) {
	got, err := parseCPU("42 (a ) name) S 1 42 42 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 7 0 99")
	if want := 2 * time.Second; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	for name, stat := range map[string]string{"short": "42 (bench) S 1", "empty": "", "no number": "42 (b) S 1 2 3 4 5 6 7 8 9 10 x 12 13"} {
		if _, err := parseCPU(stat); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOwnProcess(t *testing.T) {
	if m, err := memoryOf(os.Getpid()); err != nil || m.rss == 0 || m.peak < m.rss {
		t.Errorf("memory %+v, %v", m, err)
	}
	if _, err := cpuOf(os.Getpid()); err != nil {
		t.Error(err)
	}
}
