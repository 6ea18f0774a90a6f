// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/hack/tools/images/dist"
)

// platformOf returns the platform for which a binary was built. It reads ELF and Mach-O.
func platformOf(t *testing.T, binary []byte) string {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	return settings["GOOS"] + "/" + settings["GOARCH"]
}

// binaryIn returns a file in an archive of a release.
func binaryIn(t *testing.T, archive, wanted string) []byte {
	t.Helper()
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for reader := tar.NewReader(unpacked); ; {
		header, err := reader.Next()
		if err != nil {
			t.Fatalf("%s has no %s: %v", archive, wanted, err)
		}
		if header.Name != wanted {
			continue
		}
		binary, err := io.ReadAll(reader)
		if err != nil || header.FileInfo().Mode() != 0o755 {
			t.Fatalf("%s in %s has mode %v, %v", wanted, archive, header.FileInfo().Mode(), err)
		}
		return binary
	}
}

// sums returns the checksums that sha256sum has verified.
func (i *installation) sums() map[string]string {
	i.Helper()
	content, err := os.ReadFile(filepath.Join(i.folder, dist.ChecksumsFile))
	if err != nil {
		i.Fatal(err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(content)) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[file] = sum
	}
	return sums
}

func (i *installation) read(file string, into any) {
	i.Helper()
	content, err := os.ReadFile(filepath.Join(i.folder, file))
	if err != nil {
		i.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		i.Fatalf("%s: %v", file, err)
	}
}

// checkArchives checks that every command has an archive and an SBOM for every platform, and that the binary in it is
// for the platform.
func (i *installation) checkArchives(o *releaseOptions) {
	sums := i.sums()
	for _, c := range commands {
		for _, platform := range o.cliPlatforms {
			archive := dist.ArchiveName(c.name, testVersion, platform.String())
			if sums[archive] == "" || sums[sbomName(c, testVersion, platform)] == "" {
				i.Errorf("%s or its SBOM has no checksum", archive)
				continue
			}
			if got := platformOf(i.T, binaryIn(i.T, filepath.Join(i.folder, archive), c.name)); got != platform.String() {
				i.Errorf("%s has a binary for %s", archive, got)
			}
		}
	}
}

// checkKrew checks that krew's manifest names an archive of the release, its checksum and its binary for every
// platform.
func (i *installation) checkKrew(o *releaseOptions) {
	var plugin struct {
		Spec struct {
			Version   string
			Platforms []struct {
				Selector    struct{ MatchLabels map[string]string }
				URI, Sha256 string
				Bin         string
			}
		}
	}
	i.read(dist.KrewFile, &plugin)
	var found, want []string
	for _, p := range o.cliPlatforms {
		want = append(want, p.String())
	}
	sums := i.sums()
	for _, p := range plugin.Spec.Platforms {
		archive := path.Base(p.URI)
		selected := p.Selector.MatchLabels["os"] + "/" + p.Selector.MatchLabels["arch"]
		found = append(found, selected)
		if p.URI != o.downloads+"/"+archive || p.Sha256 == "" || p.Sha256 != sums[archive] {
			i.Errorf("krew downloads %s with checksum %s, and the archive has %q", p.URI, p.Sha256, sums[archive])
			continue
		}
		if got := platformOf(i.T, binaryIn(i.T, filepath.Join(i.folder, archive), p.Bin)); got != selected {
			i.Errorf("krew installs a binary for %s on %s", got, selected)
		}
	}
	if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(found)), want) || plugin.Spec.Version != testVersion {
		i.Errorf("krew has %s for %v, want %v", plugin.Spec.Version, found, want)
	}
}

// checkArtifactHub checks that Artifact Hub's file names the chart by its checksum, and images that the registry has by
// digest, with a binary for every platform.
func (i *installation) checkArtifactHub(o *releaseOptions) {
	var chart struct {
		Digest           string
		ContainersImages []struct{ Name, Image string }
	}
	i.read(dist.ArtifactHubFile, &chart)
	if want := i.sums()["karmada-compute-"+strings.TrimPrefix(testVersion, "v")+".tgz"]; want == "" || chart.Digest != "sha256:"+want {
		i.Errorf("Artifact Hub has chart %s, want %q", chart.Digest, want)
	}
	if len(chart.ContainersImages) != len(components) {
		i.Errorf("Artifact Hub has images %v", chart.ContainersImages)
	}
	for _, image := range chart.ContainersImages {
		reference, err := name.NewDigest(strings.Replace(image.Image, o.registry, i.registry, 1))
		if err != nil {
			i.Fatal(err)
		}
		for _, platform := range o.platforms {
			pulled, err := remote.Image(reference, remote.WithContext(i.Context()), remote.WithPlatform(*platform))
			if err != nil {
				i.Errorf("%s for %s: %v", reference, platform, err)
				continue
			}
			if _, binary := list(i.T, pulled); platformOf(i.T, binary) != platform.String() {
				i.Errorf("%s for %s has a binary for %s", reference, platform, platformOf(i.T, binary))
			}
		}
	}
}

// compileEmpty compiles a program that does nothing for a platform.
func compileEmpty(t *testing.T, platform *v1.Platform) string {
	t.Helper()
	folder := t.TempDir()
	writeTo(t, folder, "go.mod", "module example.com/empty\n\ngo 1.26.0\n")
	writeTo(t, folder, "main.go", "package main\n\nfunc main() {}\n")
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", "empty")
	command.Dir = folder
	command.Env = append(os.Environ(), "GOOS="+platform.OS, "GOARCH="+platform.Architecture, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(folder, "empty")
}

// smallRelease returns a release of two platforms for images, and of macOS too for commands. Nothing is in its folder
// yet.
func smallRelease(i *installation) *releasing {
	platforms := []*v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}
	release := testRelease(repository)
	release.version, release.commit = testVersion, strings.Repeat("0", 40)
	o := &releaseOptions{
		options:      options{version: testVersion, out: i.folder, push: i.registry, platforms: platforms},
		cliPlatforms: append(platforms, &v1.Platform{OS: "darwin", Architecture: "arm64"}),
		registry:     "registry.example.com/compute", downloads: "https://example.com/" + testVersion, builder: "https://example.com",
	}
	return &releasing{
		releaseOptions: o, release: release, chartDigest: "sha256:" + strings.Repeat("0", 64),
		about: &dist.About{
			Version: testVersion, Commit: release.commit, Created: release.created, Repository: "https://example.com",
			Downloads: o.downloads, Registry: o.registry, Images: map[string]string{},
		},
	}
}

// pushSmall pushes an image of a component for every platform, from programs by their platform.
func pushSmall(t *testing.T, r *releasing, c component, programs map[string]string) {
	t.Helper()
	folder := t.TempDir()
	for _, platform := range r.platforms {
		of := filepath.Join(folder, platform.Architecture)
		if err := errors.Join(os.Mkdir(of, 0o700), os.Symlink(programs[platform.String()], filepath.Join(of, c.name))); err != nil {
			t.Fatal(err)
		}
	}
	b, err := build(r.release, c, r.platforms, folder)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := r.tag(c)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := b.index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	r.about.Images[c.name] = digest.String()
	if err := b.push(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
}

// TestReferences: the checks of release-test find every archive, image and checksum of a release whose programs do
// nothing.
func TestReferences(t *testing.T) {
	local, err := startRegistry(t.Context(), loopback+"0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.stop() })
	i := &installation{T: t, folder: t.TempDir(), registry: local.address + "/compute"}
	r, programs := smallRelease(i), map[string]string{}
	for _, platform := range r.cliPlatforms {
		program := compileEmpty(t, platform)
		programs[platform.String()] = program
		for _, c := range commands {
			if err := r.pack(c, platform, program, []byte("licence")); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range components {
		pushSmall(t, r, c, programs)
	}
	if err := errors.Join(r.write(dist.ChartArchive(r.about), []byte("chart")), r.describe(t.Context())); err != nil {
		t.Fatal(err)
	}
	i.checkArchives(r.releaseOptions)
	i.checkKrew(r.releaseOptions)
	i.checkArtifactHub(r.releaseOptions)
}
