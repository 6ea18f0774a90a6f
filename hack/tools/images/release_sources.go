// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// exportSources writes the sources of the commit into a folder, without uncommitted changes. A tag of the version must
// point to the commit.
func exportSources(ctx context.Context, source, version, folder string) (*release, error) {
	r, err := newRelease(ctx, source, version)
	if err != nil {
		return nil, err
	}
	r.commit = strings.TrimSuffix(r.commit, dirty)
	if r.commit == unknownCommit {
		return nil, fmt.Errorf("%s is no repository of git: a release is made of a commit", source)
	}
	if tagged, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "refs/tags/"+version+"^{commit}"); err == nil && tagged != r.commit {
		return nil, fmt.Errorf("tag %s is commit %s, and commit %s is checked out: check out the tag", version, tagged, r.commit)
	}
	archive := folder + ".tar"
	if _, err := r.git(ctx, "archive", "--output="+archive, r.commit); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, err
	}
	if output, err := exec.CommandContext(ctx, "tar", "-xf", archive, "-C", folder).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("unpack the sources: %w: %s", err, output)
	}
	r.source = folder
	return r, errors.Join(os.Remove(archive), r.readKarmada(ctx))
}

// readKarmada sets the version of Karmada, from which karmadactl derives the images of Karmada's own addons.
func (r *release) readKarmada(ctx context.Context) error {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", "github.com/karmada-io/karmada")
	command.Dir, command.Env = r.source, append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("ask the go command for the version of Karmada: %w", err)
	}
	r.karmada = strings.TrimSpace(string(out))
	return nil
}

// generateChart writes the generated files of the stamped chart: its README has the defaults of its values.
func (r *release) generateChart(ctx context.Context) error {
	args := append([]string{"run"}, flags...)
	command := exec.CommandContext(ctx, "go", append(args, "./hack/chart")...)
	command.Dir, command.Env = r.source, environment()
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("generate the files of the chart: %w\n%s", err, output)
	}
	return nil
}

// chartFolder returns the folder of the chart in the sources.
func (r *release) chartFolder() string { return filepath.Join(r.source, "charts", "karmada-compute") }
