// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestSummaryAndTable(t *testing.T) {
	found := []leftover{{"hub", "works", 2}, {"hub", "resourcebindings", 0}, {"cell/dfw", "pods", 1}}
	if got, want := summary(found), "left: 2 works in hub, 1 pods in cell/dfw"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	running := []leftover{{"hub", "works", 4}, {"hub", "resourcebindings", 2}, {"cell/dfw", "pods", 3}}
	want := []string{
		"PLANE     KIND              RUNNING  LEFT",
		"hub       works             4        2",
		"          resourcebindings  2        0",
		"cell/dfw  pods              3        1",
	}
	if got := leftoverTable(running, found); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := summary(found[1:2]); got != "nothing is left" {
		t.Errorf("got %q", got)
	}
}

func TestIsOurWork(t *testing.T) {
	d := &demo{hubNamespace: "ns-1234"}
	cases := map[string]struct {
		manifest string
		want     bool
	}{
		"the namespace":     {manifest: `{"kind":"Namespace","metadata":{"name":"ns-1234"}}`, want: true},
		"something in it":   {manifest: `{"kind":"WorkloadDeployment","metadata":{"name":"web","namespace":"ns-1234"}}`, want: true},
		"Karmada's own":     {manifest: `{"kind":"ClusterRole","metadata":{"name":"karmada"}}`},
		"no manifest in it": {},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			work := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{Name: "work"}}
			if c.manifest != "" {
				work.Spec.Workload.Manifests = []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(c.manifest)}}}
			}
			if got := d.isOurWork(work); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}
