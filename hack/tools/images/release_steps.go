// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	helmregistry "helm.sh/helm/v3/pkg/registry"

	"github.com/karmada-compute/karmada-compute/hack/tools/images/dist"
)

// commands are the users' binaries. Each has an archive for each platform.
var commands = []component{
	{"karmadactl", "Karmada's karmadactl with the addon karmada-compute and the command compute."},
	{dist.PluginBinary, "A plugin of kubectl that shows and changes Workloads."},
}

// images compiles, builds and pushes the images.
func (r *releasing) images(ctx context.Context) error {
	binaries := filepath.Join(r.temporary, "images")
	for _, platform := range r.platforms {
		if err := r.release.compile(ctx, platform, filepath.Join(binaries, platform.Architecture), components...); err != nil {
			return err
		}
	}
	for _, c := range components {
		b, err := build(r.release, c, r.platforms, binaries)
		if err != nil {
			return fmt.Errorf("build the image of %s: %w", c.name, err)
		}
		tag, err := r.tag(c)
		if err != nil {
			return err
		}
		if err := b.push(ctx, tag); err != nil {
			return fmt.Errorf("push %s: %w", tag, err)
		}
		digest, err := b.index.Digest()
		if err != nil {
			return err
		}
		r.about.Images[c.name] = digest.String()
		fmt.Printf("%s/%s:%s@%s\n", r.registry, c.name, r.version, digest)
		for _, one := range b.images {
			if err := r.write(sbomName(c, r.version, one.platform), one.sbom); err != nil {
				return err
			}
		}
	}
	return nil
}

// sbomName returns the name of the SBOM of a binary.
func sbomName(c component, version string, platform *v1.Platform) string {
	return strings.TrimSuffix(dist.ArchiveName(c.name, version, platform.String()), dist.ArchiveSuffix) + sbomSuffix
}

// chart stamps, packs and pushes the chart. Binaries that are compiled afterwards embed the stamped chart.
func (r *releasing) chart(ctx context.Context) error {
	folder := r.release.chartFolder()
	if err := dist.StampChart(folder, r.about); err != nil {
		return err
	}
	if err := r.release.generateChart(ctx); err != nil {
		return err
	}
	content, err := dist.PackageChart(folder, r.about)
	if err != nil {
		return err
	}
	if err := r.write(dist.ChartArchive(r.about), content); err != nil {
		return err
	}
	client, err := helmregistry.NewClient(r.helmOptions()...)
	if err != nil {
		return err
	}
	pushed, err := client.Push(content, r.chartReference(), helmregistry.PushOptCreationTime(r.about.Created.UTC().Format(time.RFC3339)))
	if err != nil {
		return fmt.Errorf("push the chart: %w", err)
	}
	r.chartDigest = pushed.Manifest.Digest
	fmt.Printf("oci://%s/%s:%s@%s\n", r.about.ChartRepository(), dist.ChartName, r.about.ChartVersion(), r.chartDigest)
	return nil
}

// helmOptions returns options for Helm's client, which does not detect a local registry by itself.
func (r *releasing) helmOptions() []helmregistry.ClientOption {
	if strings.HasPrefix(r.push, loopback) {
		return []helmregistry.ClientOption{helmregistry.ClientOptPlainHTTP()}
	}
	return nil
}

// chartReference returns the reference to which the chart is pushed.
func (r *releasing) chartReference() string {
	return r.push + "/charts/" + dist.ChartName + ":" + r.about.ChartVersion()
}

// commands compiles the users' binaries and packs each into an archive with the licence, and an SBOM beside it.
func (r *releasing) commands(ctx context.Context) error {
	license, err := os.ReadFile(filepath.Join(r.release.source, "LICENSE"))
	if err != nil {
		return err
	}
	for _, platform := range r.cliPlatforms {
		folder := filepath.Join(r.temporary, "commands", strings.ReplaceAll(platform.String(), "/", "_"))
		if err := r.release.compile(ctx, platform, folder, commands...); err != nil {
			return err
		}
		for _, c := range commands {
			if err := r.pack(c, platform, filepath.Join(folder, c.name), license); err != nil {
				return fmt.Errorf("pack %s for %s: %w", c.name, platform, err)
			}
		}
	}
	return nil
}

// pack writes the archive and the SBOM of a binary.
func (r *releasing) pack(c component, platform *v1.Platform, binary string, license []byte) error {
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	archive, err := dist.Command(r.about.Created, c.name, content, license)
	if err != nil {
		return err
	}
	if err := r.write(dist.ArchiveName(c.name, r.version, platform.String()), archive); err != nil {
		return err
	}
	sbom, err := newSBOM(r.release, c, binary)
	if err != nil {
		return err
	}
	return r.write(sbomName(c, r.version, platform), sbom)
}

// describe writes the files that contain checksums of the archives: the manifests of package indexes, the provenance,
// and the checksums of all files.
func (r *releasing) describe(ctx context.Context) error {
	sums, err := dist.Sum(r.out, r.files)
	if err != nil {
		return err
	}
	var platforms []string
	for _, platform := range r.cliPlatforms {
		platforms = append(platforms, platform.String())
	}
	krew, err := dist.Krew(r.about, sums, platforms)
	if err != nil {
		return err
	}
	hub, err := dist.ArtifactHub(r.about, sums)
	if err != nil {
		return err
	}
	for file, content := range map[string][]byte{dist.KrewFile: krew, dist.ArtifactHubFile: hub} {
		if err := r.write(file, content); err != nil {
			return err
		}
	}
	if err := r.provenance(ctx); err != nil {
		return err
	}
	if sums, err = dist.Sum(r.out, r.files); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, dist.ChecksumsFile), []byte(sums.String()), 0o644) //nolint:gosec // a release is for everybody
}

// provenance writes the statement about all files, the images and the chart.
func (r *releasing) provenance(ctx context.Context) error {
	sums, err := dist.Sum(r.out, r.files)
	if err != nil {
		return err
	}
	goVersion, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	if err != nil {
		return fmt.Errorf("ask the go command for its version: %w", err)
	}
	subject := *r.about
	subject.Images = map[string]string{"charts/" + dist.ChartName: r.chartDigest}
	maps.Copy(subject.Images, r.about.Images)
	content, err := dist.Provenance(&subject, sums, dist.Build{
		Builder: r.builder, Go: strings.TrimSpace(string(goVersion)),
		Parameters: map[string]string{"version": r.version, "registry": r.registry, "downloads": r.downloads},
	})
	if err != nil {
		return err
	}
	return r.write(dist.ProvenanceFile, content)
}

// sign signs the checksums, the provenance, and the images and the chart by digest.
func (r *releasing) sign(ctx context.Context) error {
	fmt.Println("signing")
	if err := r.signer.publicKey(ctx, filepath.Join(r.out, publicKeyFile)); err != nil {
		return err
	}
	if err := r.signer.signFile(ctx, filepath.Join(r.out, dist.ChecksumsFile)); err != nil {
		return err
	}
	if err := r.signer.attest(ctx, filepath.Join(r.out, dist.ProvenanceFile)); err != nil {
		return err
	}
	if err := r.share(); err != nil {
		return err
	}
	references := []string{r.push + "/charts/" + dist.ChartName + "@" + r.chartDigest}
	for _, c := range components {
		references = append(references, r.push+"/"+c.name+"@"+r.about.Images[c.name])
	}
	for _, reference := range references {
		if err := r.signer.signImage(ctx, reference); err != nil {
			return err
		}
	}
	return nil
}

// share makes the files readable that cosign wrote for its user only.
func (r *releasing) share() error {
	written := []string{dist.ChecksumsFile + bundleSuffix, dist.ProvenanceFile + bundleSuffix}
	if r.key != keyless {
		written = append(written, publicKeyFile)
	}
	for _, file := range written {
		if err := os.Chmod(filepath.Join(r.out, file), 0o644); err != nil { //nolint:gosec // a release is for everybody
			return err
		}
	}
	return nil
}

// saveRegistry writes all pushed content, including signatures, into the folder of the release.
func (r *releasing) saveRegistry(ctx context.Context) error {
	_, prefix, _ := strings.Cut(r.push, "/")
	for _, path := range []string{components[0].name, components[1].name, "charts/" + dist.ChartName} {
		repository, err := name.NewRepository(r.push + "/" + path)
		if err != nil {
			return err
		}
		if err := saveRepository(ctx, repository, filepath.Join(r.out, registryFolder, prefix, path)); err != nil {
			return err
		}
	}
	return nil
}
