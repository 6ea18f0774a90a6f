// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cities_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

func TestParseByHand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		leave, requested, text string
		want                   map[string]string
		wrong                  bool
	}{
		{want: map[string]string{}},
		{leave: "dfw", want: map[string]string{"DFW": ""}, text: "DFW"},
		{leave: " ORD = LAX", want: map[string]string{}, wrong: true},
		{leave: "ORD=lax, DFW,", want: map[string]string{"ORD": "LAX", "DFW": ""}, text: "DFW,ORD=LAX"},
		{leave: "DFW=DFW,ORD", want: map[string]string{"ORD": ""}, text: "ORD", wrong: true},
		{leave: "DFW\x1b[2J", want: map[string]string{}, wrong: true},
		{leave: strings.Repeat("DFW,", 48), want: map[string]string{"DFW": ""}, text: "DFW", wrong: true},
		{leave: strings.Repeat("?,", 100_000), want: map[string]string{}, wrong: true},
		{requested: "2026-01-01T00:00:00Z", want: map[string]string{}},
		{requested: "soon", want: map[string]string{}, wrong: true},
	} {
		got, err := cities.ParseByHand(map[string]string{
			v1alpha.AnnotationLeaveCities: test.leave, v1alpha.AnnotationReturnRequested: test.requested,
		})
		if err != nil && len(err.Error()) > 8<<10 {
			t.Errorf("%.20q: the error has %d bytes", test.leave, len(err.Error()))
		}
		if !maps.Equal(got.Leave, test.want) || (err != nil) != test.wrong || got.LeaveText() != test.text {
			t.Errorf("%.40q, %q: got %v, %q, %v", test.leave, test.requested, got.Leave, got.LeaveText(), err)
		}
		if want := test.requested == "2026-01-01T00:00:00Z"; got.ReturnRequested.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) != want {
			t.Errorf("%q: got %s", test.requested, got.ReturnRequested)
		}
	}
}
