// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"slices"
	"strings"
)

// differing begins the message of a cell about data whose content is not the one that the hub has sent.
const differing = "other content than the hub has sent: "

// maxDiffering is how many objects the message names. It is part of every report of the deployment.
const maxDiffering = 5

// DifferingData returns the message of a cell that has another content of these objects than the hub has sent.
func DifferingData(objects []DataObject) string {
	names := make([]string, 0, maxDiffering)
	for _, object := range objects[:min(len(objects), maxDiffering)] {
		names = append(names, object.Kind+" "+object.Name)
	}
	return differing + strings.Join(names, ", ")
}

// DiffersIn reports whether such a message names an object. Names have neither commas nor spaces.
func DiffersIn(message string, object DataObject) bool {
	names, found := strings.CutPrefix(message, differing)
	return found && slices.Contains(strings.Split(names, ", "), object.Kind+" "+object.Name)
}
