// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// folder is a folder whose files no Instance has, in a container, or in each; "".
type folder struct {
	path, why, container string
}

// ofAccount is where Kubernetes puts the token of a service account.
var ofAccount = folder{path: "/var/run/secrets/kubernetes.io/serviceaccount", why: "which no Instance has"}

// lostFolders returns the folders whose files are gone and that a text of a container names. A program creates the files of a disk itself:
// only folders that others fill count.
func (c *conversion) lostFolders(container, text string) []string {
	var found []string
	for _, lost := range append(c.folders, ofAccount) {
		named, inText := lost.path+", "+lost.why, regexp.MustCompile(regexp.QuoteMeta(lost.path)+`([^-.\w]|$)`)
		if (lost.container == "" || lost.container == container) && inText.MatchString(text) && !slices.Contains(found, named) {
			found = append(found, named)
		}
	}
	return found
}

// leaveOut notes the ConfigMaps and Secrets that a volume without a place in a Workload names.
func (c *conversion) leaveOut(volume *corev1.Volume) {
	note := func(kind, name string) {
		c.leftOut[identity{kind: kind, name: name}] = "volume " + volume.Name + " of " + c.object
	}
	note("ConfigMap", ptr.Deref(volume.ConfigMap, corev1.ConfigMapVolumeSource{}).Name)
	note("Secret", ptr.Deref(volume.Secret, corev1.SecretVolumeSource{}).SecretName)
	for _, source := range ptr.Deref(volume.Projected, corev1.ProjectedVolumeSource{}).Sources {
		note("ConfigMap", ptr.Deref(source.ConfigMap, corev1.ConfigMapProjection{}).Name)
		note("Secret", ptr.Deref(source.Secret, corev1.SecretProjection{}).Name)
	}
}
