// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// unread are the DNSEndpoints whose newest version external-dns has not read. It is safe for concurrent use.
type unread struct {
	mu sync.Mutex
	// since is when each of them was written. isReported: some DNSEndpoint was ever reported as read. Until then nothing can be concluded:
	// what writes the records here may be a program that reports nothing.
	since      map[string]time.Time
	isReported bool
	// missing are the DNSEndpoints whose records the zone lacks.
	missing sets.Set[string]
}

// see takes over the state of a DNSEndpoint that keepRead has prepared; exists is false for a deleted one.
func (u *unread) see(record *unstructured.Unstructured, exists bool) {
	read, since := reasons.RecordRead(record)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.isReported = u.isReported || read > 0
	if u.since == nil {
		u.since, u.missing = map[string]time.Time{}, sets.New[string]()
	}
	if u.missing.Delete(record.GetName()); exists && missingOf(record) != "" {
		u.missing.Insert(record.GetName())
	}
	if !exists || since.IsZero() {
		delete(u.since, record.GetName())
		return
	}
	u.since[record.GetName()] = since
}

// written returns since when external-dns should have read a DNSEndpoint.
func (u *unread) written(name string) (since time.Time, isUnread bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	since, isUnread = u.since[name]
	return since, isUnread && u.isReported
}

// Unread counts the DNSEndpoints that external-dns has not read for longer than it may take, or whose records the zone lacks.
func (r *Records) Unread() (count int) {
	r.unread.mu.Lock()
	defer r.unread.mu.Unlock()
	count = r.unread.missing.Len()
	for name, since := range r.unread.since {
		if r.unread.isReported && !r.unread.missing.Has(name) && r.Clock.Since(since) >= reasons.ReadAfter {
			count++
		}
	}
	return count
}

// keepRead leaves in a DNSEndpoint, of its status and its managed fields, which version external-dns has read and when the add-on last
// wrote it.
func keepRead(record *unstructured.Unstructured, fields []metav1.ManagedFieldsEntry) {
	if read, isInt, _ := unstructured.NestedInt64(record.Object, "status", "observedGeneration"); isInt {
		record.Object["status"] = map[string]any{"observedGeneration": read}
	} else {
		delete(record.Object, "status")
	}
	if own := slices.IndexFunc(fields, reasons.IsOwnRecord); own >= 0 {
		written := metav1.ManagedFieldsEntry{Manager: string(FieldManager), Operation: fields[own].Operation, Time: fields[own].Time}
		record.SetManagedFields([]metav1.ManagedFieldsEntry{written})
	}
}

// withRecord is the state of a name that is programmed as far as the DNSEndpoint says: its newest version may not have been read, or the
// zone may lack its record.
func (s *scope) withRecord(found state) state {
	if found.reason != v1alpha.ReasonNamesProgrammed {
		return found
	}
	since, isUnread := s.Records.unread.written(found.name)
	wait := reasons.ReadAfter - s.Clock.Since(since)
	switch {
	case isUnread && wait <= 0:
		found.message = fmt.Sprintf("external-dns has not read DNSEndpoint %s since %s, so that the DNS records may lack cities: %s",
			found.name, since.UTC().Format(time.RFC3339), found.message)
	case found.missingSince != "":
		found.message = fmt.Sprintf("the operator's resolver has answered for %s without any address of its DNSEndpoint since %s: %s",
			found.name, found.missingSince, found.message)
	default:
		if isUnread {
			s.requeueAfter.AtMost(wait)
		}
		return found
	}
	found.reason = v1alpha.ReasonRecordMissing
	return found
}
