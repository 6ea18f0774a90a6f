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

// Hash is a hash of the meaning of a template: templates that are semantically equal have the same one, whatever the
// notation of their quantities. Instances that have it need no replacement. Fields that the add-on itself sets
// (spec.location, spec.controller) are not part of it.
func Hash(template *v1alpha.InstanceTemplateSpec) (string, error) {
	v, err := VersionOf(template)
	return v.Hash, err
}

// Version identifies a template. Earlier versions of the add-on hashed its text: Instances that were created then keep
// that hash, and are not replaced for it.
type Version struct {
	// Hash is the hash of the meaning of the template.
	Hash string
	// Text is the hash of the text of the template, which earlier versions of the add-on gave to Instances.
	Text string
}

// VersionOf returns the version of a template.
func VersionOf(template *v1alpha.InstanceTemplateSpec) (Version, error) {
	meaning, changed := canonical(template)
	hash, err := hashText(meaning)
	if err != nil || !changed {
		return Version{Hash: hash, Text: hash}, err
	}
	text, err := hashText(template)
	return Version{Hash: hash, Text: text}, err
}

// Is reports whether a hash, of any version of the add-on, is the template's.
func (v Version) Is(hash string) bool { return hash != "" && (hash == v.Hash || hash == v.Text) }

// Current returns the hash of the meaning of a template with this hash: a hash of the text of v becomes the hash of its
// meaning, and others stay.
func (v Version) Current(hash string) string {
	if v.Is(hash) {
		return v.Hash
	}
	return hash
}

// InUse returns the hash that Instances of the template have. existing are the hashes of the Instances that exist:
// while one of them has the hash of the text, new ones get it as well, so that all Instances of a template have one
// hash.
func (v Version) InUse(existing map[string]bool) string {
	if existing[v.Text] {
		return v.Text
	}
	return v.Hash
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
	// Both spellings name the same type: respelling it replaces nothing. The one with a slash is older.
	if name := v1alpha.InstanceTypeName(hashed.Spec.Runtime.Resources.InstanceType); name != "" {
		hashed.Spec.Runtime.Resources.InstanceType = strings.Replace(name, "-", "/", 1)
	}
	// JSON of Go structs and sorted maps is deterministic.
	encoded, err := json.Marshal(hashed)
	if err != nil {
		return "", fmt.Errorf("encode the template to hash it: %w", err)
	}
	hasher := fnv.New64a()
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write(encoded)
	return strconv.FormatUint(hasher.Sum64(), 36), nil
}
