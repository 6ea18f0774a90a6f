// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http/httptest"
	"slices"
	"testing"

	"k8s.io/client-go/rest"
)

// TestReplicas: the compared replicas give the same answers, with the load of Milo that the report shows.
func TestReplicas(t *testing.T) {
	const projects = 3
	cases := map[string]struct {
		start   starter
		watches int64
	}{
		oursReplica:   {start: startOurs},
		cachesReplica: {start: startCaches, watches: 4*projects + 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := &fakeMilo{projects: projects}
			server := httptest.NewServer(m.server().Handler)
			t.Cleanup(func() {
				server.CloseClientConnections()
				server.Close()
			})
			lookup, err := c.start(t.Context(), &rest.Config{Host: server.URL, QPS: -1}, t.Logf)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.watches.Load(); got != c.watches {
				t.Errorf("%d watches, want %d", got, c.watches)
			}
			for i := range projects {
				if got, err := lookup(t.Context(), projectName(i)); err != nil || !slices.Equal(got, []string{city}) {
					t.Errorf("cities of %s are %v, %v", projectName(i), got, err)
				}
			}
			if got, err := lookup(t.Context(), projectName(projects)); err == nil {
				t.Errorf("cities of a project that there is not are %v", got)
			}
		})
	}
}
