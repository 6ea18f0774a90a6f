// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Hold is an earlier content that an undo has chosen for an object. It ends when the object changes.
type Hold struct {
	// Held is the hash of the content that Instances are started with while Newest is the hash of the object in the
	// project.
	Held, Newest string
}

// MaxHolds bounds the annotation that is read, in bytes: a consumer writes it, and the caches of projects drop a longer one.
const MaxHolds = 1 << 10

var holdPattern = regexp.MustCompile(`^(ConfigMap|Secret)/([a-z0-9][-.a-z0-9]{0,252}):([0-9a-v]{16}):([0-9a-v]{16})$`)

// ParseHolds reads the value of annotation rollout-data. It leaves out entries that have another form.
func ParseHolds(text string) map[DataObject]Hold {
	result := map[DataObject]Hold{}
	if len(text) > MaxHolds {
		return result
	}
	for entry := range strings.SplitSeq(text, ",") {
		if parts := holdPattern.FindStringSubmatch(entry); parts != nil {
			result[DataObject{parts[1], parts[2]}] = Hold{Held: parts[3], Newest: parts[4]}
		}
	}
	return result
}

// FormatHolds returns the value of annotation rollout-data, by kind and name; "" without holds.
func FormatHolds(holds map[DataObject]Hold) string {
	var entries []string
	for _, object := range slices.SortedFunc(maps.Keys(holds), DataObject.Compare) {
		entries = append(entries, object.Kind+"/"+object.Name+":"+holds[object].Held+":"+holds[object].Newest)
	}
	return strings.Join(entries, ",")
}
