// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// refName is the annotation with the tag of an entry of a layout.
const refName = "org.opencontainers.image.ref.name"

// loopback is the prefix of addresses of local registries, which have no TLS.
const loopback = "127.0.0.1:"

// localRegistry is a registry of this process on the loopback. It contains what is pushed to it, and mirrors no other
// registry.
type localRegistry struct {
	server *http.Server
	// address is the registry's host and port.
	address string
	served  chan error
}

// startRegistry starts a registry. Address 127.0.0.1:0 uses any free port. The registry has no referrers API, so that a
// tag leads to every manifest, and the registry can be saved.
func startRegistry(ctx context.Context, address string) (*localRegistry, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("start a local registry: %w", err)
	}
	r := &localRegistry{
		server:  &http.Server{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0))), ReadHeaderTimeout: time.Minute},
		address: listener.Addr().String(), served: make(chan error, 1),
	}
	go func() { r.served <- r.server.Serve(listener) }()
	return r, nil
}

func (r *localRegistry) stop() error {
	if err := r.server.Close(); err != nil {
		return err
	}
	if err := <-r.served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// remoteOptions returns the options of every call, with the credentials of docker login.
func remoteOptions(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
}

// saveRepository writes every tag of a repository into an OCI layout, with the manifests that the tags refer to.
func saveRepository(ctx context.Context, repository name.Repository, folder string) error {
	tags, err := remote.List(repository, remoteOptions(ctx)...)
	if err != nil {
		return fmt.Errorf("list the tags of %s: %w", repository, err)
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	for _, tag := range tags {
		found, err := remote.Get(repository.Tag(tag), remoteOptions(ctx)...)
		if err != nil {
			return err
		}
		if err := saveTag(path, tag, found); err != nil {
			return fmt.Errorf("save %s:%s: %w", repository, tag, err)
		}
	}
	return nil
}

func saveTag(path layout.Path, tag string, found *remote.Descriptor) error {
	annotation := layout.WithAnnotations(map[string]string{refName: tag})
	if found.MediaType.IsIndex() {
		index, err := found.ImageIndex()
		if err != nil {
			return err
		}
		return path.AppendIndex(index, annotation)
	}
	image, err := found.Image()
	if err != nil {
		return err
	}
	return path.AppendImage(image, annotation)
}

// loadRepositories pushes the layouts below a folder to a registry, each to the repository that its path names.
func loadRepositories(ctx context.Context, folder, address string) error {
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != "oci-layout" {
			return err
		}
		relative, err := filepath.Rel(folder, filepath.Dir(file))
		if err != nil {
			return err
		}
		repository, err := name.NewRepository(address + "/" + filepath.ToSlash(relative))
		if err != nil {
			return err
		}
		if err := loadRepository(ctx, filepath.Dir(file), repository); err != nil {
			return fmt.Errorf("load %s: %w", repository, err)
		}
		return nil
	})
}

func loadRepository(ctx context.Context, folder string, repository name.Repository) error {
	root, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return err
	}
	manifest, err := root.IndexManifest()
	if err != nil {
		return err
	}
	for _, entry := range manifest.Manifests {
		if err := loadTag(ctx, root, entry, repository.Tag(entry.Annotations[refName])); err != nil {
			return err
		}
	}
	return nil
}

func loadTag(ctx context.Context, root v1.ImageIndex, entry v1.Descriptor, tag name.Tag) error {
	if entry.MediaType.IsIndex() {
		index, err := root.ImageIndex(entry.Digest)
		if err != nil {
			return err
		}
		return remote.WriteIndex(tag, index, remoteOptions(ctx)...)
	}
	image, err := root.Image(entry.Digest)
	if err != nil {
		return err
	}
	return remote.Write(tag, image, remoteOptions(ctx)...)
}

// runServe serves the registry of a release until it is interrupted, and prints its address.
func runServe(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("images serve", flag.ContinueOnError)
	release := flags.String("release", "../../../bin/release", "Folder of the release.")
	address := flags.String("address", "127.0.0.1:5005", "Address to listen at. Port 0 is any free port.")
	if err := flags.Parse(args); err != nil {
		return err
	}
	folder := filepath.Join(*release, registryFolder)
	if _, err := os.Stat(folder); err != nil {
		return fmt.Errorf("%s is no release that was made with a registry of its own: %w", *release, err)
	}
	local, err := startRegistry(ctx, *address)
	if err != nil {
		return err
	}
	if err := loadRepositories(ctx, folder, local.address); err != nil {
		return errors.Join(err, local.stop())
	}
	fmt.Println(local.address)
	<-ctx.Done()
	return local.stop()
}
