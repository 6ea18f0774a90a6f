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
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// shared is a build for this machine's architecture that all tests read: compiling for another one would take minutes.
var shared struct {
	once   sync.Once
	folder string
	images []*built
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(shared.folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const repository = "../../.."

func here() *v1.Platform { return &v1.Platform{OS: "linux", Architecture: runtime.GOARCH} }

func testRelease(source string) *release {
	return &release{source: source, version: "v1.2.3", commit: "c0ffee", created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// all returns the images of both components.
func all(t *testing.T) []*built {
	t.Helper()
	shared.once.Do(func() { shared.err = buildShared(context.Background()) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.images
}

func buildShared(ctx context.Context) error {
	var err error
	if shared.folder, err = os.MkdirTemp("", "karmada-compute-images-test-"); err != nil {
		return err
	}
	r := testRelease(repository)
	if err := r.compile(ctx, here(), filepath.Join(shared.folder, here().Architecture), components...); err != nil {
		return err
	}
	for _, c := range components {
		b, err := build(r, c, []*v1.Platform{here()}, shared.folder)
		if err != nil {
			return err
		}
		shared.images = append(shared.images, b)
	}
	return nil
}

func TestParse(t *testing.T) {
	for name, args := range map[string][]string{
		"an argument":             {"push"},
		"no version":              {"--version="},
		"no tag":                  {"--version=v1.2.3+build"},
		"a URL":                   {"--push=https://registry.example.com"},
		"no registry":             {"--push=compute"},
		"another system":          {"--platforms=windows/amd64"},
		"half a platform":         {"--platforms=linux"},
		"an empty platform":       {"--platforms=linux/amd64,"},
		"a variant, not honoured": {"--platforms=linux/arm/v7"},
	} {
		if _, err := parse(args); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	o, err := parse([]string{"--version=v1.2.3", "--push=registry.example.com:5000/compute"})
	if err != nil {
		t.Fatal(err)
	}
	if tag, err := o.tag(components[1]); err != nil ||
		tag.String() != "registry.example.com:5000/compute/karmada-compute-cell:v1.2.3" || len(o.platforms) != 2 {
		t.Errorf("%s for %v, %v", tag, o.platforms, err)
	}
}

// TestRelease: the commit and its time come from git, uncommitted changes are not hidden, and only sources without a
// repository have no commit.
func TestRelease(t *testing.T) {
	source := t.TempDir()
	read := func() *release {
		t.Helper()
		r, err := newRelease(t.Context(), source, "v1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := read(); r.commit != "unknown" || !r.created.Equal(time.Unix(0, 0)) {
		t.Errorf("sources without a repository: %+v", r)
	}
	git := func(args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git", args...)
		command.Dir = source
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init")
	if _, err := newRelease(t.Context(), source, "v1.2.3"); err == nil || !strings.Contains(err.Error(), "HEAD") {
		t.Errorf("a repository that git cannot read: %v", err)
	}
	git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--allow-empty", "--no-gpg-sign", "-m", "first")
	r := read()
	if len(r.commit) != 40 || !r.created.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("a commit: %+v", r)
	}
	if err := os.WriteFile(filepath.Join(source, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if changed := read(); changed.commit != r.commit+"-dirty" {
		t.Errorf("a change: %s", changed.commit)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	if r := read(); !r.created.Equal(time.Unix(86400, 0)) {
		t.Errorf("SOURCE_DATE_EPOCH: %s", r.created)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := newRelease(t.Context(), source, "v1.2.3"); err == nil {
		t.Error("SOURCE_DATE_EPOCH=yesterday is accepted")
	}
}

func TestRemoveLayout(t *testing.T) {
	folder := t.TempDir()
	precious := filepath.Join(folder, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeLayout(folder); err == nil {
		t.Error("a folder that is no layout was removed")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "oci-layout"), nil, 0o600), removeLayout(folder),
		removeLayout(folder)); err != nil {
		t.Error(err)
	}
}
