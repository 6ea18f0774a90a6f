// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// TestSameBytes: a binary that is linked in another folder is the same, and so is the image of the same binary. Both
// folders share the compiled packages, which do not contain the folders' names: only linking runs twice.
func TestSameBytes(t *testing.T) {
	first := all(t)[0]
	again, r := t.TempDir(), testRelease(copySources(t))
	// One of the two, to save time: they are compiled in the same way, and this one has most packages of the other.
	if err := r.compile(t.Context(), here(), filepath.Join(again, here().Architecture), first.component); err != nil {
		t.Fatal(err)
	}
	second, err := build(r, first.component, []*v1.Platform{here()}, again)
	if err != nil {
		t.Fatal(err)
	}
	want, err := first.index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := second.index.Digest(); err != nil || got != want {
		t.Errorf("%s here, %s in another folder, %v", want, got, err)
	}
}

// copySources copies the sources of the binaries, including uncommitted changes.
func copySources(t *testing.T) string {
	t.Helper()
	target := t.TempDir()
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(repository, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "hack", "docs"}, relative):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(target, relative), 0o750)
		case !entry.Type().IsRegular() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(filepath.Join(target, relative), content, 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// TestPlatforms: an index has an image for each platform, and an SBOM that refers to the image and that no machine
// pulls as its image. The test's own binary is used, so that nothing is compiled for another platform.
func TestPlatforms(t *testing.T) {
	platforms := []*v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}
	b, err := build(testRelease(repository), components[0], platforms, ownBinary(t, components[0], platforms))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := b.index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 2*len(platforms) || manifest.Annotations["org.opencontainers.image.version"] != "v1.2.3" {
		t.Fatalf("index %+v", manifest)
	}
	for i, platform := range platforms {
		image, sbom := manifest.Manifests[i], manifest.Manifests[len(platforms)+i]
		if !image.Platform.Equals(*platform) || sbom.Platform.String() != "unknown/unknown" || sbom.ArtifactType != sbomType {
			t.Errorf("%s: image %+v, SBOM %+v", platform, image, sbom)
		}
		referrer, err := b.index.Image(sbom.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if about, err := referrer.Manifest(); err != nil || about.Subject == nil || about.Subject.Digest != image.Digest {
			t.Errorf("%s: the SBOM is about %+v, %v", platform, about, err)
		}
	}
}

// ownBinary returns a folder with the test's own binary as a component's binary for every platform.
func ownBinary(t *testing.T, c component, platforms []*v1.Platform) string {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binaries := t.TempDir()
	for _, platform := range platforms {
		folder := filepath.Join(binaries, platform.Architecture)
		if err := errors.Join(os.Mkdir(folder, 0o750), os.Symlink(own, filepath.Join(folder, c.name))); err != nil {
			t.Fatal(err)
		}
	}
	return binaries
}

// TestImage: an image has two users, /tmp and its binary, which needs no library and runs as a user other than root.
func TestImage(t *testing.T) {
	for _, b := range all(t) {
		image := b.images[0].image
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if got := config.Config; got.User != "65532:65532" || got.WorkingDir != "/" ||
			!slices.Equal(got.Entrypoint, []string{"/" + b.component.name}) || len(got.Cmd) != 0 {
			t.Errorf("%s runs as %+v", b.component.name, got)
		}
		for key, want := range map[string]string{
			"title": b.component.name, "version": "v1.2.3", "revision": "c0ffee", "created": "2026-01-02T03:04:05Z", "licenses": "Apache-2.0",
			"source": "https://github.com/karmada-compute/karmada-compute",
		} {
			if got := config.Config.Labels["org.opencontainers.image."+key]; got != want {
				t.Errorf("%s: label %s is %q", b.component.name, key, got)
			}
		}
		if got := config.OS + "/" + config.Architecture; got != here().String() {
			t.Errorf("%s: image for %s", b.component.name, got)
		}
		want := []string{
			"drwxr-xr-x 0:0 etc", "-rw-r--r-- 0:0 etc/group", "-rw-r--r-- 0:0 etc/passwd", "-rwxr-xr-x 0:0 " + b.component.name,
			"dtrwxrwxrwx 0:0 tmp",
		}
		got, binary := list(t, image)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s: files\n%s\nwant\n%s", b.component.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		program, err := elf.NewFile(bytes.NewReader(binary))
		if err != nil {
			t.Fatal(err)
		}
		if libraries, err := program.ImportedLibraries(); err != nil || len(libraries) > 0 || program.Section(".interp") != nil {
			t.Errorf("%s is not static: it needs %v, %v", b.component.name, libraries, err)
		}
	}
}

// list lists the files of an image, sorted, and returns the content of the only one in the root.
func list(t *testing.T, image v1.Image) (files []string, binary []byte) {
	t.Helper()
	flat := mutate.Extract(image)
	defer func() { _ = flat.Close() }()
	reader := tar.NewReader(flat)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(files)
			return files, binary
		}
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, fmt.Sprintf("%s %d:%d %s", header.FileInfo().Mode(), header.Uid, header.Gid, header.Name))
		if header.Typeflag != tar.TypeReg || strings.Contains(header.Name, "/") {
			continue
		}
		if binary, err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
	}
}
