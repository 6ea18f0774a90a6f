// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user runs the binary, as in distroless images. It is a number, because the kubelet cannot resolve a name to check
// that it is not root.
const user = "65532:65532"

// built is the image of a component on all platforms.
type built struct {
	component component
	images    []platformImage
	// index contains the images and their SBOMs.
	index v1.ImageIndex
}

type platformImage struct {
	platform *v1.Platform
	image    v1.Image
	sbom     []byte
}

// build builds the image of a component from binaries, which are in a folder for each architecture.
func build(r *release, c component, platforms []*v1.Platform, binaries string) (*built, error) {
	b := &built{component: c}
	var images, sboms []mutate.IndexAddendum
	for _, platform := range platforms {
		binary := filepath.Join(binaries, platform.Architecture, c.name)
		image, err := newImage(r, c, platform, binary)
		if err != nil {
			return nil, err
		}
		sbom, err := newSBOM(r, c, binary)
		if err != nil {
			return nil, err
		}
		referrer, err := newReferrer(image, sbom)
		if err != nil {
			return nil, err
		}
		b.images = append(b.images, platformImage{platform: platform, image: image, sbom: sbom})
		images = append(images, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
		// No machine has this platform, so no machine pulls the SBOM as its image.
		sboms = append(sboms, mutate.IndexAddendum{Add: referrer, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"}, ArtifactType: sbomType,
		}})
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), append(images, sboms...)...)
	annotated, ok := mutate.Annotations(index, r.labels(c)).(v1.ImageIndex)
	if !ok {
		return nil, errors.New("an annotated index is no index")
	}
	b.index = annotated
	return b, nil
}

// newImage builds an image of two layers: users and /tmp, which are the same in all images, and the binary.
func newImage(r *release, c component, platform *v1.Platform, binary string) (v1.Image, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	base, err := newLayer(
		entry{name: "etc", mode: 0o755, folder: true},
		entry{
			name: "etc/passwd", mode: 0o644, content: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"),
		},
		entry{name: "etc/group", mode: 0o644, content: []byte("root:x:0:\nnonroot:x:65532:\n")},
		entry{name: "tmp", mode: 0o1777, folder: true},
	)
	if err != nil {
		return nil, err
	}
	program, err := newLayer(entry{name: c.name, mode: 0o755, content: content})
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: r.created}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, Created: created, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{User: user, WorkingDir: "/", Entrypoint: []string{"/" + c.name}, Env: []string{"PATH=/"}, Labels: r.labels(c)},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(image,
		mutate.Addendum{Layer: base, History: v1.History{Created: created, CreatedBy: "hack/tools/images", Comment: "user nonroot and /tmp"}},
		mutate.Addendum{Layer: program, History: v1.History{Created: created, CreatedBy: "hack/tools/images", Comment: "/" + c.name}},
	)
}

// labels describe an image, with the keys of the OCI specification.
func (r *release) labels(c component) map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title": c.name, prefix + "description": c.description, prefix + "licenses": "Apache-2.0",
		prefix + "vendor": "The karmada-compute Authors",
		prefix + "source": "https://" + module, prefix + "documentation": "https://" + module,
		prefix + "version": r.version, prefix + "revision": r.commit, prefix + "created": r.created.Format(time.RFC3339),
	}
}

// entry is a file or a folder of a layer.
type entry struct {
	name    string
	mode    int64
	folder  bool
	content []byte
}

// newLayer builds a layer of entries that belong to root and have no time, so that equal content gives an equal layer.
func newLayer(entries ...entry) (v1.Layer, error) {
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	for _, e := range entries {
		header := &tar.Header{
			Format: tar.FormatPAX, ModTime: time.Unix(0, 0), Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.content)),
		}
		if e.folder {
			header.Typeflag, header.Name = tar.TypeDir, e.name+"/"
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("add %s to a layer: %w", e.name, err)
		}
		if _, err := writer.Write(e.content); err != nil {
			return nil, fmt.Errorf("add %s to a layer: %w", e.name, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buffer.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching,
	)
}

// newReferrer builds a manifest with an SBOM that refers to the image; registries list it as the image's referrer.
func newReferrer(image v1.Image, sbom []byte) (v1.Image, error) {
	subject, err := partial.Descriptor(image)
	if err != nil {
		return nil, err
	}
	referrer := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), sbomType)
	referrer, err = mutate.Append(referrer, mutate.Addendum{Layer: sbomLayer(sbom)})
	if err != nil {
		return nil, err
	}
	referring, ok := mutate.Subject(referrer, v1.Descriptor{
		MediaType: subject.MediaType, Size: subject.Size, Digest: subject.Digest,
	}).(v1.Image)
	if !ok {
		return nil, errors.New("a manifest with a subject is no manifest")
	}
	return referring, nil
}
