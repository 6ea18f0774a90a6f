// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package charts embeds the chart of the add-on, the one source of its manifests, and renders it without a cluster.
package charts

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Name is the name of the chart, and of its folder in FS.
const Name = "karmada-compute"

// defaultKubeVersion stands for the API server when its version is not given. The Helm library's own default is an old
// one.
const defaultKubeVersion = "v1.35.0"

// Release holds the properties of the installation that templates use.
type Release struct {
	// Name of the release. Default: the chart's name.
	Name string
	// Namespace of the part at the host. Default: karmada-system.
	Namespace string
	// ManagedBy is the value of the label app.kubernetes.io/managed-by. Default: Helm.
	ManagedBy string
	// KubeVersion is the version of the API server that the objects are for. Default: v1.35.0.
	KubeVersion string
}

// Load returns the embedded chart.
func Load() (*chart.Chart, error) {
	var files []*loader.BufferedFile
	if err := fs.WalkDir(FS, Name, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := FS.ReadFile(name)
		files = append(files, &loader.BufferedFile{Name: strings.TrimPrefix(name, Name+"/"), Data: content})
		return err
	}); err != nil {
		return nil, fmt.Errorf("read the embedded chart: %w", err)
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return nil, fmt.Errorf("load the embedded chart: %w", err)
	}
	return loaded, nil
}

// Render merges values with the chart's defaults, validates them against the schema and returns the objects of the
// enabled parts in the order in which they have to be applied. Errors name the key of a wrong value.
func Render(values map[string]any, release Release) ([]*unstructured.Unstructured, error) {
	loaded, err := Load()
	if err != nil {
		return nil, err
	}
	rendered, err := execute(loaded, values, release)
	if err != nil {
		return nil, err
	}
	return decode(rendered)
}

// execute returns the content of every template.
func execute(c *chart.Chart, values map[string]any, release Release) (map[string]string, error) {
	capabilities := chartutil.DefaultCapabilities.Copy()
	version, err := chartutil.ParseKubeVersion(cmp.Or(release.KubeVersion, defaultKubeVersion))
	if err != nil {
		return nil, fmt.Errorf("Kubernetes version %q: %w", release.KubeVersion, err)
	}
	capabilities.KubeVersion = *version
	if constraint := c.Metadata.KubeVersion; !chartutil.IsCompatibleRange(constraint, capabilities.KubeVersion.Version) {
		return nil, fmt.Errorf("Kubernetes %s is not supported: the chart requires %s", capabilities.KubeVersion.Version, constraint)
	}
	complete, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{
		Name: cmp.Or(release.Name, Name), Namespace: cmp.Or(release.Namespace, "karmada-system"), Revision: 1, IsInstall: true,
	}, capabilities)
	if err != nil {
		return nil, err
	}
	if facts, ok := complete["Release"].(map[string]any); ok && release.ManagedBy != "" {
		facts["Service"] = release.ManagedBy
	}
	rendered, err := engine.Render(c, complete)
	if err != nil {
		return nil, fmt.Errorf("render the chart: %w", err)
	}
	return rendered, nil
}

// decode returns the objects of rendered templates in install order: namespaces, RBAC, … and kinds that Helm does not
// know last. Helm's own sorting parses each object again, with the long schemas of our kinds among them.
func decode(rendered map[string]string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if path.Ext(name) != ".yaml" {
			continue
		}
		decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(rendered[name]), 4096)
		for {
			object := &unstructured.Unstructured{}
			if err := decoder.Decode(object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("decode what %s renders: %w", name, err)
			}
			if len(object.Object) > 0 {
				objects = append(objects, object)
			}
		}
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(installOrder(a.GetKind()), installOrder(b.GetKind())), cmp.Compare(a.GetKind(), b.GetKind()))
	})
	return objects, nil
}

// installOrder is the place of a kind in Helm's order.
func installOrder(kind string) int {
	if at := slices.Index(releaseutil.InstallOrder, kind); at >= 0 {
		return at
	}
	return len(releaseutil.InstallOrder)
}

// Option is a value of the chart that a user may set.
type Option struct {
	// Key with dots, such as host.replicas.
	Key string
	// Default in JSON.
	Default string
	// Comment in values.yaml, in one line.
	Comment string
}

// Options returns the options in the order of values.yaml, and the groups that they are in, which have no defaults. A map is a
// group of options if its keys have comments, and otherwise one option.
func Options() (options, groups []Option, err error) {
	content, err := FS.ReadFile(Name + "/values.yaml")
	if err != nil {
		return nil, nil, fmt.Errorf("read the embedded values: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, nil, fmt.Errorf("parse the embedded values: %w", err)
	}
	w := &walk{}
	if err := w.group("", document.Content[0]); err != nil {
		return nil, nil, err
	}
	return w.options, w.groups, nil
}

type walk struct {
	options []Option
	groups  []Option
}

// group adds the options of a map, whose content is a list of keys and values in turn.
func (w *walk) group(prefix string, node *yaml.Node) error {
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		key := prefix + name.Value
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && value.Content[0].HeadComment != "" {
			w.groups = append(w.groups, Option{Key: key, Comment: oneLine(name.HeadComment)})
			if err := w.group(key+".", value); err != nil {
				return err
			}
			continue
		}
		var content any
		if err := value.Decode(&content); err != nil {
			return fmt.Errorf("decode the default of %s: %w", key, err)
		}
		asJSON, err := json.Marshal(content)
		if err != nil {
			return fmt.Errorf("encode the default of %s: %w", key, err)
		}
		w.options = append(w.options, Option{Key: key, Default: string(asJSON), Comment: oneLine(name.HeadComment)})
	}
	return nil
}

// oneLine returns the text of the last comment before a key. Comments before it, such as the head of the file, end with an empty line.
func oneLine(comment string) string {
	if i := strings.LastIndex(comment, "\n\n"); i >= 0 {
		comment = comment[i+2:]
	}
	comment = strings.ReplaceAll(strings.ReplaceAll(comment, "\n# ", " "), "\n#", "")
	return strings.TrimPrefix(comment, "# ")
}

// FS has the folder karmada-compute with the chart.
//
//go:embed all:karmada-compute
var FS embed.FS
