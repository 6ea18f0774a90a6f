// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

const (
	repository = "../../../.."
	url        = "https://example.com/compute"
)

func about() *About {
	return &About{
		Version: "v1.2.3", Commit: "c0ffee", Created: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)), Repository: url,
		Downloads: url + "/v1.2.3", Registry: "registry.example.com/compute",
		Images: map[string]string{"karmada-compute": "sha256:aa", "karmada-compute-cell": "sha256:bb"},
	}
}

// TestCompletion: an archive of the plugin, and no other, has the executable that kubectl runs to complete its arguments,
// as the page writes it.
func TestCompletion(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "how-to", "command.md"))
	if err != nil {
		t.Fatal(err)
	}
	if script := "cat > " + PluginCompletion + " <<'END'\n" + string(pluginCompletion) + "END\n"; !strings.Contains(string(page), script) {
		t.Errorf("the page on the command has another script than the archive: %s", pluginCompletion)
	}
	for name, completes := range map[string]bool{PluginBinary: true, "karmadactl-compute": false} {
		archive, err := Command(about().Created, name, []byte("binary"), []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"LICENSE 644", name + " 755"}
		if completes {
			want = append(want, PluginCompletion+" 755")
		}
		slices.Sort(want)
		if got := entries(t, archive); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

// entries returns the names and modes of the files in an archive.
func entries(t *testing.T, archive []byte) []string {
	t.Helper()
	uncompressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for reader := tar.NewReader(uncompressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, fmt.Sprintf("%s %o", header.Name, header.Mode))
	}
}

// TestTarGz: the order of the files, and the zone of the time, do not change an archive; content, mode and time of the
// files do.
func TestTarGz(t *testing.T) {
	at := about().Created
	one, other := File{"b", 0o755, []byte("binary")}, File{"LICENSE", 0o644, []byte("text")}
	first, err := TarGz(at, one, other)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := TarGz(at.UTC(), other, one); err != nil || !bytes.Equal(first, again) {
		t.Errorf("other bytes, %v", err)
	}
	if later, err := TarGz(at.Add(time.Second), one, other); err != nil || bytes.Equal(first, later) {
		t.Errorf("the time has no effect, %v", err)
	}
	uncompressed, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	reader := tar.NewReader(uncompressed)
	for _, want := range []File{other, one} {
		header, err := reader.Next()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil || header.Name != want.Name || header.Mode != want.Mode || !bytes.Equal(content, want.Content) ||
			!header.ModTime.Equal(at.Truncate(time.Second)) {
			t.Errorf("%+v %q, want %+v, %v", header, content, want, err)
		}
	}
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("more files: %v", err)
	}
}

// TestChecksums: sha256sum accepts them, and finds a changed file.
func TestChecksums(t *testing.T) {
	folder := t.TempDir()
	file := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file("b", "one")
	file("a", "two")
	sums, err := Sum(folder, []string{"b", "a"})
	if err != nil {
		t.Fatal(err)
	}
	file(ChecksumsFile, sums.String())
	check := func() ([]byte, error) {
		command := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", ChecksumsFile)
		command.Dir = folder
		return command.CombinedOutput()
	}
	if out, err := check(); err != nil || string(out) != "a: OK\nb: OK\n" {
		t.Errorf("%s%v", out, err)
	}
	file("a", "three")
	if out, err := check(); err == nil {
		t.Errorf("a changed file is accepted: %s", out)
	}
	if _, err := Sum(folder, []string{"missing"}); err == nil {
		t.Error("a missing file has a checksum")
	}
}

const changelog = `# Changelog

## Unreleased

Next.

## [0.2.0] - 2026-02-03

### Added

- More ([path](docs/decisions/path.md)), [elsewhere](https://example.com/a), [below](#added).

## v0.1.0

First.

## 0.0.1
`

// TestNotes: a version has its section, with links that work outside of the repository, and a pre-release what comes
// next.
func TestNotes(t *testing.T) {
	for version, want := range map[string]string{
		"v0.2.0": "### Added\n\n- More ([path](" + url +
			"/blob/v0.2.0/docs/decisions/path.md)), [elsewhere](https://example.com/a), [below](#added).\n",
		"v0.1.0":      "First.\n",
		"v0.3.0-rc.1": "Next.\n",
	} {
		if got, err := Notes(changelog, version, url); err != nil || got != want {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
	for version, want := range map[string]string{
		"v0.3.0": `name the section "Unreleased" "0.3.0"`, "v0.0.1": "says nothing about v0.0.1", "v0.2": "no section",
	} {
		if got, err := Notes(changelog, version, url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
}

// TestOwnNotes: the changelog of the repository has notes for a pre-release.
func TestOwnNotes(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(repository, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Notes(string(content), "v99.0.0-rc.1", url); err != nil {
		t.Error(err)
	}
}

// TestKrew: each platform has the address and the checksum of its own archive.
func TestKrew(t *testing.T) {
	sums := Checksums{"kubectl-compute_v1.2.3_linux_amd64.tar.gz": "aa", "kubectl-compute_v1.2.3_darwin_arm64.tar.gz": "bb"}
	content, err := Krew(about(), sums, []string{"linux/amd64", "darwin/arm64"})
	if err != nil {
		t.Fatal(err)
	}
	var plugin krewPlugin
	if err := yaml.UnmarshalStrict(content, &plugin); err != nil {
		t.Fatal(err)
	}
	if plugin.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || plugin.Kind != "Plugin" ||
		plugin.Metadata["name"] != "compute" ||
		plugin.Spec.Version != "v1.2.3" || len(plugin.Spec.ShortDescription) > 50 || len(plugin.Spec.Platforms) != 2 {
		t.Fatalf("manifest\n%s", content)
	}
	want := krewPlatform{
		Selector: map[string]map[string]string{"matchLabels": {"os": "darwin", "arch": "arm64"}}, SHA256: "bb", Bin: "kubectl-compute",
		URI: url + "/v1.2.3/kubectl-compute_v1.2.3_darwin_arm64.tar.gz",
	}
	if second := plugin.Spec.Platforms[1]; !reflect.DeepEqual(second, want) {
		t.Errorf("platform %+v, want %+v", second, want)
	}
	if _, err := Krew(about(), sums, []string{"linux/arm64"}); err == nil ||
		!strings.Contains(err.Error(), "kubectl-compute_v1.2.3_linux_arm64.tar.gz") {
		t.Errorf("a platform without an archive: %v", err)
	}
}

func TestArtifactHub(t *testing.T) {
	content, err := ArtifactHub(about(), Checksums{"karmada-compute-1.2.3.tgz": "cc"})
	if err != nil {
		t.Fatal(err)
	}
	var hub artifactHubPackage
	if err := yaml.UnmarshalStrict(content, &hub); err != nil {
		t.Fatal(err)
	}
	if hub.Version != "1.2.3" || hub.AppVersion != "v1.2.3" || hub.Digest != "sha256:cc" ||
		hub.CreatedAt != "2026-01-02T02:04:05Z" || hub.Prerelease ||
		len(hub.ContainersImages) != 2 || hub.ContainersImages[1].Image != "registry.example.com/compute/karmada-compute-cell:v1.2.3@sha256:bb" {
		t.Errorf("package\n%s", content)
	}
	if _, err := ArtifactHub(about(), Checksums{}); err == nil {
		t.Error("a package without a checksum of the chart")
	}
}

// TestProvenance: all files and images are subjects, and the commit is the source.
func TestProvenance(t *testing.T) {
	hash := func(character string) string { return strings.Repeat(character, 64) }
	released := about()
	released.Images = map[string]string{"karmada-compute-cell": "sha256:" + hash("c")}
	released.Commit = strings.Repeat("d", 40)
	content, err := Provenance(released, Checksums{"b": hash("b"), "a": hash("a")},
		Build{Builder: "https://example.com/builder", Go: "go1.26.0", Parameters: map[string]string{"version": "v1.2.3"}})
	if err != nil {
		t.Fatal(err)
	}
	var statement struct {
		Type          string `json:"_type"`
		PredicateType string `json:"predicateType"`
		Subject       []struct {
			Name   string            `json:"name"`
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
		Predicate struct {
			BuildDefinition struct {
				ResolvedDependencies []struct {
					URI    string            `json:"uri"`
					Digest map[string]string `json:"digest"`
				} `json:"resolvedDependencies"`
			} `json:"buildDefinition"`
			RunDetails struct {
				Builder struct {
					ID string `json:"id"`
				} `json:"builder"`
			} `json:"runDetails"`
		} `json:"predicate"`
	}
	if err := json.Unmarshal(content, &statement); err != nil {
		t.Fatal(err)
	}
	if statement.Type != "https://in-toto.io/Statement/v1" ||
		statement.PredicateType != "https://slsa.dev/provenance/v1" ||
		statement.Predicate.RunDetails.Builder.ID != "https://example.com/builder" {
		t.Errorf("statement\n%s", content)
	}
	subjects := map[string]string{}
	for _, subject := range statement.Subject {
		subjects[subject.Name] = subject.Digest["sha256"]
	}
	if len(subjects) != 3 || subjects["a"] != hash("a") || subjects["registry.example.com/compute/karmada-compute-cell"] != hash("c") {
		t.Errorf("subjects %v", subjects)
	}
	if sources := statement.Predicate.BuildDefinition.ResolvedDependencies[0]; sources.URI != "git+"+url+
		"@refs/tags/v1.2.3" || sources.Digest["gitCommit"] != released.Commit {
		t.Errorf("sources %+v", sources)
	}
	if _, err := Provenance(released, Checksums{"a": "no checksum"}, Build{Builder: "https://example.com/builder"}); err == nil {
		t.Error("a statement about no checksum is accepted")
	}
}

// copyChart copies the chart of the repository.
func copyChart(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), ChartName)
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(repository, "charts", ChartName))); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestChart: the stamped chart of the repository has the version, renders the images of the release, and is the same
// each time.
func TestChart(t *testing.T) {
	var packed [][]byte
	for range 2 {
		folder := copyChart(t)
		if err := StampChart(folder, about()); err != nil {
			t.Fatal(err)
		}
		content, err := PackageChart(folder, about())
		if err != nil {
			t.Fatal(err)
		}
		packed = append(packed, content)
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("two archives of the same chart differ")
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(packed[0]))
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Metadata.Version != "1.2.3" || loaded.Metadata.AppVersion != "v1.2.3" ||
		!strings.Contains(loaded.Metadata.Annotations["artifacthub.io/images"], "karmada-compute:v1.2.3@sha256:aa") {
		t.Errorf("metadata %+v", loaded.Metadata)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.35.0", Major: "1", Minor: "35"}
	for part, image := range map[string]string{
		"host": "registry.example.com/compute/karmada-compute:v1.2.3", "hub": "registry.example.com/compute/karmada-compute-cell:v1.2.3",
	} {
		values := map[string]any{"host": map[string]any{"enabled": part == "host"}, "hub": map[string]any{"enabled": part == "hub"}}
		complete, err := chartutil.ToRenderValues(loaded, values,
			chartutil.ReleaseOptions{Name: ChartName, Namespace: "karmada-system"}, capabilities)
		if err != nil {
			t.Fatal(err)
		}
		rendered, err := engine.Render(loaded, complete)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, content := range rendered {
			all.WriteString(content)
		}
		if !strings.Contains(all.String(), "image: "+image+"\n") && !strings.Contains(all.String(), `image: "`+image+"\"\n") {
			t.Errorf("part %s has no image %s", part, image)
		}
	}
}

// TestChangedChart: a chart that this package does not know is refused.
func TestChangedChart(t *testing.T) {
	folder := copyChart(t)
	if err := StampChart(folder, about()); err != nil {
		t.Fatal(err)
	}
	if err := StampChart(folder, about()); err == nil || !strings.Contains(err.Error(), "values.yaml") {
		t.Errorf("stamped twice: %v", err)
	}
	without := about()
	without.Registry = "registry.example.com"
	if err := StampChart(copyChart(t), without); err == nil || !strings.Contains(err.Error(), "prefix") {
		t.Errorf("a registry without a prefix: %v", err)
	}
}
