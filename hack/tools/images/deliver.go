// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Suffixes of the files beside the layout.
const (
	tarSuffix  = ".tar"
	sbomSuffix = ".cdx.json"
)

// local is the repository of images that are not pushed: the chart's default.
const local = "ghcr.io/karmada-compute"

// tag is the name of an image. Pushed images need a registry: one is not made up.
func (o *options) tag(c component) (name.Tag, error) {
	if o.push == "" {
		return name.NewTag(local+"/"+c.name+":"+o.version, name.WithDefaultRegistry(""))
	}
	if strings.Contains(o.push, "://") {
		return name.Tag{}, fmt.Errorf("%q is a URL; a registry is named without a scheme", o.push)
	}
	return name.NewTag(o.push+"/"+c.name+":"+o.version, name.StrictValidation)
}

// write writes the OCI layout, and for each platform a tar for docker load and the SBOM.
func (b *built) write(out string, tag name.Tag) error {
	folder := filepath.Join(out, b.component.name)
	if err := removeLayout(folder); err != nil {
		return err
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	// The only entry, so that crane can push the folder: the SBOMs are in the index, too.
	if err := path.AppendIndex(b.index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": tag.TagStr(),
	})); err != nil {
		return err
	}
	for _, one := range b.images {
		if err := tarball.WriteToFile(b.file(out, one, tarSuffix), tag, one.image); err != nil {
			return err
		}
		if err := os.WriteFile(b.file(out, one, sbomSuffix), one.sbom, 0o644); err != nil { //nolint:gosec // an SBOM is for everybody
			return err
		}
	}
	return nil
}

// file is the path of a file of one platform.
func (b *built) file(out string, one platformImage, suffix string) string {
	return filepath.Join(out, b.component.name+"_"+one.platform.OS+"_"+one.platform.Architecture+suffix)
}

// removeLayout removes the layout of an earlier build, and nothing else.
func removeLayout(folder string) error {
	_, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(folder, "oci-layout")); err != nil {
		return fmt.Errorf("%s exists and is no OCI layout: remove it, or choose another folder: %w", folder, err)
	}
	return os.RemoveAll(folder)
}

// push pushes the images and their SBOMs, with the credentials of docker login.
func (b *built) push(ctx context.Context, tag name.Tag) error {
	return remote.WriteIndex(tag, b.index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
}
