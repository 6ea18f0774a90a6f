// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestAboutRecords: what another party wrote last does not count, and a version that is new may still be read.
func TestAboutRecords(t *testing.T) {
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
	missing := record("m", RecordsManager, time.Hour, 2)
	missing.SetAnnotations(map[string]string{v1alpha.AnnotationNameMissing: "2026-11-30T11:00:00Z"})
	const lacks = "the operator's resolver answers for 1 of 2 names without any address of their DNSEndpoints: m"
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
		"missing in the zone": {
			[]unstructured.Unstructured{missing, record("a", RecordsManager, time.Hour, 2)}, lacks,
		},
		"unread, and missing": {[]unstructured.Unstructured{old, missing}, "external-dns has not read 1 of 2 " + since + "b; " + lacks},
		"never, and other": {
			[]unstructured.Unstructured{record("a", RecordsManager, ReadAfter, 0), old, record("c", RecordsManager, 0, 2)},
			"external-dns has not read 2 of 3 " + since + "a, b",
		},
	} {
		if got := AboutRecords(test.records, now); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
