// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/mod/semver"

	"github.com/karmada-compute/karmada-compute/hack/tools/images/dist"
)

// Folders of a release that do not contain files for download.
const (
	registryFolder = "registry"
	publicKeyFile  = "cosign.pub"
	notesFile      = "notes.md"
)

// releaseOptions are the flags of `images release`.
type releaseOptions struct {
	options

	cliPlatforms []*v1.Platform
	registry     string
	downloads    string
	cosign, key  string
	builder      string
}

func parseRelease(args []string) (*releaseOptions, error) {
	o := &releaseOptions{}
	flags := flag.NewFlagSet("images release", flag.ContinueOnError)
	flags.StringVar(&o.source, "source", "../../..", "Folder of the repository. What is committed there is released, and nothing else.")
	flags.StringVar(&o.version, "version", "", "Version, which is the tag of the commit: vX.Y.Z, or vX.Y.Z-rc.N.")
	flags.StringVar(&o.out, "out", "../../../bin/release", "Folder to write to. A release in it is removed first.")
	flags.StringVar(&o.registry, "registry", "ghcr.io/karmada-compute", "Registry and prefix that users pull from.")
	flags.StringVar(&o.push, "push", "",
		"Registry and prefix to push to. Default: a registry of this process, which is saved in the folder registry.")
	flags.StringVar(&o.downloads, "downloads", "", "URL of the folder of the files. Default: that of the release at GitHub.")
	flags.StringVar(&o.cosign, "cosign", "cosign", "Path of cosign.")
	flags.StringVar(&o.key, "key", "",
		"Private key of cosign, a path or a KMS URI, or \"keyless\" for the identity of a workflow. Default: a pair is made for the run.")
	flags.StringVar(&o.builder, "builder", "https://"+module+"/blob/main/Makefile", "URI of the builder, for the provenance.")
	images := flags.String("platforms", "linux/amd64,linux/arm64", "Platforms of the images, separated by commas.")
	commands := flags.String("cli-platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64",
		"Platforms of the commands, separated by commas.")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if semver.Canonical(o.version) != o.version || o.version == "" {
		return nil, fmt.Errorf("--version: %q is no version such as v0.1.0: tag the commit, or set VERSION", o.version)
	}
	if !strings.Contains(o.registry, "/") || strings.Contains(o.registry, "://") {
		return nil, fmt.Errorf("--registry: %q is no registry with a prefix, such as ghcr.io/karmada-compute", o.registry)
	}
	if o.downloads == "" {
		o.downloads = "https://" + module + "/releases/download/" + o.version
	}
	var err error
	if o.platforms, err = parsePlatforms(*images, "linux"); err != nil {
		return nil, fmt.Errorf("--platforms: %w", err)
	}
	if o.cliPlatforms, err = parsePlatforms(*commands, "linux", "darwin"); err != nil {
		return nil, fmt.Errorf("--cli-platforms: %w", err)
	}
	return o, nil
}

// releasing is a run of `images release`.
type releasing struct {
	*releaseOptions

	release *release
	about   *dist.About
	signer  *signer
	// chartDigest is the digest of the chart's manifest in the registry.
	chartDigest string
	// temporary has the sources, the binaries and the key pair of the run.
	temporary string
	// files are those in the folder that have a checksum.
	files []string
}

func runRelease(ctx context.Context, args []string) (err error) {
	o, err := parseRelease(args)
	if err != nil {
		return err
	}
	r := &releasing{releaseOptions: o}
	if r.temporary, err = os.MkdirTemp("", "karmada-compute-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.temporary)) }()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	local := o.push == ""
	if local {
		registry, err := startRegistry(ctx, loopback+"0")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, registry.stop()) }()
		_, prefix, _ := strings.Cut(o.registry, "/")
		o.push = registry.address + "/" + prefix
	}
	for _, step := range []func(context.Context) error{r.images, r.chart, r.commands, r.describe, r.sign} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if local {
		if err := r.saveRegistry(ctx); err != nil {
			return err
		}
	}
	fmt.Printf("\nrelease %s of commit %s: %s\n", o.version, r.release.commit, o.out)
	return nil
}

// prepare checks the tag, the notes, cosign and the folder before anything is compiled.
func (r *releasing) prepare(ctx context.Context) error {
	var err error
	if r.release, err = exportSources(ctx, r.source, r.version, filepath.Join(r.temporary, "sources")); err != nil {
		return err
	}
	r.about = &dist.About{
		Version: r.version, Commit: r.release.commit, Created: r.release.created, Repository: "https://" + module,
		Downloads: r.downloads, Registry: r.registry, Images: map[string]string{},
	}
	changelog, err := os.ReadFile(filepath.Join(r.release.source, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	notes, err := dist.Notes(string(changelog), r.version, r.about.Repository)
	if err != nil {
		return err
	}
	if r.signer, err = newSigner(ctx, r.cosign, r.key, r.temporary); err != nil {
		return err
	}
	if err := removeRelease(r.out); err != nil {
		return err
	}
	return r.write(notesFile, []byte(notes))
}

// removeRelease removes only an earlier release, and leaves an empty folder.
func removeRelease(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return os.MkdirAll(folder, 0o750)
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(folder, notesFile)); err != nil {
		return fmt.Errorf("%s has files and is no release: remove it, or choose another folder: %w", folder, err)
	}
	return errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o750))
}

// write writes a file that has a checksum.
func (r *releasing) write(file string, content []byte) error {
	r.files = append(r.files, file)
	return os.WriteFile(filepath.Join(r.out, file), content, 0o644) //nolint:gosec // a release is for everybody
}
