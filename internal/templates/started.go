// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// StartData returns the ConfigMaps and Secrets that the containers of an Instance are started with, by kind and name,
// each with the names of the containers that keep the content until they are restarted. Environment variables and
// mounts with a subPath do not follow a change, other mounts do.
func StartData(spec *v1alpha.InstanceSpec) map[DataObject][]string {
	found := map[DataObject][]string{}
	for _, reference := range dataOfContainers(spec) {
		if reference.Name != "" {
			found[DataObject{reference.Kind, reference.Name}] = nil
		}
	}
	for _, container := range spec.Runtime.Sandbox.AllContainers() {
		for object := range keptBy(container, spec.Volumes) {
			found[object] = append(found[object], container.Name)
		}
	}
	return found
}

// keptBy returns the objects whose content a container keeps until it is restarted.
func keptBy(container *v1alpha.SandboxContainer, volumes []v1alpha.InstanceVolume) map[DataObject]bool {
	kept := map[DataObject]bool{}
	for _, reference := range slices.Concat(environmentReferences(container.Env, nil), sourceReferences(container.EnvFrom, nil)) {
		kept[DataObject{reference.Kind, reference.Name}] = true
	}
	for i := range container.VolumeAttachments {
		if container.VolumeAttachments[i].SubPath == "" {
			continue
		}
		for j := range volumes {
			if volumes[j].Name != container.VolumeAttachments[i].Name {
				continue
			}
			if source := volumes[j].ConfigMap; source != nil {
				kept[DataObject{KindConfigMap, source.Name}] = true
			}
			if source := volumes[j].Secret; source != nil {
				kept[DataObject{KindSecret, source.SecretName}] = true
			}
		}
	}
	delete(kept, DataObject{KindConfigMap, ""})
	delete(kept, DataObject{KindSecret, ""})
	return kept
}

// HashStarted returns the hash of the contents that an Instance was started with. It has no more to tell about a
// Secret than the hash of its content.
func HashStarted(contents []v1alpha.DataVersion) string {
	ordered := slices.SortedFunc(slices.Values(contents), CompareData)
	hasher := sha256.New()
	for _, version := range ordered {
		// Writing to a hash.Hash never returns an error.
		_, _ = hasher.Write(framed(version.Kind, version.Name, version.Hash))
	}
	return short(hasher.Sum(nil))
}

// short returns the beginning of a hash in characters that names and labels may have.
func short(sum []byte) string {
	const used = 10
	return strings.ToLower(encoding.EncodeToString(sum[:used]))
}
