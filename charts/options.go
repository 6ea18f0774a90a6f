// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Option is a value of the chart that a user may set.
type Option struct {
	// Key with dots, such as host.replicas.
	Key string
	// Default in JSON.
	Default string
	// Comment in values.yaml, in one line.
	Comment string
}

// Options returns the options in the order of values.yaml, and the keys of the groups that they are in. A map is a group of options
// if its keys have comments, and otherwise one option.
func Options() (options []Option, groups []string, err error) {
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
	groups  []string
}

// group adds the options of a map, whose content is a list of keys and values in turn.
func (w *walk) group(prefix string, node *yaml.Node) error {
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		key := prefix + name.Value
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && value.Content[0].HeadComment != "" {
			w.groups = append(w.groups, key)
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
		comment := strings.ReplaceAll(strings.ReplaceAll(name.HeadComment, "\n# ", " "), "\n#", "")
		w.options = append(w.options, Option{Key: key, Default: string(asJSON), Comment: strings.TrimPrefix(comment, "# ")})
	}
	return nil
}
