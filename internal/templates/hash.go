// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Hash is a hash of the meaning of a template: templates that are semantically equal have the same one, whatever the
// notation of their quantities. Instances that have it need no replacement. Fields that the add-on itself sets
// (spec.location, spec.controller) are not part of it.
func Hash(template *v1alpha.InstanceTemplateSpec) (string, error) {
	v, err := VersionOf(template)
	return v.Hash, err
}

// Version is a template as Instances have it.
type Version struct {
	// Hash is the hash of the meaning of the template.
	Hash string
}

// VersionOf returns the version of a template.
func VersionOf(template *v1alpha.InstanceTemplateSpec) (Version, error) {
	hash, err := hashText(canonical(template))
	return Version{Hash: hash}, err
}

// Is reports whether a hash is one of the template. Of an Instance's hash, the template that it runs counts.
func (v Version) Is(hash string) bool {
	hash = Content(hash)
	return hash != "" && hash == v.Hash
}

// Current returns the hash of the template for each hash of an Instance that runs it, and other hashes unchanged.
func (v Version) Current(hash string) string {
	if v.Is(hash) {
		return v.Hash
	}
	return hash
}

// hashText is a hash of the text of a template.
func hashText(template *v1alpha.InstanceTemplateSpec) (string, error) {
	hashed := struct {
		Labels      map[string]string    `json:"labels,omitempty"`
		Annotations map[string]string    `json:"annotations,omitempty"`
		Spec        v1alpha.InstanceSpec `json:"spec"`
	}{template.Labels, template.Annotations, template.Spec}
	hashed.Spec.Location = nil
	hashed.Spec.Controller = nil
	// JSON of Go structs and sorted maps is deterministic.
	encoded, err := json.Marshal(hashed)
	if err != nil {
		return "", fmt.Errorf("encode the template to hash it: %w", err)
	}
	return hashOf(encoded), nil
}

func hashOf(encoded []byte) string {
	hasher := fnv.New64a()
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write(encoded)
	return strconv.FormatUint(hasher.Sum64(), 36)
}
