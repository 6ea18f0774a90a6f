// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// startKeeper starts a process that stops the federation when this program ends for whatever reason, SIGKILL included.
// The keeper reads from a pipe that only this program can write to, so that the kernel ends its input with this
// program.
func (f *Federation) startKeeper() error {
	log, err := os.OpenFile(filepath.Join(f.folder, "log", "keeper.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("start the federation's keeper: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	// No context ends the keeper: it must outlive this program.
	cmd := exec.CommandContext(context.Background(), f.ownBinary(), "keep", "--folder="+f.folder)
	cmd.Stdout, cmd.Stderr = log, log
	// In its own session Ctrl-C in this terminal does not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	alive, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the federation's keeper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the federation's keeper: %w", err)
	}
	watched.Lock()
	defer watched.Unlock()
	watched.alive = append(watched.alive, alive)
	return nil
}

// watched holds this program's ends of the keepers' pipes: garbage collection would close them.
var watched struct {
	sync.Mutex
	alive []io.Closer
}

// Keep reads owner to its end, which the kernel signals when the program that started the federation ends, and then
// kills all remaining processes of the federation. It is the body of the keeper's process.
func (f *Federation) Keep(owner io.Reader) error {
	if _, err := io.Copy(io.Discard, owner); err != nil {
		return fmt.Errorf("wait for the end of the federation's program: %w", err)
	}
	now, cancel := context.WithCancel(context.Background())
	cancel() // Down sends SIGKILL at once: a graceful stop is no longer needed
	err := f.Down(now)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the federation was stopped and its folder removed
	}
	return err
}
