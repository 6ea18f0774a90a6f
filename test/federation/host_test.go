// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"path/filepath"
	"testing"
)

// TestHostIsAPlane verifies that a federation has the host as a plane exactly if it was asked for.
func TestHostIsAPlane(t *testing.T) {
	for _, host := range []bool{false, true} {
		folder := t.TempDir()
		f := &Federation{folder: folder, pki: &pki{folder: filepath.Join(folder, "pki")}}
		t.Cleanup(func() {
			if err := releasePorts(folder); err != nil {
				t.Error(err)
			}
		})
		ports, err := f.assignPorts([]Cell{{Name: "dfw", City: "DFW"}}, host)
		if err != nil {
			t.Fatal(err)
		}
		f.state = state{Options: Options{Host: host, Cells: []Cell{{Name: "dfw", City: "DFW"}}}, Ports: ports}
		if _, err := f.server(planeHost); (err == nil) != host {
			t.Errorf("with host %t: server of the host: %v", host, err)
		}
	}
}
