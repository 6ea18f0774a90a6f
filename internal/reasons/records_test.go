// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestAboutUnreadRecords: what another party wrote last does not count, and a version that is new may still be read.
func TestAboutUnreadRecords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	record := func(name, manager string, ago time.Duration, read int64) unstructured.Unstructured {
		at := metav1.NewTime(now.Add(-ago))
		result := unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"observedGeneration": read}}}
		result.SetName(name)
		result.SetGeneration(2)
		reader := metav1.ManagedFieldsEntry{Manager: "external-dns", Subresource: "status", Time: &at}
		result.SetManagedFields([]metav1.ManagedFieldsEntry{reader, {Manager: manager, Time: &at}})
		return result
	}
	const since = "DNSEndpoints, the first since 2026-11-30T11:00:00Z: "
	old := record("b", RecordsManager, time.Hour, 1)
	for name, test := range map[string]struct {
		records []unstructured.Unstructured
		want    string
	}{
		"none":            {nil, ""},
		"never reported":  {[]unstructured.Unstructured{record("a", RecordsManager, time.Hour, 0)}, ""},
		"read":            {[]unstructured.Unstructured{record("a", RecordsManager, time.Hour, 2)}, ""},
		"new":             {[]unstructured.Unstructured{record("a", RecordsManager, ReadAfter-time.Second, 1)}, ""},
		"another party's": {[]unstructured.Unstructured{record("a", "kubectl", time.Hour, 1)}, ""},
		"an earlier one":  {[]unstructured.Unstructured{old}, "external-dns has not read 1 of 1 " + since + "b"},
		"never, and other": {
			[]unstructured.Unstructured{record("a", RecordsManager, ReadAfter, 0), old, record("c", RecordsManager, 0, 2)},
			"external-dns has not read 2 of 3 " + since + "a, b",
		},
	} {
		if got := AboutUnreadRecords(test.records, now); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
