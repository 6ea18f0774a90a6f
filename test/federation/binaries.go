// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// ownCommand is the command of the repository that a federation runs for processes of its own: the Milo stand-in, the
// balancer, isolated agents and the keeper.
const ownCommand = "./test/cmd/federation"

// karmadactlCommand is Karmada's karmadactl with the add-on; it joins cells and enables the add-on.
const karmadactlCommand = "./cmd/karmadactl"

func (o Options) builder(p *progress) *tools.Builder {
	return &tools.Builder{Repository: o.Repository, Cache: o.Cache, Karmada: o.KarmadaVersion, Printf: p.printf}
}

func (f *Federation) builder() *tools.Builder { return f.state.builder(f.progress) }

// build builds the binaries of a new federation, and returns their paths by name.
func (o Options) build(ctx context.Context, p *progress) (map[string]string, error) {
	built, err := o.builder(p).Build(ctx, binariesFor(o.Cells)...)
	if err != nil || o.CellKubernetesVersion == "" {
		return built, err
	}
	builder := o.builder(p)
	builder.Kubernetes = o.CellKubernetesVersion
	older, err := builder.Build(ctx, tools.ControlPlane()...)
	if err != nil {
		return nil, err
	}
	for name, path := range older {
		built[planeCell+name] = path
	}
	return built, nil
}

// binariesFor returns the names of the binaries that a federation with these cells runs.
func binariesFor(cells []Cell) []string {
	names := tools.Core()
	if slices.ContainsFunc(cells, func(c Cell) bool { return c.Pull }) {
		names = append(names, tools.KarmadaAgent)
	}
	if slices.ContainsFunc(cells, func(c Cell) bool { return c.Containers > 0 }) {
		names = append(names, tools.Containers()...)
	}
	return names
}

// needBinaries builds the binaries that a new cell needs and no earlier cell needed.
func (f *Federation) needBinaries(ctx context.Context, cell Cell) error {
	built, err := f.builder().Build(ctx, binariesFor([]Cell{cell})...)
	if err != nil {
		return err
	}
	f.stateMu.Lock()
	defer f.stateMu.Unlock()
	maps.Copy(f.state.Binaries, built)
	return nil
}

// binary returns the path of a built binary.
func (f *Federation) binary(name string) string {
	f.stateMu.RLock()
	defer f.stateMu.RUnlock()
	return f.state.Binaries[name]
}

// binaryOf returns the path of a binary of the control plane of a plane: cells may have an older version of Kubernetes.
func (f *Federation) binaryOf(plane, name string) string {
	if f.state.CellKubernetesVersion != "" && strings.HasPrefix(plane, planeCell) {
		return f.binary(planeCell + name)
	}
	return f.binary(name)
}

// buildOwn builds commands of the repository and copies them into the federation's folder, because the next build of
// the checkout replaces them in the cache.
func (f *Federation) buildOwn(ctx context.Context, packages ...string) error {
	built, err := f.builder().Own(ctx, packages...)
	if err != nil {
		return err
	}
	return copyBinaries(f.binFolder(), built)
}

// copyBinaries copies binaries, by their names, into a folder.
func copyBinaries(folder string, paths map[string]string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create a folder for binaries: %w", err)
	}
	for name, path := range paths {
		if err := copyBinary(path, filepath.Join(folder, name)); err != nil {
			return fmt.Errorf("copy %s: %w", path, err)
		}
	}
	return nil
}

// copyBinary copies a binary and replaces the one at its destination, which may be running.
func copyBinary(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := os.CreateTemp(filepath.Dir(to), "copy-")
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if err := errors.Join(err, target.Chmod(0o700), target.Close()); err != nil {
		return errors.Join(err, os.Remove(target.Name()))
	}
	return os.Rename(target.Name(), to)
}
