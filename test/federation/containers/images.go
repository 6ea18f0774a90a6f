// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// program is the path of the program in its images.
const program = "/program"

// Media types of the parts of an image.
const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar"
)

// descriptor refers to a part of an image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// archive is an OCI layout in a tar file. Its first error stays.
type archive struct {
	to  *tar.Writer
	err error
}

// WriteImages writes an OCI archive of images that all have one static program, as nobody's. The value of an image is
// the arguments of the program.
func WriteImages(path, binary string, images map[string][]string) (err error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	layer, err := layerOf(content)
	if err != nil {
		return fmt.Errorf("pack %s: %w", binary, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	a := &archive{to: tar.NewWriter(file)}
	a.add("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	packed := a.blob(mediaLayer, layer)
	manifests := []descriptor{}
	for _, name := range slices.Sorted(maps.Keys(images)) {
		manifests = append(manifests, a.image(name, images[name], packed))
	}
	a.add("index.json", a.json(map[string]any{"schemaVersion": 2, "mediaType": mediaIndex, "manifests": manifests}))
	if err := errors.Join(a.err, a.to.Close(), file.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), path)
}

// layerOf packs a program. A container can write to /tmp.
func layerOf(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	to := tar.NewWriter(&packed)
	err := errors.Join(
		to.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}),
		to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: program[1:], Mode: 0o755, Size: int64(len(content))}),
	)
	if err == nil {
		_, err = to.Write(content)
	}
	err = errors.Join(err, to.Close())
	return packed.Bytes(), err
}

// image adds an image and returns what refers to it.
func (a *archive) image(name string, args []string, layer descriptor) descriptor {
	config := a.blob(mediaConfig, a.json(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{program}, "Cmd": args, "User": "65534:65534", "WorkingDir": "/tmp"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{layer.Digest}},
	}))
	manifest := a.blob(mediaManifest, a.json(map[string]any{
		"schemaVersion": 2, "mediaType": mediaManifest, "config": config, "layers": []descriptor{layer},
	}))
	manifest.Annotations = map[string]string{"io.containerd.image.name": name}
	return manifest
}

func (a *archive) json(value any) []byte {
	content, err := json.Marshal(value)
	a.err = errors.Join(a.err, err)
	return content
}

func (a *archive) blob(mediaType string, content []byte) descriptor {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	a.add("blobs/sha256/"+digest, content)
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(content)}
}

func (a *archive) add(name string, content []byte) {
	if a.err != nil {
		return
	}
	if a.err = a.to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))}); a.err == nil {
		_, a.err = a.to.Write(content)
	}
}
