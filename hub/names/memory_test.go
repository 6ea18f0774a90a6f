// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestRecordsDoNotFillTheCache: a DNSEndpoint that is larger than one of the add-on leaves its identity, and one of the
// add-on its spec.
func TestRecordsDoNotFillTheCache(t *testing.T) {
	metadata := testenv.Stranger(v1alpha.LabelWorkloadUID)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&metadata)
	if err != nil {
		t.Fatal(err)
	}
	large, other := newRecord(), newRecord()
	large.Object["spec"] = map[string]any{"endpoints": []any{map[string]any{"dnsName": strings.Repeat("d", 900<<10)}}}
	large.Object["status"] = map[string]any{"a": strings.Repeat("s", 300<<10)}
	other.Object["metadata"] = content
	testenv.CheckTrims(t, trimRecord, large, other)

	own := newRecord()
	own.SetLabels(map[string]string{v1alpha.LabelWorkloadUID: "u"})
	wanted := spec{Endpoints: []endpoint{{DNSName: "web.example.com"}}}
	if err := setSpec(own, &wanted); err != nil {
		t.Fatal(err)
	}
	kept, err := trimRecord(own)
	record, _ := kept.(*unstructured.Unstructured)
	if err != nil || len(specOf(record).Endpoints) != 1 || record.GetLabels()[v1alpha.LabelWorkloadUID] != "u" ||
		record.GroupVersionKind() != Kind {
		t.Errorf("kept is %+v, %v", record, err)
	}
}
