// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// images builds the OCI images of karmada-compute and karmada-compute-cell without a container engine: it compiles the
// binaries, puts each into an image that has nothing else, and writes, and with --push pushes, an index of all
// platforms with an SBOM of each. `images release` builds a release of a commit in the same way: images, the chart, the
// commands of users, and what verifies them. `images serve` serves the registry of a release. The same sources give the
// same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// options are the flags.
type options struct {
	source, version, out, push string
	platforms                  []*v1.Platform
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	flags.StringVar(&o.source, "source", "../../..", "Folder of the repository.")
	flags.StringVar(&o.version, "version", "v0.0.0-devel", "Version and tag of the images.")
	flags.StringVar(&o.out, "out", "../../../bin/images", "Folder to write to.")
	flags.StringVar(&o.push, "push", "",
		"Registry and prefix to push to, such as registry.example.com/compute. Default: images are not pushed.")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64", "Platforms, separated by commas.")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	var err error
	if o.platforms, err = parsePlatforms(*platforms, "linux"); err != nil {
		return nil, fmt.Errorf("--platforms: %w", err)
	}
	if o.version == "" {
		return nil, errors.New("--version: an image needs one")
	}
	for _, c := range components {
		if _, err := o.tag(c); err != nil {
			return nil, fmt.Errorf("--version, --push: %w", err)
		}
	}
	return o, nil
}

// parsePlatforms reads platforms of some systems, separated by commas.
func parsePlatforms(list string, systems ...string) ([]*v1.Platform, error) {
	var platforms []*v1.Platform
	for text := range strings.SplitSeq(list, ",") {
		platform, err := v1.ParsePlatform(text)
		if err != nil || !slices.Contains(systems, platform.OS) || platform.Architecture == "" || platform.Variant != "" {
			return nil, fmt.Errorf("%q is no platform such as linux/amd64", text)
		}
		platforms = append(platforms, platform)
	}
	return platforms, nil
}

// run runs the subcommand that the first argument names; without one, images are built.
func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "release":
			return runRelease(ctx, args[1:])
		case "serve":
			return runServe(ctx, args[1:])
		}
	}
	return runImages(ctx, args)
}

func runImages(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	r, err := newRelease(ctx, o.source, o.version)
	if err != nil {
		return err
	}
	binaries, err := os.MkdirTemp("", "karmada-compute-images-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(binaries) }() // it is in the folder for temporary files
	for _, platform := range o.platforms {
		if err := r.compile(ctx, platform, filepath.Join(binaries, platform.Architecture), components...); err != nil {
			return err
		}
	}
	for _, c := range components {
		built, err := build(r, c, o.platforms, binaries)
		if err != nil {
			return fmt.Errorf("build the image of %s: %w", c.name, err)
		}
		if err := o.deliver(ctx, built); err != nil {
			return err
		}
	}
	return nil
}

// deliver writes an image, and pushes it if that was asked for.
func (o *options) deliver(ctx context.Context, b *built) error {
	tag, err := o.tag(b.component)
	if err != nil {
		return err
	}
	if err := b.write(o.out, tag); err != nil {
		return fmt.Errorf("write the image of %s: %w", b.component.name, err)
	}
	digest, err := b.index.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("\n%s %s\n  OCI layout %s\n", b.component.name, digest, filepath.Join(o.out, b.component.name))
	for _, one := range b.images {
		digest, err := one.image.Digest()
		if err != nil {
			return err
		}
		fmt.Printf("  %s %s\n    docker load -i %s\n    SBOM %s\n", one.platform, digest, b.file(o.out, one, tarSuffix),
			b.file(o.out, one, sbomSuffix))
	}
	if o.push == "" {
		fmt.Printf("  to push it: crane push %s <registry>/%s:%s\n", filepath.Join(o.out, b.component.name), b.component.name, o.version)
		return nil
	}
	if err := b.push(ctx, tag); err != nil {
		return fmt.Errorf("push %s: %w", tag, err)
	}
	fmt.Printf("  pushed %s@%s\n", tag, digest)
	return nil
}
