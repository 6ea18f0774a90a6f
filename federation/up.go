// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Up builds what is not built yet, starts a federation and waits until every
// project and cell is Ready. On any error, and when ctx ends before that,
// everything that was started is stopped again before Up returns. After Up has
// returned the federation no longer depends on ctx or on this program.
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
	binaries, err := buildTools(ctx, o, progress)
	if err != nil {
		return nil, err
	}
	karmada, err := karmadaFolder(ctx, o.Repository)
	if err != nil {
		return nil, err
	}
	f, err := create(o, binaries, karmada, progress)
	if err != nil {
		return nil, err
	}
	progress.printf("federation in %s", o.Folder)
	if err := f.boot(ctx, o.Projects); err != nil {
		progress.printf("failed, stopping everything")
		return nil, errors.Join(fmt.Errorf("federation in %s did not start: %w", o.Folder, err), f.Down(context.WithoutCancel(ctx)))
	}
	progress.printf("federation is up")
	return f, nil
}

// boot starts everything, what does not depend on each other at once.
func (f *Federation) boot(ctx context.Context, projects []string) error {
	group, ctx := errgroup.WithContext(ctx)
	built := make(chan struct{})
	group.Go(func() error {
		defer close(built)
		return buildOwn(ctx, f.state.Repository, f.binFolder(), "./cmd/federation")
	})
	if err := f.startEtcd(ctx); err != nil {
		return errors.Join(err, group.Wait())
	}
	group.Go(func() error {
		if err := f.bootKarmada(ctx); err != nil {
			return err
		}
		return f.joinAll(ctx, built)
	})
	group.Go(func() error {
		if err := f.startMiloRoot(ctx); err != nil {
			return err
		}
		if err := await(ctx, built); err != nil {
			return err
		}
		return f.startMilo(ctx, projects)
	})
	return group.Wait()
}

// await waits until a channel is closed.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// bootKarmada starts hub and cells.
func (f *Federation) bootKarmada(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return f.startHub(ctx) })
	for _, cell := range f.Cells() {
		group.Go(func() error { return f.startCell(ctx, cell) })
	}
	return group.Wait()
}

// joinAll makes the cells members of the hub. The karmada-agent of a cell in
// pull mode runs in what was built.
func (f *Federation) joinAll(ctx context.Context, built <-chan struct{}) error {
	if err := await(ctx, built); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, cell := range f.Cells() {
		group.Go(func() error { return f.join(ctx, cell) })
	}
	return group.Wait()
}
