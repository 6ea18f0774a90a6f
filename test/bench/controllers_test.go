// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestControllersReplica: it engages the projects that are asked for, and Milo has the watches of these alone.
func TestControllersReplica(t *testing.T) {
	for name, test := range map[string]struct {
		all bool
		// engaged projects have four watches each; there is one of the Projects, and one of the marks.
		engaged, watches int64
	}{"all": {all: true, engaged: 5, watches: 5*4 + 1}, "those with Workloads": {engaged: 2, watches: 2*4 + 2}} {
		t.Run(name, func(t *testing.T) {
			m := &fakeMilo{projects: 5, used: 2}
			server := httptest.NewTLSServer(m.server().Handler)
			t.Cleanup(server.Close)
			t.Cleanup(server.CloseClientConnections)
			ca := filepath.Join(t.TempDir(), "ca.crt")
			if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			reached := false
			o := controllersFlags{milo: strings.TrimPrefix(server.URL, "https://"), ca: ca, name: "one", all: test.all, lease: 15 * time.Second}
			var watches int64
			err := o.run(ctx, func(engaged int64) {
				if engaged == test.engaged {
					reached, watches = true, m.watches.Load()
					stop()
				}
			})
			if err != nil || !reached {
				t.Fatalf("not all were engaged: %v", err)
			}
			if watches != test.watches {
				t.Errorf("%d watches, want %d", watches, test.watches)
			}
		})
	}
}
