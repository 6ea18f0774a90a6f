// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// see plays the cache: it has seen the DNSEndpoint of a name, which external-dns has read up to a generation.
func (f *fixture) see(t *testing.T, name string, read int64) {
	t.Helper()
	record := f.record(t, name)
	fields := record.GetManagedFields()
	// The API server has the time of this machine.
	now := metav1.NewTime(f.clock.Now())
	for i := range fields {
		fields[i].Time = &now
	}
	record.SetManagedFields(fields)
	if read > 0 {
		record.Object["status"] = map[string]any{"observedGeneration": read, "further": strings.Repeat("x", 2*maxRecord)}
	}
	kept, err := trimRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	f.reconciler.Records.events().OnAdd(kept, false)
}

// TestExternalDNSIsDown: a DNSEndpoint that external-dns does not read is reported, with the time, and until it is read. On a hub on which
// no program ever reports what it has read, nothing is concluded.
func TestExternalDNSIsDown(t *testing.T) {
	f := newFixture(t)
	records := f.reconciler.Records
	clock := testingclock.NewFakeClock(f.clock.Now())
	records.Clock = clock
	after := func(d time.Duration) {
		f.after(d)
		clock.Step(d)
	}
	web, name := f.workload(t, "web"), f.byPattern("web")
	f.serve(t, web, "DFW", "203.0.113.1")
	f.reconcile(t, "web")
	f.see(t, name, 0)
	after(time.Hour)
	f.reconcile(t, "web")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, name)
	if got := records.Unread(); got != 0 {
		t.Errorf("%d are not read, where nothing reports that it reads", got)
	}

	f.see(t, name, f.record(t, name).GetGeneration())
	f.serve(t, web, "ORD", "203.0.113.2")
	after(time.Minute)
	f.reconcile(t, "web")
	f.see(t, name, 1)
	f.reconcile(t, "web")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, name)
	if f.again <= 0 || f.again > reasons.ReadAfter || records.Unread() != 0 {
		t.Errorf("it is looked at again after %s, and %d are not read", f.again, records.Unread())
	}
	written := f.clock.Now().UTC().Format(time.RFC3339)
	after(reasons.ReadAfter)
	f.reconcile(t, "web")
	if got := f.wantCondition(t, "web", v1alpha.ReasonRecordMissing, name); !strings.Contains(got.Message, written) ||
		got.Status != metav1.ConditionFalse {
		t.Errorf("the condition is %+v, want the time %s", got, written)
	}
	if got := records.Unread(); got != 1 {
		t.Errorf("%d are not read, want 1", got)
	}

	f.see(t, name, f.record(t, name).GetGeneration())
	f.reconcile(t, "web")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, name)
	f.see(t, name, 1)
	records.events().OnDelete(f.record(t, name))
	if got := records.Unread(); got != 0 {
		t.Errorf("%d are not read, and deleted", got)
	}
}

// TestWhatIsKeptOfAStatus: the cache holds two numbers of what another party writes.
func TestWhatIsKeptOfAStatus(t *testing.T) {
	for name, status := range map[string]any{
		"a text": "text", "no number": map[string]any{"observedGeneration": "1"}, "a list": []any{1}, "nothing": nil,
		"a number": map[string]any{"observedGeneration": int64(7), "more": strings.Repeat("x", maxRecord)},
	} {
		record := newRecord()
		record.SetName("web")
		record.Object["status"] = status
		if _, err := trimRecord(record); err != nil {
			t.Fatal(err)
		}
		read, _, _ := unstructured.NestedInt64(record.Object, "status", "observedGeneration")
		if (read == 7) != (name == "a number") || len(record.Object) > 4 {
			t.Errorf("%s leaves %v", name, record.Object)
		}
	}
}
