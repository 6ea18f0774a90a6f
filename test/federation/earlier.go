// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
)

// earlierImage is the suffix of the image names and of the binary folder of an earlier version.
const earlierImage = "-earlier"

// earlierVersion returns the last tag of a version before the present commit, or without a tag the commit before it: no
// other version runs anywhere.
func (f *Federation) earlierVersion(ctx context.Context) string {
	described, err := exec.CommandContext(ctx, "git", "-C", f.state.Repository, "describe", "--tags", "--match=v[0-9]*",
		"--abbrev=0", "HEAD^").Output()
	if err != nil {
		return "HEAD^"
	}
	return strings.TrimSpace(string(described))
}

// BuildEarlier builds the add-on and karmadactl of a revision of the repository, or without a revision of the previous
// version, for AddOnOptions.Earlier. The error is tools.ErrNoRevision if the clone does not have the revision. Finished
// builds are kept.
func (f *Federation) BuildEarlier(ctx context.Context, revision string) error {
	if revision == "" {
		revision = f.earlierVersion(ctx)
	}
	built, err := f.builder().Revision(ctx, revision, append([]string{karmadactlCommand}, addOnCommands...)...)
	if err != nil {
		return err
	}
	return copyBinaries(f.earlierFolder(), built)
}

// earlierFolder returns the folder of an earlier version's binaries.
func (f *Federation) earlierFolder() string { return f.binFolder() + earlierImage }

// earlierArgs returns karmadactl's arguments for images with these binaries.
func earlierArgs() []string {
	return []string{
		"--compute-image=karmada-compute/karmada-compute" + earlierImage + ":v0.0.0",
		"--compute-cell-image=karmada-compute/karmada-compute-cell" + earlierImage + ":v0.0.0",
	}
}

// takeReleased copies the binaries of a release into the folder from which nodes take the binaries of images.
func (f *Federation) takeReleased(folder string) error {
	released := map[string]string{}
	for _, name := range append([]string{filepath.Base(karmadactlCommand)}, ownImages...) {
		released[name] = filepath.Join(folder, name)
	}
	return copyBinaries(f.binFolder(), released)
}
