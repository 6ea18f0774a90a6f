// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/karmada-compute/karmada-compute/hack/tools/images/dist"
)

func TestParseRelease(t *testing.T) {
	for name, args := range map[string][]string{
		"no version":           nil,
		"half a version":       {"--version=v1.2"},
		"no v":                 {"--version=1.2.3"},
		"build metadata":       {"--version=v1.2.3+build"},
		"no prefix":            {"--version=v1.2.3", "--registry=registry.example.com"},
		"a URL":                {"--version=v1.2.3", "--registry=oci://registry.example.com/compute"},
		"images of macOS":      {"--version=v1.2.3", "--platforms=darwin/arm64"},
		"commands for Windows": {"--version=v1.2.3", "--cli-platforms=windows/amd64"},
		"an argument":          {"--version=v1.2.3", "now"},
	} {
		if _, err := parseRelease(args); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	o, err := parseRelease([]string{"--version=v1.2.3-rc.1"})
	if err != nil {
		t.Fatal(err)
	}
	if len(o.platforms) != 2 || len(o.cliPlatforms) != 4 || o.downloads != "https://"+module+"/releases/download/v1.2.3-rc.1" {
		t.Errorf("options %+v", o)
	}
}

// gitRepository returns a repository with a commit, and a function that runs git in it.
func gitRepository(t *testing.T) (folder string, git func(args ...string)) {
	t.Helper()
	folder = t.TempDir()
	git = func(args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git", args...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	writeTo(t, folder, "go.mod", "module example.com/m\n\ngo 1.26.0\n\nrequire github.com/karmada-io/karmada v1.18.2\n")
	writeTo(t, folder, "file", "committed")
	git("init")
	git("add", ".")
	git("commit", "--no-gpg-sign", "-m", "first")
	return folder, git
}

func writeTo(t *testing.T, folder, file, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSources: a release contains only committed sources, and the commit must be the tag's.
func TestSources(t *testing.T) {
	source, git := gitRepository(t)
	writeTo(t, source, "file", "changed")
	writeTo(t, source, "new", "")
	git("tag", "v1.2.3")
	exported := filepath.Join(t.TempDir(), "sources")
	r, err := exportSources(t.Context(), source, "v1.2.3", exported)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.commit) != 40 || r.created.Year() != 2026 || r.karmada != "v1.18.2" || r.source != exported {
		t.Errorf("release %+v", r)
	}
	if content, err := os.ReadFile(filepath.Join(exported, "file")); err != nil || string(content) != "committed" {
		t.Errorf("file: %q, %v", content, err)
	}
	if _, err := os.Stat(filepath.Join(exported, "new")); err == nil {
		t.Error("a file that is not committed is released")
	}
	git("commit", "--no-gpg-sign", "--allow-empty", "-m", "second")
	if _, err := exportSources(t.Context(), source, "v1.2.3", filepath.Join(t.TempDir(), "sources")); err == nil ||
		!strings.Contains(err.Error(), "check out the tag") {
		t.Errorf("the commit after the tag: %v", err)
	}
	if _, err := exportSources(t.Context(), t.TempDir(), "v1.2.3", filepath.Join(t.TempDir(), "sources")); err == nil {
		t.Error("sources without a repository are released")
	}
}

// TestRemoveRelease: the release's folder is replaced; another folder is not.
func TestRemoveRelease(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	for range 2 {
		if err := removeRelease(folder); err != nil {
			t.Fatal(err)
		}
		writeTo(t, folder, notesFile, "")
	}
	writeTo(t, folder, "old", "")
	if err := removeRelease(folder); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
	writeTo(t, folder, "precious", "")
	if err := removeRelease(folder); err == nil {
		t.Error("a folder that is no release was removed")
	}
}

// TestPack: the archive of a binary is the same each time, and its SBOM lists the binary's modules. The binary is the
// test's own.
func TestPack(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var archives [][]byte
	for range 2 {
		release := testRelease(repository)
		r := &releasing{
			releaseOptions: &releaseOptions{options: options{version: "v1.2.3", out: t.TempDir()}},
			release:        release, about: &dist.About{Created: release.created},
		}
		if err := r.pack(commands[1], &v1.Platform{OS: "linux", Architecture: "amd64"}, own, []byte("licence")); err != nil {
			t.Fatal(err)
		}
		archive, err := os.ReadFile(filepath.Join(r.out, "kubectl-compute_v1.2.3_linux_amd64.tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, archive)
		sbom, err := os.ReadFile(filepath.Join(r.out, "kubectl-compute_v1.2.3_linux_amd64.cdx.json"))
		if err != nil {
			t.Fatal(err)
		}
		var bom cyclonedx.BOM
		if err := cyclonedx.NewBOMDecoder(bytes.NewReader(sbom), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
			t.Fatal(err)
		}
		if bom.Metadata.Component.Name != "kubectl-compute" || len(*bom.Components) < 5 || len(r.files) != 2 {
			t.Errorf("SBOM of %+v with %d modules, files %v", bom.Metadata.Component, len(*bom.Components), r.files)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two archives of the same binary differ")
	}
}

// TestRegistry: the content of a registry that is saved and loaded into another one has the same digests, including
// referrers.
func TestRegistry(t *testing.T) {
	first, err := startRegistry(t.Context(), loopback+"0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.stop() })
	b, err := build(testRelease(repository), components[0], []*v1.Platform{here()}, ownBinary(t, components[0], []*v1.Platform{here()}))
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(first.address + "/compute/" + components[0].name + ":v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.push(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag.Tag("single"), image); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := saveRepository(t.Context(), tag.Repository, filepath.Join(folder, "compute", components[0].name)); err != nil {
		t.Fatal(err)
	}
	second, err := startRegistry(t.Context(), loopback+"0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.stop() })
	if err := loadRepositories(t.Context(), folder, second.address); err != nil {
		t.Fatal(err)
	}
	loaded, err := name.NewTag(second.address + "/compute/" + components[0].name + ":v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	checkPushed(t.Context(), t, b, loaded)
	want, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := remote.Head(loaded.Tag("single")); err != nil || got.Digest != want {
		t.Errorf("single: %+v, want %s, %v", got, want, err)
	}
}
