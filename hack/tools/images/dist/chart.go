// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"sigs.k8s.io/yaml"
)

// ChartName is the name of the chart.
const ChartName = "karmada-compute"

// ChartArchive returns the name of the chart's archive, which is Helm's.
func ChartArchive(about *About) string { return ChartName + "-" + about.ChartVersion() + ".tgz" }

// replacement is a pattern, the number of lines of a file that must match it, and the new text.
type replacement struct {
	pattern, by string
	times       int
}

// StampChart writes the version, and the registry of the images, into the chart in a folder. karmadactl embeds the same
// chart, so that both install the images of the release.
func StampChart(folder string, about *About) error {
	registry, prefix, found := strings.Cut(about.Registry, "/")
	if !found {
		return fmt.Errorf("%q is no registry with a prefix, such as ghcr.io/karmada-compute", about.Registry)
	}
	annotations, err := chartAnnotations(about)
	if err != nil {
		return err
	}
	if err := replaceLines(filepath.Join(folder, "values.yaml"), "",
		replacement{`(?m)^( +)registry: ghcr.io$`, "${1}registry: " + registry, 2},
		replacement{`(?m)^( +)repository: karmada-compute/karmada-compute(-cell)?$`, "${1}repository: " + prefix + "/karmada-compute${2}", 2},
	); err != nil {
		return err
	}
	return replaceLines(filepath.Join(folder, "Chart.yaml"), annotations,
		replacement{`(?m)^version: .*$`, "version: " + about.ChartVersion(), 1},
		replacement{`(?m)^appVersion: .*$`, "appVersion: " + about.Version, 1},
	)
}

// chartAnnotations returns the annotations that Artifact Hub reads in charts.
func chartAnnotations(about *About) (string, error) {
	images, err := yaml.Marshal(about.images())
	if err != nil {
		return "", err
	}
	content, err := yaml.Marshal(map[string]any{"annotations": map[string]string{
		"artifacthub.io/images": string(images), "artifacthub.io/license": "Apache-2.0",
		"artifacthub.io/prerelease": fmt.Sprint(about.prerelease()),
	}})
	return string(content), err
}

// replaceLines replaces lines of a file, and appends a text. A pattern that does not occur as often as expected is an
// error: the release's chart would differ from the chart that its author expects.
func replaceLines(file, appended string, replacements ...replacement) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, r := range replacements {
		pattern := regexp.MustCompile(r.pattern)
		if times := len(pattern.FindAll(content, -1)); times != r.times {
			return fmt.Errorf("%d lines of %s match %s, not %d: change package dist with the chart", times, file, r.pattern, r.times)
		}
		content = pattern.ReplaceAll(content, []byte(r.by))
	}
	return os.WriteFile(file, append(content, appended...), 0o600)
}

// PackageChart returns the archive of the chart in a folder, which Helm must be able to load.
func PackageChart(folder string, about *About) ([]byte, error) {
	loaded, err := loader.LoadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("load the chart: %w", err)
	}
	if err := loaded.Validate(); err != nil {
		return nil, fmt.Errorf("the chart is invalid: %w", err)
	}
	var files []File
	content := os.DirFS(folder)
	if err := fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := fs.ReadFile(content, name)
		files = append(files, File{Name: path.Join(ChartName, name), Mode: 0o644, Content: file})
		return err
	}); err != nil {
		return nil, err
	}
	return TarGz(about.Created, files...)
}
