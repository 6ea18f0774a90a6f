// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestCountWrites: reads, dry runs, reviews and what is written at rest do not count.
func TestCountWrites(t *testing.T) {
	const metrics = `# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="status",verb="PATCH",version="v1"} 7
apiserver_request_total{code="201",component="apiserver",dry_run="",group="work.karmada.io",resource="works",scope="resource",subresource="",verb="POST",version="v1alpha1"} 1.5e+02
apiserver_request_total{code="200",component="apiserver",dry_run="",group="work.karmada.io",resource="works",scope="resource",subresource="",verb="LIST",version="v1alpha1"} 9
apiserver_request_total{code="201",component="apiserver",dry_run="All",group="",resource="pods",scope="resource",subresource="",verb="POST",version="v1"} 3
apiserver_request_total{code="200",component="apiserver",dry_run="",group="coordination.k8s.io",resource="leases",scope="resource",subresource="",verb="PUT",version="v1"} 4
apiserver_request_total{code="201",component="apiserver",dry_run="",group="authorization.k8s.io",resource="subjectaccessreviews",scope="resource",subresource="",verb="POST",version="v1"} 5
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="nodes",scope="resource",subresource="status",verb="PATCH",version="v1"} 6
other_metric{verb="PATCH"} 8
`
	if count, err := countWrites(strings.NewReader(metrics)); err != nil || count != 157 {
		t.Errorf("%d writes, %v", count, err)
	}
	if _, err := countWrites(strings.NewReader(`apiserver_request_total{group="",verb="PUT"} x`)); err == nil {
		t.Error("a value that is no number is read")
	}
}

// TestShownInstances: the lag of a change ends when it is shown, not with other events.
func TestShownInstances(t *testing.T) {
	s := newShownInstances()
	now := time.Now()
	s.see("a", true, now)
	s.see("a", true, now)
	s.see("b", false, now)
	if s.readyCount() != 1 {
		t.Errorf("%d are ready", s.readyCount())
	}
	s.expect("a", false)
	since := s.expected["a"].since
	s.expect("a", false)
	if s.expected["a"].since != since {
		t.Error("the second expectation has a new time")
	}
	s.see("a", true, now)
	s.see("b", true, now)
	if !s.expects("a") || s.expects("b") {
		t.Error("expected is what was shown")
	}
	s.see("a", false, since.Add(time.Second))
	if err := s.awaitAll(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
	if lag := s.lag.summary(); lag.count != 1 || lag.p99 != time.Second || s.readyCount() != 1 {
		t.Errorf("lag %+v, %d ready", lag, s.readyCount())
	}
	s.reset()
	s.expect("b", false)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.awaitAll(ended, time.Minute); err == nil || !strings.Contains(err.Error(), "Instance b") {
		t.Errorf("error is %v", err)
	}
}

// TestScaleReports: each size has a column, and the last size is compared with the first.
func TestScaleReports(t *testing.T) {
	reports := newScaleReports(&cobra.Command{Use: "scale"})
	for i, size := range []int{10, 40} {
		reports.results = append(reports.results, &scaleResult{
			deployments: size, instances: size * 10, added: 10 + 20*i, filled: time.Duration(10+50*i) * time.Second, load: "1.00",
			cpu: cpuTimes{"etcd": time.Second, "idle": 0}, memory: map[string]int{"etcd": (10 + 30*i) << 20}, bytes: map[string]float64{"hub": 5000},
		})
	}
	var text strings.Builder
	if err := reports.write(&text); err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{
		"| 1000.00 ms | 2000.00 ms |               2.00× |",
		"| 10 MiB | 40 MiB |               4.00× |                1048 kB |", "5.0 kB |               1.00× |",
	} {
		if !strings.Contains(text.String(), wanted) {
			t.Errorf("no %q in %s", wanted, &text)
		}
	}
	if strings.Contains(text.String(), "| idle") {
		t.Error("a process without CPU time has a row")
	}
}

func TestScaleOptions(t *testing.T) {
	o := scaleOptions{
		sizes: []int{60, 960}, instances: 10, cellCount: 2, burst: 1, changes: 1, storm: 1, stormed: 1,
		stormFor: time.Second, patience: time.Second, pausing: time.Second,
	}
	if err := o.validate(); err != nil {
		t.Error(err)
	}
	if cells := o.members(); len(cells) != 2 || cells[0].Nodes*250 < 4800 {
		t.Errorf("cells %+v", cells)
	}
	for name, change := range map[string]func(*scaleOptions){
		"sizes that fall": func(o *scaleOptions) { o.sizes = []int{2, 1} },
		"no cell":         func(o *scaleOptions) { o.cellCount = 0 }, "no storm": func(o *scaleOptions) { o.storm = 0 },
	} {
		changed := o
		if change(&changed); changed.validate() == nil {
			t.Errorf("%s are accepted", name)
		}
	}
}
