// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestWritten: the layout has one index, as crane push expects, the tar is the same image, and the SBOM lies beside,
// also when everything is written again.
func TestWritten(t *testing.T) {
	out := t.TempDir()
	o := &options{version: "v1.2.3"}
	for _, b := range all(t) {
		tag, err := o.tag(b.component)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := b.write(out, tag); err != nil {
				t.Fatal(err)
			}
		}
		checkLayout(t, b, filepath.Join(out, b.component.name))
		one := b.images[0]
		loaded, err := tarball.ImageFromPath(b.file(out, one, tarSuffix), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !same(t, loaded, one.image) {
			t.Errorf("%s: the tar is another image", b.component.name)
		}
		if content, err := os.ReadFile(b.file(out, one, sbomSuffix)); err != nil || !bytes.Equal(content, one.sbom) {
			t.Errorf("%s: another SBOM, %v", b.component.name, err)
		}
	}
}

// checkLayout checks that the only entry of a layout is the index, with a valid image.
func checkLayout(t *testing.T, b *built, folder string) {
	t.Helper()
	root, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := root.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := b.index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if entries := manifest.Manifests; len(entries) != 1 || entries[0].Digest != digest ||
		entries[0].Annotations["org.opencontainers.image.ref.name"] != "v1.2.3" {
		t.Errorf("%s: layout of %+v, want %s", b.component.name, entries, digest)
	}
	index, err := root.ImageIndex(digest)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err = b.images[0].image.Digest(); err != nil {
		t.Fatal(err)
	}
	laid, err := index.Image(digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(laid); err != nil {
		t.Error(err)
	}
}

// same compares what identifies images to an engine: their configuration, with the hashes of the layers.
func same(t *testing.T, one, other v1.Image) bool {
	t.Helper()
	first, err := one.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	second, err := other.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	return first == second
}

// TestSBOM: it has every module that the go command puts into the binary, with its version, and the standard library.
// The module of the API has the version of the release.
func TestSBOM(t *testing.T) {
	// Modules that go.sum does not name have no hash.
	unhashed := []string{"std", module + "/api"}
	for _, b := range all(t) {
		var bom cyclonedx.BOM
		if err := cyclonedx.NewBOMDecoder(bytes.NewReader(b.images[0].sbom), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
			t.Fatal(err)
		}
		if got := bom.Metadata; got.Component.Name != b.component.name || got.Component.Version != "v1.2.3" ||
			got.Timestamp != "2026-01-02T03:04:05Z" {
			t.Errorf("%s: about %+v", b.component.name, got.Component)
		}
		found := map[string]bool{}
		for _, c := range *bom.Components {
			found[c.Name+" "+c.Version] = true
			if c.PackageURL == "" || c.Version == "" || (c.Hashes == nil && !slices.Contains(unhashed, c.Name)) {
				t.Errorf("%s: %+v", b.component.name, c)
			}
		}
		wanted := modulesOf(t, b.component)
		if len(wanted) < 50 {
			t.Errorf("%s: only %d modules", b.component.name, len(wanted))
		}
		for _, want := range wanted {
			if !found[want] {
				t.Errorf("%s: the SBOM has no %s", b.component.name, want)
			}
		}
		if len(found) != len(wanted)+1 {
			t.Errorf("%s: %d modules and std are compiled, the SBOM has %d", b.component.name, len(wanted), len(found))
		}
	}
}

// modulesOf asks the go command, not the binary.
func modulesOf(t *testing.T, c component) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{if .Replace}}v1.2.3{{else}}{{.Version}}{{end}}{{end}}{{end}}", "./cmd/"+c.name)
	command.Dir, command.Env = repository, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" && !seen[line] {
			seen[line] = true
			modules = append(modules, line)
		}
	}
	return modules
}

// TestPush: a registry gets the image of each platform, and lists the SBOM for it, with and without the referrers API.
func TestPush(t *testing.T) {
	for name, referrers := range map[string]bool{"a registry with the referrers API": true, "an older registry": false} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(registry.New(registry.WithReferrersSupport(referrers), registry.Logger(log.New(io.Discard, "", 0))))
			t.Cleanup(server.Close)
			o := &options{version: "v1.2.3", push: strings.TrimPrefix(server.URL, "http://") + "/compute", out: t.TempDir()}
			for _, b := range all(t) {
				if err := o.deliver(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				tag, err := o.tag(b.component)
				if err != nil {
					t.Fatal(err)
				}
				checkPushed(t.Context(), t, b, tag)
			}
		})
	}
}

func checkPushed(ctx context.Context, t *testing.T, b *built, tag name.Tag) {
	t.Helper()
	pulled, err := remote.Image(tag, remote.WithContext(ctx), remote.WithPlatform(*here()))
	if err != nil {
		t.Fatal(err)
	}
	digest, err := b.images[0].image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pulled.Digest(); err != nil || got != digest {
		t.Errorf("%s: pulled %s, want %s, %v", b.component.name, got, digest, err)
	}
	index, err := remote.Referrers(tag.Digest(digest.String()), remote.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].ArtifactType != sbomType {
		t.Fatalf("%s: referrers %+v", b.component.name, manifest.Manifests)
	}
	referrer, err := remote.Image(tag.Digest(manifest.Manifests[0].Digest.String()), remote.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	layers, err := referrer.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	reader, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	var bom struct{ BOMFormat string }
	if err := json.NewDecoder(reader).Decode(&bom); err != nil || bom.BOMFormat != "CycloneDX" {
		t.Errorf("%s: the referrer is %q, %v", b.component.name, bom.BOMFormat, err)
	}
}
