// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Up builds missing binaries, starts a federation and waits until every project
// and cell is Ready. On an error, or when ctx ends before that, it stops
// everything that it started before it returns. Afterwards the federation does
// not depend on ctx, and a detached one not on this program.
func Up(ctx context.Context, o Options) (*Federation, error) {
	progress := newProgress(o.Out)
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	progress.out = o.Out
	unlock, err := lock(ctx, o.Folder)
	if err != nil {
		return nil, err
	}
	defer unlock()
	binaries, err := o.build(ctx, progress)
	if err != nil {
		return nil, err
	}
	karmada, err := o.builder(progress).KarmadaFolder(ctx)
	if err != nil {
		return nil, err
	}
	f, err := create(o, binaries, karmada, progress)
	if err != nil {
		return nil, err
	}
	if err := f.buildOwn(ctx, ownCommand, karmadactlCommand); err != nil {
		return nil, err
	}
	if !o.Detached {
		if err := f.startKeeper(); err != nil {
			return nil, err
		}
	}
	progress.printf("starting a federation in %s", o.Folder)
	if err := f.boot(ctx, o.Projects); err != nil {
		progress.printf("the start failed, stopping everything")
		return nil, errors.Join(fmt.Errorf("federation in %s did not start: %w", o.Folder, err), f.Down(context.WithoutCancel(ctx)))
	}
	progress.printf("federation is up")
	return f, nil
}

// boot starts everything, in parallel where nothing depends on another part.
func (f *Federation) boot(ctx context.Context, projects []string) error {
	group, ctx := errgroup.WithContext(ctx)
	if err := f.startEtcd(ctx); err != nil {
		return err
	}
	group.Go(func() error {
		if err := f.bootKarmada(ctx); err != nil {
			return err
		}
		if f.state.WithoutMilo {
			if err := f.createProjects(ctx, projects); err != nil {
				return err
			}
		}
		return f.joinAll(ctx)
	})
	if f.state.Host {
		group.Go(func() error { return f.startHost(ctx) })
	}
	if !f.state.WithoutMilo {
		group.Go(func() error {
			if err := f.startMiloRoot(ctx); err != nil {
				return err
			}
			return f.startMilo(ctx, projects)
		})
	}
	return group.Wait()
}

// bootKarmada starts the hub and the cells.
func (f *Federation) bootKarmada(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return f.startHub(ctx) })
	for _, cell := range f.Cells() {
		group.Go(func() error { return f.startCell(ctx, cell) })
	}
	return group.Wait()
}

// joinAll joins all cells to the hub.
func (f *Federation) joinAll(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, cell := range f.Cells() {
		group.Go(func() error { return f.join(ctx, cell) })
	}
	return group.Wait()
}
