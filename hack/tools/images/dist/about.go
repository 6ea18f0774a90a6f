// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// About holds the facts about a release that its files contain.
type About struct {
	// Version is the tag, such as v0.1.0.
	Version string
	// Commit is the commit of the tag, and Created its time.
	Commit  string
	Created time.Time
	// Repository is the URL of the sources, and Downloads the URL of the folder with the files of the release.
	Repository, Downloads string
	// Registry is the registry, with a prefix, from which images and the chart are pulled, such as
	// ghcr.io/karmada-compute.
	Registry string
	// Images are the digests of the images, by their names.
	Images map[string]string
}

// ChartVersion returns the version of the chart. Helm's versions have no v.
func (a *About) ChartVersion() string { return strings.TrimPrefix(a.Version, "v") }

// ChartRepository returns the repository of the chart, without a scheme.
func (a *About) ChartRepository() string { return a.Registry + "/charts" }

func (a *About) prerelease() bool { return semver.Prerelease(a.Version) != "" }

// Image returns the reference of an image by tag and digest.
func (a *About) Image(name string) string {
	return a.Registry + "/" + name + ":" + a.Version + "@" + a.Images[name]
}
