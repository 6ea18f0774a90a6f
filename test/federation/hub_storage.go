// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// hubProcesses are the processes that read or write the hub's storage, in the order in which they are stopped.
var hubProcesses = []string{
	"karmada-scheduler", "karmada-controller-manager", "karmada-webhook", planeHub + "-kube-controller-manager",
	"karmada-aggregated-apiserver", planeHub + "-kube-apiserver",
}

// ReplaceHub restarts the hub with an empty storage, installs Karmada there and joins the cells in push mode, as an operator does
// who has lost the hub. The cells keep running. restore sets the hub back to the former storage; the add-on must be enabled again
// after both.
func (f *Federation) ReplaceHub(ctx context.Context) (restore func(context.Context) error, err error) {
	if err := f.stopHub(); err != nil {
		return nil, err
	}
	backup, err := f.Backup(ctx, planeHub)
	if err != nil {
		return nil, errors.Join(err, f.startHub(ctx))
	}
	restore = func(ctx context.Context) error {
		if err := errors.Join(f.stopHub(), f.Restore(ctx, backup)); err != nil {
			return err
		}
		return f.startHub(ctx)
	}
	if err := f.Restore(ctx, &Backup{prefixes: backup.prefixes}); err != nil {
		return restore, err
	}
	if err := f.startHub(ctx); err != nil {
		return restore, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for _, cell := range f.Cells() {
		if !cell.Pull {
			group.Go(func() error { return f.join(groupCtx, cell) })
		}
	}
	return restore, group.Wait()
}

func (f *Federation) stopHub() error {
	for _, process := range hubProcesses {
		if err := f.StopProcess(process); err != nil {
			return fmt.Errorf("stop the hub: %w", err)
		}
	}
	return nil
}
