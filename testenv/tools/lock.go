// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Lock takes an exclusive lock on a file. It waits until the lock is free or ctx ends. The kernel releases the lock
// when the process that holds it ends.
func Lock(ctx context.Context, path string) (func(), error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock: %w", err)
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		select {
		case <-ctx.Done():
			_ = file.Close() // nothing was written
			return nil, fmt.Errorf("wait for the lock %s: %w", path, ctx.Err())
		case <-ticker.C:
		}
	}
	return func() { _ = file.Close() }, nil // closing releases the lock
}
