// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Hashes are the hashes of the templates that Instances have.
type Hashes map[string]bool

// TemplateHashes returns the hashes of the templates of Instances.
func TemplateHashes(instances []v1alpha.Instance) Hashes {
	hashes := Hashes{}
	for i := range instances {
		hashes[instances[i].TemplateHash()] = true
	}
	return hashes
}

// Of returns the hash that Instances of a template have: the one of the version that created them, if there are any.
func (h Hashes) Of(template *v1alpha.InstanceTemplateSpec) (string, error) {
	version, err := templates.VersionOf(template)
	return version.InUse(h), err
}
