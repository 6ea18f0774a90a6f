// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// RecordsManager is the field manager of the add-on's DNSEndpoints.
const RecordsManager = "karmada-compute-names"

// ReadAfter is how long external-dns may take to read a DNSEndpoint. By default it does so once a minute.
const ReadAfter = 3 * time.Minute

// RecordKind is the kind of external-dns that lists records.
var RecordKind = schema.GroupVersionKind{Group: "externaldns.k8s.io", Version: "v1alpha1", Kind: "DNSEndpoint"}

// IsOwnRecord reports whether an entry has the time at which the add-on last wrote a DNSEndpoint.
func IsOwnRecord(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == RecordsManager && entry.Subresource == ""
}

// RecordRead returns which version of a DNSEndpoint external-dns has read, and since when it has not read the newest one; zero: it has,
// or the add-on did not write it.
func RecordRead(record *unstructured.Unstructured) (read int64, unreadSince time.Time) {
	read, _, _ = unstructured.NestedInt64(record.Object, "status", "observedGeneration")
	written := slices.IndexFunc(record.GetManagedFields(), IsOwnRecord)
	if written < 0 || read >= record.GetGeneration() || record.GetManagedFields()[written].Time == nil {
		return read, time.Time{}
	}
	return read, record.GetManagedFields()[written].Time.Time
}

// AboutRecords is the message about the DNSEndpoints of a hub that external-dns has not read for longer than it may take, unless no
// program ever reports what it has read, and about the ones whose records the zone lacks; "": there are none.
func AboutRecords(records []unstructured.Unstructured, now time.Time) string {
	var (
		unread, missing, messages []string
		first                     time.Time
		isReported                bool
	)
	for i := range records {
		read, since := RecordRead(&records[i])
		isReported = isReported || read > 0
		if records[i].GetAnnotations()[v1alpha.AnnotationNameMissing] != "" {
			missing = append(missing, records[i].GetName())
		}
		if since.IsZero() || now.Sub(since) < ReadAfter {
			continue
		}
		unread = append(unread, records[i].GetName())
		if first.IsZero() || since.Before(first) {
			first = since
		}
	}
	if isReported && len(unread) > 0 {
		messages = append(messages, fmt.Sprintf("external-dns has not read %d of %d DNSEndpoints, the first since %s: %s",
			len(unread), len(records), first.UTC().Format(time.RFC3339), Some(unread)))
	}
	if len(missing) > 0 {
		messages = append(messages, fmt.Sprintf("the operator's resolver answers for %d of %d names without any address of their "+
			"DNSEndpoints: %s", len(missing), len(records), Some(missing)))
	}
	return strings.Join(messages, "; ")
}
