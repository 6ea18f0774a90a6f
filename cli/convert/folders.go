// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// folder is a folder whose files no Instance has, in a container, or in each; "".
type folder struct {
	path, why, container string
}

// ofAccounts are where Kubernetes, and the controllers of providers, put the tokens of service accounts, also below /var.
var ofAccounts = []folder{
	{path: "/run/secrets/kubernetes.io/serviceaccount", why: "which no Instance has"},
	{path: "/run/secrets/eks.amazonaws.com/serviceaccount", why: "which no Instance has"},
	{path: "/run/secrets/azure/tokens", why: "which no Instance has"},
}

// String names the folder.
func (f *folder) String() string { return f.path + ", " + f.why }

// isIn reports whether a text names the folder, or a file in it.
func (f *folder) isIn(text string) bool {
	return regexp.MustCompile(regexp.QuoteMeta(f.path) + `([^-.\w]|$)`).MatchString(text)
}

// lostFolders returns the folders whose files are gone and that a text of a container names. A program creates the files of a disk itself:
// only folders that others fill count.
func (c *conversion) lostFolders(container, text string) []string {
	var found []string
	for _, lost := range slices.Concat(c.folders, ofAccounts) {
		if (lost.container == "" || lost.container == container) && lost.isIn(text) && !slices.Contains(found, lost.String()) {
			found = append(found, lost.String())
		}
	}
	return found
}

// leaveOut notes the ConfigMaps and Secrets that a volume without a place in a Workload names, in any of its sources.
func (c *conversion) leaveOut(volume *corev1.Volume) {
	if tree, err := treeOf(volume); err == nil {
		c.leaveOutIn(tree, "", "volume "+volume.Name+" of "+c.object)
	}
}

// leaveOutIn notes what a part of a volume names; kind is the kind of what has the name there.
func (c *conversion) leaveOutIn(part any, kind, with string) {
	switch part := part.(type) {
	case map[string]any:
		for key, field := range part {
			if name, isText := field.(string); isText && (key == "secretName" || key == "name" && kind != "") {
				c.leftOut[identity{kind: cmp.Or(kind, "Secret"), name: name}] = with
				continue
			}
			kind := ""
			if key == "configMap" {
				kind = "ConfigMap"
			} else if key == "secret" || key == "secretRef" || strings.HasSuffix(key, "SecretRef") {
				kind = "Secret"
			}
			c.leaveOutIn(field, kind, with)
		}
	case []any:
		for _, item := range part {
			c.leaveOutIn(item, "", with)
		}
	}
}
