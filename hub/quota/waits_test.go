// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

func measured(t *testing.T, metric prometheus.Metric) *dto.Histogram {
	t.Helper()
	var out dto.Metric
	if err := metric.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.GetHistogram()
}

// TestWaits: an Instance is measured once, from the beginning of its wait until it is granted, and only while it is
// wanted.
func TestWaits(t *testing.T) {
	w := newWaits()
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	web, db := mcreconcile.Request{ClusterName: "web"}, mcreconcile.Request{ClusterName: "db"}
	wait := func(request mcreconcile.Request, second int64, indices ...int) {
		w.wait(request, indices, func(int) time.Time { return at(second) })
	}
	wait(web, 100, 0, 1, 2)
	wait(db, 100, 0)
	wait(web, 110, 0, 1, 3) // 2 is not wanted any more
	w.granted(web, []int{0, 2}, at(107))
	w.granted(web, []int{0}, at(999))
	wait(web, 120, 1, 2, 3)
	w.granted(web, []int{1, 2, 3}, at(130))
	wait(web, 200)
	if got := measured(t, w.seconds); got.GetSampleCount() != 4 || got.GetSampleSum() != 7+30+10+20 {
		t.Errorf("%d are measured, with %v s", got.GetSampleCount(), got.GetSampleSum())
	}
	if _, ok := w.since[web]; ok || len(w.since) != 1 {
		t.Errorf("%v is remembered", w.since)
	}
	w.forget(db.ClusterName)
	if len(w.since) != 0 {
		t.Errorf("%v is remembered", w.since)
	}
}
