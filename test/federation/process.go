// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// ReadyTimeout is how long a process may take to become ready. The hub's kube-apiserver, which first reads each of its
// roles, has taken more than three minutes beside a federation that started on the same two CPUs.
const ReadyTimeout = 10 * time.Minute

const (
	readyInterval = 100 * time.Millisecond
	// stopTimeout is the grace period between SIGTERM and SIGKILL.
	stopTimeout = 20 * time.Second
	// killTimeout is how long a killed process may take to disappear.
	killTimeout  = 10 * time.Second
	goneInterval = 20 * time.Millisecond
	// restartInterval is the delay before a process that ended during its start is restarted.
	restartInterval = time.Second
	// collect is GOGC of every process. Collecting garbage less often saves CPU time, which is scarcer than memory.
	collect = "GOGC=400"
	// tailLines is the number of log lines in the error about a failed process.
	tailLines = 20
)

// Process is a process to start in the federation.
type Process struct {
	// Name is unique within the federation and names the log file.
	Name string
	// Path of the binary.
	Path string
	// Args after the binary's name.
	Args []string
	// Env is added to the environment of this program.
	Env []string
	// Ready is polled until it returns nil; the start fails after
	// ReadyTimeout or when the process exits. Nil: ready once started.
	Ready func(ctx context.Context) error

	stage stage
}

// stage is the order in which processes are stopped: the lowest stage first.
type stage int

const (
	stageGuest stage = iota // processes started through StartProcess, and Pods
	stageRouter
	stageController
	stageServer
	stageStore
	stageEnd
)

// exit holds the exit state of a process that this program started.
type exit struct {
	done chan struct{} // closed when the process has ended
	how  string        // set before done is closed
}

// StartProcess starts a process in its own session, with its log in
// <folder>/log/<name>.log, and waits until it is ready. A process that does
// not become ready is killed; the error shows the end of its log. The process
// outlives ctx and, if the federation is detached, this program; Down stops it.
func (f *Federation) StartProcess(ctx context.Context, p Process) error {
	begin := time.Now()
	ended, rec, err := f.launch(p)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	if p.Ready == nil {
		return nil
	}
	err = waitReady(ctx, p, ended)
	if noteErr := f.noteStart(p.Name, begin); err == nil {
		err = noteErr
	}
	if err != nil {
		// The process must be killed even if it was ctx that ended the wait.
		stopErr := rec.stop(context.WithoutCancel(ctx), syscall.SIGKILL)
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("start of %s: %w", p.Name, context.Cause(ctx)), stopErr)
		}
		return errors.Join(fmt.Errorf("%s did not become ready: %w\n%s", p.Name, err, tail(rec.Log)), stopErr)
	}
	return nil
}

// launch starts p and records it.
func (f *Federation) launch(p Process) (*exit, record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := checkName("process", p.Name); err != nil {
		return nil, record{}, err
	}
	if old, err := f.record(p.Name); err == nil && old.alive() {
		return nil, record{}, fmt.Errorf("it is already running with pid %d", old.PID)
	}
	rec := record{Name: p.Name, Log: filepath.Join(f.folder, "log", p.Name+".log"), Stage: p.stage}
	log, err := os.OpenFile(rec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, rec, err
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, rec, err
	}
	defer func() { _ = null.Close() }()
	process, err := os.StartProcess(p.Path, append([]string{p.Path}, p.Args...), &os.ProcAttr{
		Dir: f.folder, Files: []*os.File{null, log, log},
		Env: append(append(os.Environ(), collect, tools.Threads(), "GOMEMLIMIT="+f.state.MemoryLimit), p.Env...),
		// In its own session Ctrl-C in this terminal does not reach it.
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, rec, err
	}
	rec.PID = process.Pid
	if rec.StartTime, _, err = processStat(rec.PID); err == nil {
		err = writeJSON(f.recordFile(p.Name), rec)
	}
	if err != nil {
		return nil, rec, errors.Join(fmt.Errorf("record pid %d: %w", rec.PID, err), process.Kill())
	}
	if f.started == nil {
		f.started = map[string]Process{}
	}
	f.started[p.Name] = p
	ended := &exit{done: make(chan struct{})}
	go func() {
		defer close(ended.done)
		state, err := process.Wait()
		ended.how = fmt.Sprintf("it exited: %v", state)
		if err != nil {
			ended.how = fmt.Sprintf("it exited: %v", err)
		}
	}()
	return ended, rec, nil
}

// waitReady polls p.Ready until it returns nil, the process ends or
// ReadyTimeout has passed.
func waitReady(ctx context.Context, p Process, ended *exit) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, readyInterval, ReadyTimeout, true, func(ctx context.Context) (bool, error) {
		select {
		case <-ended.done:
			return false, errors.New(ended.how)
		default:
		}
		probe, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		last = p.Ready(probe)
		return last == nil, nil
	})
	if err != nil && last != nil && wait.Interrupted(err) {
		return fmt.Errorf("%w; last error: %w", err, last)
	}
	return err
}

// StopProcess ends a process with SIGTERM, and SIGKILL after 20 s, and waits
// until it is gone. It is no error if the process is not running.
func (f *Federation) StopProcess(name string) error {
	return f.end(name, syscall.SIGTERM)
}

// KillProcess ends a process with SIGKILL and waits until it is gone.
func (f *Federation) KillProcess(name string) error {
	return f.end(name, syscall.SIGKILL)
}

func (f *Federation) end(name string, signal syscall.Signal) error {
	rec, err := f.record(name)
	if err != nil {
		return fmt.Errorf("no process %q in this federation: %w", name, err)
	}
	return rec.stop(context.Background(), signal)
}

// hints explain failures that the machine causes, by the text that they leave in the log.
var hints = map[string]string{
	"too many open files": "the limit of inotify instances (sysctl fs.inotify.max_user_instances) or of open files is " +
		"reached: raise it, or stop other federations",
	"address already in use": "another program has taken the port: try again",
}

// tail returns the last lines of a log for an error message, and a hint if one
// matches.
func tail(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Sprintf("its log cannot be read: %v", err)
	}
	end := lastLines(content, tailLines)
	text := fmt.Sprintf("last lines of %s:\n%s", path, end)
	for sign, hint := range hints {
		if strings.Contains(end, sign) {
			text = hint + "\n" + text
		}
	}
	return text
}
