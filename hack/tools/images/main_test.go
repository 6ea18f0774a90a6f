// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	if tag, err := o.tag(components[1]); err != nil || tag.String() != "registry.example.com:5000/compute/karmada-compute-cell:v1.2.3" || len(o.platforms) != 2 {
		t.Errorf("%s for %v, %v", tag, o.platforms, err)
	}
}

func TestRelease(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	r, err := newRelease(t.Context(), t.TempDir(), "v1.2.3")
	if err != nil || r.commit != "unknown" || !r.created.Equal(time.Unix(86400, 0)) {
		t.Errorf("sources without a repository: %+v, %v", r, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := newRelease(t.Context(), t.TempDir(), "v1.2.3"); err == nil {
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
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "oci-layout"), nil, 0o600), removeLayout(folder), removeLayout(folder)); err != nil {
		t.Error(err)
	}
}
