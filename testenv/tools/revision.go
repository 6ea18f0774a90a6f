// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoRevision means that the checkout does not have a revision: it is a shallow clone, or has no history.
var ErrNoRevision = errors.New("the clone does not have the revision")

// Revision builds those commands of the repository, as they were at a revision, that are not cached, and returns the
// path of each binary by its name.
func (b *Builder) Revision(ctx context.Context, revision string, packages ...string) (map[string]string, error) {
	commit, err := b.git(ctx, "rev-parse", "--verify", "--quiet", revision+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("%w %s", ErrNoRevision, revision)
	}
	goVersion, err := output(ctx, b.Repository, "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(commit + goVersion + flags))
	folder := filepath.Join(b.Cache, "revision-"+hex.EncodeToString(hash[:8]))
	paths := map[string]string{}
	var wanted []tool
	for _, pkg := range packages {
		t := tool{name: filepath.Base(pkg), pkg: pkg}
		wanted, paths[t.name] = append(wanted, t), filepath.Join(folder, t.name)
	}
	return paths, b.buildOnce(ctx, folder, wanted, func(tools []tool) error { return b.buildRevision(ctx, commit, folder, tools) })
}

// buildRevision builds commands of a commit into a folder.
func (b *Builder) buildRevision(ctx context.Context, commit, folder string, wanted []tool) error {
	sources, err := os.MkdirTemp(folder, "sources-")
	if err != nil {
		return fmt.Errorf("create a folder for the sources of %s: %w", commit, err)
	}
	defer func() { _ = os.RemoveAll(sources) }() // what is left is not used
	archive := filepath.Join(sources, "archive.tar")
	if _, err := b.git(ctx, "archive", "--output="+archive, commit); err != nil {
		return err
	}
	if output, err := exec.CommandContext(ctx, "tar", "-xf", archive, "-C", sources).CombinedOutput(); err != nil {
		return fmt.Errorf("read the sources of %s: %w: %s", commit, err, output)
	}
	return b.buildInto(ctx, folder, wanted, &compilation{module: sources})
}

// git runs a command of git in the repository and returns what it prints, trimmed.
func (b *Builder) git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", b.Repository}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
