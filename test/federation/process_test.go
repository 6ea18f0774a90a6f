// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newFolder returns a federation without processes.
func newFolder(t *testing.T) *Federation {
	t.Helper()
	f := &Federation{folder: t.TempDir(), pki: &pki{}}
	for _, part := range parts {
		if err := os.MkdirAll(filepath.Join(f.folder, part), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := f.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// shell returns a process that runs a script.
func shell(name, script string) Process {
	return Process{Name: name, Path: "/bin/sh", Args: []string{"-c", script}}
}

// fileThere returns a readiness check that passes when a file of the
// federation's folder exists.
func fileThere(f *Federation, name string) func(context.Context) error {
	return func(context.Context) error {
		_, err := os.Stat(filepath.Join(f.folder, name))
		return err
	}
}

func running(f *Federation, name string) bool {
	for _, status := range f.Status() {
		if status.Name == name {
			return status.Running
		}
	}
	return false
}

func TestProcessEnds(t *testing.T) {
	const obedient = "trap 'echo got TERM; exit 0' TERM; touch up; while :; do sleep 0.05; done"
	tests := map[string]struct {
		end     func(f *Federation, name string) error
		wantLog string
	}{
		"stopped": {end: (*Federation).StopProcess, wantLog: "got TERM\n"},
		"killed":  {end: (*Federation).KillProcess, wantLog: ""},
		"down":    {end: func(f *Federation, _ string) error { return f.Down(context.Background()) }, wantLog: "got TERM\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			p := shell("one", obedient)
			p.Ready = fileThere(f, "up")
			if err := f.StartProcess(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if !running(f, "one") {
				t.Fatal("the started process does not run")
			}
			if err := f.StartProcess(t.Context(), p); err == nil {
				t.Error("a second process of the same name was started")
			}
			if err := test.end(f, "one"); err != nil {
				t.Fatal(err)
			}
			if running(f, "one") {
				t.Error("the process still runs")
			}
			log, err := os.ReadFile(filepath.Join(f.folder, "log", "one.log"))
			if err != nil {
				t.Fatal(err)
			}
			if string(log) != test.wantLog {
				t.Errorf("log is %q, want %q", log, test.wantLog)
			}
		})
	}
}

func TestFailedStartShowsTheEndOfTheLog(t *testing.T) {
	f := newFolder(t)
	p := shell("broken", "for i in $(seq 100); do echo line $i; done; exit 3")
	p.Ready = func(context.Context) error { return errors.New("not yet") }
	err := f.StartProcess(t.Context(), p)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"broken", "exit status 3", "line 100", "line 81"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "line 80") {
		t.Errorf("the error shows more than the last lines: %v", err)
	}
}

func TestInterruptedStartLeavesNothing(t *testing.T) {
	f := newFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	p := shell("slow", "trap '' TERM; while :; do sleep 0.05; done")
	p.Ready = func(context.Context) error {
		cancel()
		return errors.New("not yet")
	}
	if err := f.StartProcess(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want the cancellation", err)
	}
	if running(f, "slow") {
		t.Error("the process was left behind")
	}
}

func TestReusedPIDIsNotSignalled(t *testing.T) {
	f := newFolder(t)
	if err := f.StartProcess(t.Context(), shell("bystander", "exec sleep 60")); err != nil {
		t.Fatal(err)
	}
	bystander, err := f.record("bystander")
	if err != nil {
		t.Fatal(err)
	}
	// The record of an ended process whose pid the bystander has.
	stale := bystander
	stale.Name, stale.StartTime = "stale", bystander.StartTime-1
	if err := writeJSON(f.recordFile("stale"), stale); err != nil {
		t.Fatal(err)
	}
	if running(f, "stale") {
		t.Error("a reused pid counts as running")
	}
	for _, end := range []func(string) error{f.StopProcess, f.KillProcess} {
		if err := end("stale"); err != nil {
			t.Error(err)
		}
	}
	if !running(f, "bystander") {
		t.Error("the process that got the pid was signalled")
	}
}

func TestDownStopsInOrderAndFromAnotherProgram(t *testing.T) {
	f := newFolder(t)
	if err := writeJSON(f.stateFile(), state{}); err != nil {
		t.Fatal(err)
	}
	for name, stage := range map[string]stage{"store": stageStore, "server": stageServer, "guest": stageGuest} {
		p := shell(name, "trap 'echo "+name+" >> order; exit 0' TERM; touch "+name+"; while :; do sleep 0.05; done")
		p.stage, p.Ready = stage, fileThere(f, name)
		if err := f.StartProcess(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := Open(f.folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(opened.Status()); got != 3 {
		t.Errorf("%d processes seen by another program, want 3", got)
	}
	for range 2 { // the second call has nothing to do
		if err := opened.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := opened.Status(); len(got) != 0 {
		t.Errorf("after down there is %v", got)
	}
	order, err := os.ReadFile(filepath.Join(f.folder, "order"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "guest\nserver\nstore\n"; string(order) != want {
		t.Errorf("stopped in order %q, want %q", order, want)
	}
}

func TestOpenWithoutFederation(t *testing.T) {
	if _, err := Open(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want one that is fs.ErrNotExist", err)
	}
}
