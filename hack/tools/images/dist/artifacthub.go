// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/yaml"
)

// ArtifactHubFile is the name that Artifact Hub requires.
const ArtifactHubFile = "artifacthub-pkg.yml"

// artifactHubPackage is Artifact Hub's metadata of a package. Artifact Hub's module has these fields in a type that
// depends on its database.
type artifactHubPackage struct {
	Version          string           `json:"version"`
	Name             string           `json:"name"`
	DisplayName      string           `json:"displayName"`
	CreatedAt        string           `json:"createdAt"`
	Description      string           `json:"description"`
	Digest           string           `json:"digest"`
	License          string           `json:"license"`
	HomeURL          string           `json:"homeURL"`
	AppVersion       string           `json:"appVersion"`
	ContainersImages []artifactImage  `json:"containersImages"`
	Prerelease       bool             `json:"prerelease,omitempty"`
	Keywords         []string         `json:"keywords"`
	Links            []map[string]any `json:"links"`
	Install          string           `json:"install"`
	Provider         map[string]any   `json:"provider"`
}

type artifactImage struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// images returns the images of a release by digest.
func (a *About) images() []artifactImage {
	var images []artifactImage
	for _, name := range slices.Sorted(maps.Keys(a.Images)) {
		images = append(images, artifactImage{Name: name, Image: a.Image(name)})
	}
	return images
}

// ArtifactHub returns the package's metadata. Its digest is the checksum of the chart's archive.
func ArtifactHub(about *About, sums Checksums) ([]byte, error) {
	if sums[ChartArchive(about)] == "" {
		return nil, fmt.Errorf("%s has no checksum", ChartArchive(about))
	}
	return yaml.Marshal(artifactHubPackage{
		Version: about.ChartVersion(), Name: ChartName, DisplayName: ChartName, CreatedAt: about.Created.UTC().Format(time.RFC3339),
		Description: "A Karmada add-on that runs Workloads of Milo projects in the cities they name, on the member clusters of those cities.",
		Digest:      "sha256:" + sums[ChartArchive(about)], License: "Apache-2.0", HomeURL: about.Repository, AppVersion: about.Version,
		ContainersImages: about.images(), Prerelease: about.prerelease(), Keywords: []string{"karmada", "multicluster", "milo"},
		Links:    []map[string]any{{"name": "source", "url": about.Repository}},
		Install:  "helm pull oci://" + about.ChartRepository() + "/" + ChartName + " --version " + about.ChartVersion() + "\n",
		Provider: map[string]any{"name": "The karmada-compute Authors"},
	})
}
