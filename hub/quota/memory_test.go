// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestWithheldInstances are counted by reason, from 0 on, and not while their project is suspended: for the alert,
// PendingEvaluation means that Milo does not answer.
func TestWithheldInstances(t *testing.T) {
	m := newMemory()
	request := mcreconcile.Request{ClusterName: "north"}
	pending := denial{v1alpha.ReasonPendingEvaluation, "Milo has not answered"}
	for _, c := range []struct {
		denials           map[int]denial
		pending, exceeded float64
	}{
		{nil, 0, 0},
		{map[int]denial{0: pending, 1: pending, 2: {v1alpha.ReasonQuotaExceeded, ""}}, 2, 1},
		{map[int]denial{0: ofSuspended, 1: ofSuspended}, 0, 0},
		{map[int]denial{1: pending}, 1, 0},
		{nil, 0, 0},
	} {
		m.remember(request, c.denials, true, time.Unix(1000, 0))
		gotPending := testutil.ToFloat64(m.withheld.WithLabelValues(v1alpha.ReasonPendingEvaluation))
		gotExceeded := testutil.ToFloat64(m.withheld.WithLabelValues(v1alpha.ReasonQuotaExceeded))
		if gotPending != c.pending || gotExceeded != c.exceeded {
			t.Errorf("of %v, %v are pending and %v have exceeded their quota", c.denials, gotPending, gotExceeded)
		}
	}
	if series := testutil.CollectAndCount(newMemory().withheld); series != 6 {
		t.Errorf("before anything is withheld, there are %d series", series)
	}
}
