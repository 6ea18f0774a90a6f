// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrNotRunning reports that the process to kill has already ended.
var ErrNotRunning = errors.New("it is not running")

// StartAgain starts a process that has ended, with the arguments with which this Federation started it before, and
// waits until it is ready. It is no error if the process is running. As a kubelet does, it restarts a process that ends
// before it is ready, for example because its API server is down, until ctx ends or three minutes have passed.
func (f *Federation) StartAgain(ctx context.Context, name string) error {
	f.mu.Lock()
	p, ok := f.started[name]
	f.mu.Unlock()
	if !ok {
		return fmt.Errorf("process %q was not started by this program", name)
	}
	err := await(ctx, restartInterval, func(ctx context.Context) error {
		if f.isRunning(name) {
			return nil
		}
		return f.StartProcess(ctx, p)
	})
	if err != nil {
		return fmt.Errorf("start %s again: %w", name, err)
	}
	return nil
}

// Processes returns the names of the processes that StartAgain can start, in order.
func (f *Federation) Processes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for name := range f.started {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
