// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestStartAgain: a killed process runs again with its arguments, also when it ends during its first start. A process
// that this handle has not started is an error.
func TestStartAgain(t *testing.T) {
	f := newFolder(t)
	// The process ends at once until there is a second file, as a process does whose API server is down.
	process := shell("stubborn", "touch up-$$; test -e may-run || exit 1; touch runs; while :; do sleep 0.05; done")
	process.Ready = fileThere(f, "runs")
	allow := filepath.Join(f.folder, "may-run")
	if err := os.WriteFile(allow, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.StartProcess(t.Context(), process); err != nil {
		t.Fatal(err)
	}
	if err := f.StartAgain(t.Context(), "stubborn"); err != nil {
		t.Errorf("it is running, and: %v", err)
	}
	if err := f.KillProcess("stubborn"); err != nil {
		t.Fatal(err)
	}
	if running(f, "stubborn") {
		t.Fatal("it survived")
	}
	if err := errors.Join(os.Remove(allow), os.Remove(filepath.Join(f.folder, "runs"))); err != nil {
		t.Fatal(err)
	}
	again := make(chan error)
	go func() { again <- f.StartAgain(t.Context(), "stubborn") }()
	// The file is created only after the process has ended again.
	for starts(t, f) < 2 {
		select {
		case err := <-again:
			t.Fatalf("it was not allowed to run, and: %v", err)
		default:
		}
	}
	if err := os.WriteFile(allow, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-again; err != nil {
		t.Fatal(err)
	}
	if !running(f, "stubborn") {
		t.Error("it does not run")
	}
	if !slices.Equal(f.Processes(), []string{"stubborn"}) {
		t.Errorf("processes are %v", f.Processes())
	}
	if err := f.StartAgain(t.Context(), "stranger"); err == nil {
		t.Error("a process that was never started was started again")
	}
}

// starts counts the started processes.
func starts(t *testing.T, f *Federation) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(f.folder, "up-*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}
