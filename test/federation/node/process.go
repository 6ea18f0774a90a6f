// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// starter starts processes that end with this one, even if it is killed. Linux ends them with the thread that started
// them, so this thread must live as long as this process.
type starter struct{ requests chan func() }

func newStarter(ctx context.Context) *starter {
	s := &starter{requests: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for {
			select {
			case request := <-s.requests:
				request()
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

// process is a process of a container.
type process struct {
	cmd     *exec.Cmd
	started time.Time
	// ended is closed when the process has ended and cmd.ProcessState is set.
	ended chan struct{}
}

// program holds the executable, arguments and environment of a container.
type program struct {
	path, folder, log string
	args, env         []string
}

// start starts a program. Its output is appended to its log.
func (s *starter) start(p program) (*process, error) {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	// No context ends the process: it is ended with a grace period.
	cmd := exec.CommandContext(context.Background(), p.path, p.args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = p.folder, p.env, log, log,
		// The first of its own group, which ends with the thread that started it.
		&syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	s.requests <- func() { result <- cmd.Start() }
	if err := <-result; err != nil {
		return nil, err
	}
	started := &process{cmd: cmd, started: time.Now(), ended: make(chan struct{})}
	go func() {
		defer close(started.ended)
		_ = cmd.Wait() // the error is the exit code, which cmd.ProcessState has
		// Its children end with it, as in a container.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}()
	return started, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// end asks the process to end. When the context ends, it sends SIGKILL to the process and its children. end returns
// when the process has ended.
func (p *process) end(kill context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal process %d: %w", p.pid(), err)
	}
	select {
	case <-p.ended:
		return nil
	case <-kill.Done():
	}
	if err := syscall.Kill(-p.pid(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill process %d: %w", p.pid(), err)
	}
	<-p.ended
	return nil
}

// exit returns the exit code, as in a shell, of an ended process, and the signal that ended it.
func (p *process) exit() (code, signal int32) {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int32(status.Signal()), int32(status.Signal()) //nolint:gosec // Signals are small numbers.
	}
	return int32(p.cmd.ProcessState.ExitCode()), 0 //nolint:gosec // So are exit codes.
}
