// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const module = "github.com/karmada-compute/karmada-compute"

// component is a binary that has an image.
type component struct{ name, description string }

var components = []component{
	{"karmada-compute", "Runs Workloads of Milo projects on the cells of a Karmada federation: controllers, admission and interpreter."},
	{"karmada-compute-cell", "Runs the Instances of WorkloadDeployments in a cell of a Karmada federation."},
}

// release describes the sources of images.
type release struct {
	// source is the folder of the repository.
	source  string
	version string
	commit  string
	// created is the time of the commit, or $SOURCE_DATE_EPOCH: with the time of the build, every build would differ.
	created time.Time
	// karmada is the version of Karmada. Images do not have it.
	karmada string
}

// unknownCommit is the commit of sources without a repository, and dirty the suffix of a commit with uncommitted
// changes.
const (
	unknownCommit = "unknown"
	dirty         = "-dirty"
)

// newRelease reads the commit from git.
func newRelease(ctx context.Context, source, version string) (*release, error) {
	r := &release{source: source, version: version, commit: unknownCommit, created: time.Unix(0, 0).UTC()}
	if err := r.askGit(ctx); err != nil {
		return nil, err
	}
	epoch, set := os.LookupEnv("SOURCE_DATE_EPOCH")
	if !set {
		return r, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH: %q is no number of seconds", epoch)
	}
	r.created = time.Unix(seconds, 0).UTC()
	return r, nil
}

// askGit sets the commit and its time. Sources without a repository, as in a release's archive, have no commit.
func (r *release) askGit(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(r.source, ".git")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	out, err := r.git(ctx, "show", "--no-patch", "--format=%H %ct", "HEAD")
	if err != nil {
		return fmt.Errorf("ask git for the commit: %w", err)
	}
	var seconds int64
	if _, err := fmt.Sscan(out, &r.commit, &seconds); err != nil {
		return fmt.Errorf("read the answer %q of git: %w", out, err)
	}
	r.created = time.Unix(seconds, 0).UTC()
	changed, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return fmt.Errorf("ask git for changes: %w", err)
	}
	if changed != "" {
		r.commit += dirty
	}
	return nil
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = r.source
	out, err := command.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// variables sets the variables of cmd/internal/component, which --version prints.
func (r *release) variables() string {
	const set = "-X " + module + "/cmd/internal/component."
	return set + "version=" + r.version + " " + set + "commit=" + r.commit + " " + set + "date=" + r.created.Format(time.RFC3339)
}

// commandVariables sets the additional variables of the users' commands.
func (r *release) commandVariables() string {
	if r.karmada == "" {
		return ""
	}
	return " -X github.com/karmada-io/karmada/pkg/version.gitVersion=" + r.karmada
}

// compile compiles the binaries of a platform into a folder: static, stripped, and without paths of this machine, so
// that every machine produces the same binaries. It prints what it compiles, and the time that it took.
func (r *release) compile(ctx context.Context, platform *v1.Platform, out string, of ...component) error {
	args := append([]string{"build"}, flags...)
	args = append(args, "-ldflags", stripped+" "+r.variables()+r.commandVariables(), "-o", out+"/")
	var names []string
	for _, c := range of {
		args, names = append(args, "./cmd/"+c.name), append(names, c.name)
	}
	fmt.Printf("compiling %s for %s\n", strings.Join(names, " and "), platform)
	began := time.Now()
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = r.source, environment("GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("compile for %s: %w\n%s", platform, err, output)
	}
	fmt.Printf("  in %s\n", time.Since(began).Round(time.Second))
	return nil
}

// environment returns the environment of each go command of a release that compiles, with more variables. Commands with
// equal settings share compiled packages.
func environment(more ...string) []string {
	return slices.Concat(os.Environ(), more, []string{
		// Settings with which the same sources would give other binaries.
		"CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0",
		// Compilers that collect garbage less often take less time. The limit bounds the memory of each.
		"GOGC=400", "GOMEMLIMIT=2GiB",
	})
}

// flags and stripped are the flags of the compiler and the linker. The Dockerfile has the same.
var flags = []string{"-mod=readonly", "-buildvcs=false", "-trimpath"}

const stripped = "-s -w"
