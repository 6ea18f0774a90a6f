// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/karmada-compute/karmada-compute/federation/tools"
)

// ErrNoEarlier means that the repository has no tag of an earlier version: none is released yet, or the clone is shallow.
var ErrNoEarlier = errors.New("the repository has no tag of an earlier version")

// earlierImage is what the names of images and of the folder of an earlier version's binaries end with.
const earlierImage = "-earlier"

// EarlierVersion returns the last tag before the present commit. The error is ErrNoEarlier if there is none.
func (f *Federation) EarlierVersion(ctx context.Context) (string, error) {
	described, err := exec.CommandContext(ctx, "git", "-C", f.state.Repository, "describe", "--tags", "--abbrev=0", "HEAD^").Output()
	if err != nil {
		return "", ErrNoEarlier
	}
	return strings.TrimSpace(string(described)), nil
}

// BuildEarlier builds the add-on and karmadactl as they were at a revision of the repository, for AddOnOptions.Earlier.
func (f *Federation) BuildEarlier(ctx context.Context, revision string) error {
	sources, archive := filepath.Join(f.folder, "earlier"), filepath.Join(f.folder, "earlier.tar")
	if err := os.MkdirAll(sources, 0o700); err != nil {
		return err
	}
	for _, command := range [][]string{
		{"git", "-C", f.state.Repository, "archive", "--output=" + archive, revision},
		{"tar", "-xf", archive, "-C", sources},
	} {
		if output, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("read the sources of %s: %w: %s", revision, err, output)
		}
	}
	builder := &tools.Builder{Repository: sources, Cache: filepath.Join(f.folder, "earlier-cache"), Printf: f.progress.printf}
	built, err := builder.Own(ctx, append([]string{karmadactlCommand}, addOnCommands...)...)
	if err != nil {
		return fmt.Errorf("build %s: %w", revision, err)
	}
	if err := os.MkdirAll(f.earlierFolder(), 0o700); err != nil {
		return err
	}
	for name, path := range built {
		if err := os.Rename(path, filepath.Join(f.earlierFolder(), name)); err != nil {
			return err
		}
	}
	return os.RemoveAll(sources)
}

// earlierFolder is that of the binaries of an earlier version.
func (f *Federation) earlierFolder() string { return f.binFolder() + earlierImage }

// earlierArgs are arguments of karmadactl that have images run these binaries.
func earlierArgs() []string {
	return []string{
		"--compute-image=karmada-compute/karmada-compute" + earlierImage + ":v0.0.0",
		"--compute-cell-image=karmada-compute/karmada-compute-cell" + earlierImage + ":v0.0.0",
	}
}
