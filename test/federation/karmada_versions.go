// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// KarmadaOrder is the order in which a version of Karmada takes the place of another one.
type KarmadaOrder string

// Orders of an upgrade: the one that Karmada documents, CRDs before what reads them, and its reverse.
const (
	KarmadaDocumented KarmadaOrder = "documented"
	KarmadaReversed   KarmadaOrder = "reversed"
)

// UseKarmada replaces the running components of Karmada on the hub by the ones of another version: a minor version of
// hack/tools, the absolute path of a checkout, or "" for the version with which the federation began. The components keep their
// arguments. Clusters in pull mode keep their agents, as operators of many do for a while.
func (f *Federation) UseKarmada(ctx context.Context, version string, order KarmadaOrder) error {
	builder := f.builder()
	if version != "" {
		builder.Karmada = version
	}
	components := []string{
		tools.KarmadaAggregatedAPIServer, tools.KarmadaControllerManager, tools.KarmadaScheduler, tools.KarmadaWebhook,
	}
	paths, err := builder.Build(ctx, components...)
	if err != nil {
		return err
	}
	folder, err := builder.KarmadaFolder(ctx)
	if err != nil {
		return err
	}
	steps := []func(context.Context) error{func(ctx context.Context) error { return f.applyKarmadaCRDs(ctx, folder) }}
	for _, name := range components {
		steps = append(steps, func(ctx context.Context) error { return f.replaceBinary(ctx, name, paths[name]) })
	}
	for i := range steps {
		next := steps[i]
		if order == KarmadaReversed {
			next = steps[len(steps)-1-i]
		}
		if err := next(ctx); err != nil {
			return fmt.Errorf("replace Karmada by the version in %s: %w", filepath.Base(folder), err)
		}
	}
	return nil
}

// applyKarmadaCRDs applies the CRDs of Karmada in the folder of its module.
func (f *Federation) applyKarmadaCRDs(ctx context.Context, folder string) error {
	hub, err := f.plane(planeHub)
	if err != nil {
		return err
	}
	crds, err := readFolder(filepath.Join(folder, "charts", "karmada", "_crds", "bases"))
	if err != nil {
		return fmt.Errorf("read Karmada's CRDs: %w", err)
	}
	return hub.applyCRDs(ctx, crds)
}

// replaceBinary starts a process again with another binary, and the same arguments.
func (f *Federation) replaceBinary(ctx context.Context, name, path string) error {
	f.mu.Lock()
	p, started := f.started[name]
	f.mu.Unlock()
	if !started {
		return fmt.Errorf("process %q was not started by this program", name)
	}
	if err := f.StopProcess(name); err != nil {
		return err
	}
	p.Path = path
	return f.StartProcess(ctx, p)
}
