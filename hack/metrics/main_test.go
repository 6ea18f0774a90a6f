// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestRead: every way of making a metric is read, and a metric that cannot be read is an error, not a gap in the
// reference.
func TestRead(t *testing.T) {
	for source, want := range map[string]string{
		`var m = prometheus.NewGauge(prometheus.GaugeOpts{Name: "karmada_compute_a", Help: "What."})`:                                         "karmada_compute_a gauge What. []",
		`var m = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "karmada_compute_a", Help: "What."}, []string{"b", "c"})`:              "karmada_compute_a counter What. [b c]",
		`var m = prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "karmada_compute_a", Help: "What."}, func() float64 { return 1 })`:        "karmada_compute_a gauge What. []",
		`var m, k = prometheus.NewDesc("karmada_compute_a", "What.", []string{"b"}, nil), prometheus.CounterValue`:                            "karmada_compute_a counter What. [b]",
		`var m = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "karmada_compute_a", Help: "What.", Buckets: prometheus.DefBuckets})`: "karmada_compute_a histogram What. []",
		`var m = prometheus.NewGauge(prometheus.GaugeOpts{Name: "karmada_compute_a", Help: "What " + "it " + "is."})`:                         "karmada_compute_a gauge What it is. []",
		`var m = promauto.NewGauge(prometheus.GaugeOpts{Name: "karmada_compute_a", Help: "What."})`:                                           "does not understand",
		`const name = "karmada_compute_a"; var m = prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "What."})`:                      "as literals",
		`var m = prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "karmada_compute", Name: "a", Help: "What."})`:                           "begin with karmada_compute_",
		`var m = prometheus.NewGauge(prometheus.GaugeOpts{Name: "karmada_compute_a"})`:                                                        "the help of metric karmada_compute_a",
		`var m = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "karmada_compute_a", Help: "What."}, labels)`: "the labels of metric " +
			"karmada_compute_a",
		`var m = prometheus.NewDesc("karmada_compute_a", "What.", nil, nil)`: "GaugeValue",
		`var m = metrics.Registry`: "",
	} {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "a.go", "package a\n"+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		found, err := read(files, file)
		got := ""
		for _, m := range found {
			got = fmt.Sprint(m.name, " ", m.kind, " ", m.help, " ", m.labels)
		}
		if err != nil {
			got = err.Error()
		}
		if (err == nil && got != want) || !strings.Contains(got, want) {
			t.Errorf("%s: %q, not %q", source, got, want)
		}
	}
}
