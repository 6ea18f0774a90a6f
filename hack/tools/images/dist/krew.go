// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	_ "embed" // the script for completion
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// Plugin is the name of the kubectl plugin, and PluginBinary its binary.
const (
	Plugin       = "compute"
	PluginBinary = "kubectl-compute"
)

// PluginCompletion is the executable that kubectl runs to complete the plugin's arguments, from $PATH. It is beside the
// plugin in its archives.
const PluginCompletion = "kubectl_complete-compute"

//go:embed kubectl_complete-compute
var pluginCompletion []byte

// ArchiveSuffix is the suffix of archives.
const ArchiveSuffix = ".tar.gz"

// ArchiveName returns the name of the archive of a binary for a platform such as linux/amd64.
func ArchiveName(binary, version, platform string) string {
	return binary + "_" + version + "_" + strings.ReplaceAll(platform, "/", "_") + ArchiveSuffix
}

// KrewFile is the name of the manifest: krew requires the plugin's name.
const KrewFile = Plugin + ".yaml"

// krewPlugin is the manifest of a plugin. The module proxy does not have Krew's module, which defines these types.
type krewPlugin struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       krewSpec          `json:"spec"`
}

type krewSpec struct {
	Version          string         `json:"version"`
	Homepage         string         `json:"homepage"`
	ShortDescription string         `json:"shortDescription"`
	Description      string         `json:"description"`
	Platforms        []krewPlatform `json:"platforms"`
}

type krewPlatform struct {
	Selector map[string]map[string]string `json:"selector"`
	URI      string                       `json:"uri"`
	SHA256   string                       `json:"sha256"`
	Bin      string                       `json:"bin"`
}

// Krew returns the manifest of the plugin, for `kubectl krew install` and krew's index.
func Krew(about *About, sums Checksums, platforms []string) ([]byte, error) {
	spec := krewSpec{
		Version: about.Version, Homepage: about.Repository, ShortDescription: "Show and change Workloads of karmada-compute",
		Description: "Shows where the Instances of a Workload run, explains why they do not run, and restarts, scales and " +
			"converts Workloads, with the\n" +
			"rights of the user.\n",
	}
	for _, platform := range platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		archive := ArchiveName(PluginBinary, about.Version, platform)
		if sums[archive] == "" {
			return nil, fmt.Errorf("%s has no checksum", archive)
		}
		spec.Platforms = append(spec.Platforms, krewPlatform{
			Selector: map[string]map[string]string{"matchLabels": {"os": system, "arch": architecture}},
			URI:      about.Downloads + "/" + archive, SHA256: sums[archive], Bin: PluginBinary,
		})
	}
	return yaml.Marshal(krewPlugin{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": Plugin}, Spec: spec,
	})
}
