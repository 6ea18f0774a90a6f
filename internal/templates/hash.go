// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Hash is a hash of a template. Instances that have it need no replacement. Fields that the add-on itself sets
// (spec.location, spec.controller) are not part of it.
func Hash(template *v1alpha.InstanceTemplateSpec) (string, error) {
	canonical := struct {
		Labels      map[string]string    `json:"labels,omitempty"`
		Annotations map[string]string    `json:"annotations,omitempty"`
		Spec        v1alpha.InstanceSpec `json:"spec"`
	}{template.Labels, template.Annotations, template.Spec}
	canonical.Spec.Location = nil
	canonical.Spec.Controller = nil
	// Both spellings name the same type: respelling it replaces nothing. The one with a slash is older.
	if name := v1alpha.InstanceTypeName(canonical.Spec.Runtime.Resources.InstanceType); name != "" {
		canonical.Spec.Runtime.Resources.InstanceType = strings.Replace(name, "-", "/", 1)
	}
	// JSON of Go structs and sorted maps is deterministic.
	encoded, err := json.Marshal(canonical)
	if err != nil {
		return "", fmt.Errorf("encode the template to hash it: %w", err)
	}
	hasher := fnv.New64a()
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write(encoded)
	return strconv.FormatUint(hasher.Sum64(), 36), nil
}
