// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/cli/view"
)

// TestFederationIsBounded: a large hub is bounded, with cells that have a fault first, and without the names of projects.
func TestFederationIsBounded(t *testing.T) {
	f := &view.Federation{Replicas: []view.Replica{{Name: "a", Projects: make([]string, 20000)}}}
	for i := range 2000 {
		f.Cells = append(f.Cells, view.Cell{Name: fmt.Sprint("cell-", i)})
	}
	f.Cells[1999].Finding = &view.Finding{Reason: "AgentNotReady", Message: strings.Repeat("a", 1<<20)}
	for i := range 200 {
		f.Cities = append(f.Cities, view.City{Name: fmt.Sprintf("city-%03d", i), Standing: view.StandingWell})
	}
	f.Cities[199].Standing = view.StandingNoCell
	f.Repaired = make([]view.Repaired, 5000)

	got := FederationOf(f, make([]string, 60), nil, time.Time{})
	if len(got.Cells) != MostCells || got.Cells[0].Name != "cell-1999" || got.Replicas[0].Projects != 20000 {
		t.Errorf("got %d cells, first %s, replicas %+v", len(got.Cells), got.Cells[0].Name, got.Replicas)
	}
	if want := 1700 + 100 + 4950 + 10; got.Omitted != want {
		t.Errorf("%d rows are left out, want %d", got.Omitted, want)
	}
	if last := got.Cities[len(got.Cities)-1]; len(got.Cities) != MostCities || last.Name != "city-199" || got.Cities[0].Name != "city-000" {
		t.Errorf("got %d cities, the last one %+v", len(got.Cities), last)
	}
	if message := got.Cells[0].Finding.Message; len(message) > 1<<12 {
		t.Errorf("a message has %d bytes", len(message))
	}
	if len(f.Cells[1999].Finding.Message) != 1<<20 {
		t.Error("the summary was changed")
	}
}
