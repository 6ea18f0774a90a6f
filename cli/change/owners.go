// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"bytes"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// mostFields is how many fields a note names.
const mostFields = 3

// tellOwners tells which fields a change has taken over from field managers that apply the object, such as a tool that
// follows a Git repository: such a tool reports a conflict about these fields, or restores them.
func (c *commands) tellOwners(before, after []metav1.ManagedFieldsEntry) error {
	for i := range before {
		entry := &before[i]
		if entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" {
			continue
		}
		taken := fieldsOf(entry).Difference(fieldsOf(sameEntry(after, entry))).Leaves()
		if taken.Empty() {
			continue
		}
		var paths []string
		for path := range taken.All() {
			paths = append(paths, path.String())
		}
		if more := len(paths) - mostFields; more > 0 {
			paths = append(paths[:mostFields], fmt.Sprintf("%d more", more))
		}
		if _, err := fmt.Fprintf(c.Streams.ErrOut, "note: %s has applied %s, and reports a conflict or restores it: change it there, too\n",
			entry.Manager, strings.Join(paths, ", ")); err != nil {
			return err
		}
	}
	return nil
}

func sameEntry(entries []metav1.ManagedFieldsEntry, entry *metav1.ManagedFieldsEntry) *metav1.ManagedFieldsEntry {
	for i := range entries {
		if e := &entries[i]; e.Manager == entry.Manager && e.Operation == entry.Operation && e.Subresource == entry.Subresource {
			return e
		}
	}
	return nil
}

// fieldsOf returns the fields of an entry. Fields that cannot be read are left out.
func fieldsOf(entry *metav1.ManagedFieldsEntry) *fieldpath.Set {
	set := &fieldpath.Set{}
	if entry == nil || entry.FieldsV1 == nil || set.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)) != nil {
		return &fieldpath.Set{}
	}
	return set
}
