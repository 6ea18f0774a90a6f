// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/util/wait"
)

// record describes a started process, in <folder>/run/<name>.json.
type record struct {
	Name string
	PID  int
	// StartTime is the kernel's start time of the process, in clock ticks
	// since boot. It distinguishes the process from a later one with the same
	// pid, which is never signalled.
	StartTime uint64
	Log       string
	Stage     stage
}

// ProcessStatus is the status of one process of a federation.
type ProcessStatus struct {
	Name    string
	PID     int
	Running bool
	// Log is the path of the process's log.
	Log string
}

// Status lists every process of the federation, sorted by reverse stop order
// and name. A process that was stopped or has died is not running.
func (f *Federation) Status() []ProcessStatus {
	var status []ProcessStatus
	for _, rec := range slices.Backward(f.records()) {
		status = append(status, ProcessStatus{Name: rec.Name, PID: rec.PID, Running: rec.alive(), Log: rec.Log})
	}
	return status
}

// Down stops every process: first those started through StartProcess, then
// routers, controllers, kube-apiservers and etcd. Each gets SIGTERM and, after
// 20 s or when ctx ends, SIGKILL. Logs and audit logs are kept. Down may be
// called again, and by another program than the one that called Up.
func (f *Federation) Down(ctx context.Context) error {
	var errs []error
	for stage := range stageEnd {
		// Each stage reads the records again: until Milo's router is stopped it
		// may start processes.
		errs = append(errs, f.stopStage(ctx, stage)...)
	}
	errs = append(errs, f.removeContainerNodes())
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, rec := range f.records() {
		errs = append(errs, os.Remove(f.recordFile(rec.Name)))
	}
	return errors.Join(append(errs, releasePorts(f.folder))...)
}

// stopStage stops all processes of one stage in parallel.
func (f *Federation) stopStage(ctx context.Context, stage stage) []error {
	records := slices.DeleteFunc(f.records(), func(r record) bool { return r.Stage != stage })
	errs := make([]error, len(records))
	var group sync.WaitGroup
	for i, rec := range records {
		group.Go(func() { errs[i] = rec.stop(ctx, syscall.SIGTERM) })
	}
	group.Wait()
	return errs
}

func (f *Federation) recordFile(name string) string {
	return filepath.Join(f.folder, "run", name+".json")
}

func (f *Federation) record(name string) (record, error) {
	var rec record
	return rec, readJSON(f.recordFile(name), &rec)
}

// records reads all records in stop order. A record that cannot be read was
// removed meanwhile: records are written atomically.
func (f *Federation) records() []record {
	paths, _ := filepath.Glob(f.recordFile("*")) // the only error is a bad pattern
	var records []record
	for _, path := range paths {
		var rec record
		if err := readJSON(path, &rec); err == nil {
			records = append(records, rec)
		}
	}
	slices.SortFunc(records, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), -cmp.Compare(a.Name, b.Name))
	})
	return records
}

// alive reports whether the recorded process is running.
func (r record) alive() bool {
	started, ended, err := processStat(r.PID)
	return err == nil && !ended && started == r.StartTime
}

// stop signals the process and waits until it is gone. After stopTimeout, or
// when ctx ends, it sends SIGKILL.
func (r record) stop(ctx context.Context, signal syscall.Signal) error {
	if err := r.signal(signal); err != nil {
		return err
	}
	gone := func(context.Context) (bool, error) { return !r.alive(), nil }
	if err := wait.PollUntilContextTimeout(ctx, goneInterval, stopTimeout, true, gone); err == nil {
		return nil
	}
	if err := r.signal(syscall.SIGKILL); err != nil {
		return err
	}
	if err := wait.PollUntilContextTimeout(context.WithoutCancel(ctx), goneInterval, killTimeout, true, gone); err != nil {
		return fmt.Errorf("%s, pid %d, is still running after SIGKILL: %w", r.Name, r.PID, err)
	}
	return nil
}

// signal sends a signal to the process if it is still the recorded one. The
// handle is opened before the check: it pins the process, so that the pid
// cannot be reused in between.
func (r record) signal(signal syscall.Signal) error {
	process, err := os.FindProcess(r.PID)
	if err != nil {
		return fmt.Errorf("find %s, pid %d: %w", r.Name, r.PID, err)
	}
	defer func() { _ = process.Release() }() // nothing to do on an error
	if !r.alive() {
		return nil
	}
	if err := process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s, pid %d: %w", r.Name, r.PID, err)
	}
	return nil
}

// processStat reads the kernel's start time of a process and whether it has
// ended and only waits to be reaped. A process whose main thread has ended
// holds its ports until its last thread has.
func processStat(pid int) (started uint64, ended bool, err error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, false, err
	}
	stat, err := process.Stat()
	return stat.Starttime, (stat.State == "Z" || stat.State == "X") && stat.NumThreads <= 1, err
}

// lastLines returns the last n lines of content.
func lastLines(content []byte, n int) string {
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
