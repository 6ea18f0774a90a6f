// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	testingclock "k8s.io/utils/clock/testing"
)

// TestSilences: each silence comes once, in an order that the seed decides, and one that is over by itself is short.
func TestSilences(t *testing.T) {
	cells, kinds := []string{"ord", "dfw"}, silenceKinds(false)
	plan := planSilences(kinds, cells, time.Minute, newRandom(7, 4))
	if again := planSilences(kinds, []string{"dfw", "ord"}, time.Minute, newRandom(7, 4)); !reflect.DeepEqual(plan, again) {
		t.Error("the same seed has led to other silences")
	}
	if other := planSilences(kinds, cells, time.Minute, newRandom(8, 4)); reflect.DeepEqual(plan, other) {
		t.Error("another seed has led to the same silences")
	}
	var found []string
	for _, one := range plan {
		found = append(found, one.Kind)
		want := time.Minute
		if most := silenceTable[one.Kind].most; most > 0 {
			want = most
		}
		if one.Lasts != want || slices.Contains(cells, one.Cell) != silenceTable[one.Kind].ofCell {
			t.Errorf("%+v", one)
		}
	}
	if slices.Sort(found); !slices.Equal(found, kinds) {
		t.Errorf("the silences are %v", found)
	}
	for _, kind := range silenceKinds(true) {
		if strings.Contains(kind, "Milo") {
			t.Errorf("without Milo, %s", kind)
		}
	}
}

// begun returns an observer a second after a silence has begun: the name has an address in each of two cells, and one claim is granted.
func begun() *observer {
	clock := testingclock.NewFakeClock(time.Unix(1000, 0))
	o := newObserver(clock, func(address netip.Addr) string {
		if address.As4()[2] == 1 {
			return "dfw"
		}
		return "ord"
	})
	o.named(byServer, []string{"10.0.2.1", "10.0.1.1"})
	o.granted(map[string]string{"claim": "a"})
	o.begin()
	clock.Step(time.Second)
	return o
}

// TestJudgement: each promise that a silence has broken is named, and what stays as it was breaks none.
func TestJudgement(t *testing.T) {
	refusal := errors.New("connection refused")
	tests := map[string]struct {
		observe func(*observer)
		change  func(*SilenceRow)
		want    []string
	}{
		"nothing": {observe: func(o *observer) {
			o.named(byServer, []string{"10.0.1.1", "10.0.2.1"})
			o.granted(map[string]string{"claim": "a", "another": "b"})
		}},
		"a failed request": {
			observe: func(o *observer) { o.failed("ord", refusal); o.failed("ord", refusal) },
			want:    []string{"2 requests to addresses of cell ord failed, the first after 1 s: connection refused"},
		},
		"no answer": {observe: func(o *observer) { o.failed("", refusal) }, want: []string{"1 requests without an address failed"}},
		"a city that leaves": {
			observe: func(o *observer) { o.named(byServer, []string{"10.0.2.1"}) },
			want:    []string{"the DNS server lost 10.0.1.1 of cell dfw after 1 s"},
		},
		"a city that leaves and returns": {
			observe: func(o *observer) {
				o.named(byServer, []string{"10.0.2.1"})
				o.named(byServer, []string{"10.0.1.1", "10.0.2.1"})
				o.named(byServer, []string{"10.0.2.1"})
			},
			want: []string{"the DNS server lost 10.0.1.1 of cell dfw"},
		},
		"a city that leaves after its address has failed": {
			observe: func(o *observer) { o.failed("dfw", refusal); o.named(byServer, []string{"10.0.2.1"}) },
			want:    []string{"1 requests to addresses of cell dfw failed"},
		},
		"a city that leaves before its address fails": {
			observe: func(o *observer) {
				o.named(byServer, []string{"10.0.2.1"})
				o.clock.(*testingclock.FakeClock).Step(time.Second)
				o.failed("dfw", refusal)
			},
			want: []string{"1 requests to addresses of cell dfw failed, the first after 2 s", "the DNS server lost 10.0.1.1"},
		},
		"a city that leaves beside one that has failed": {
			observe: func(o *observer) { o.failed("ord", refusal); o.named(byServer, []string{"10.0.2.1"}) },
			want:    []string{"1 requests to addresses of cell ord failed", "the DNS server lost 10.0.1.1"},
		},
		"another address": {
			observe: func(o *observer) { o.named(byServer, []string{"10.0.1.1", "10.0.2.1", "10.0.2.2"}) },
			want:    []string{"the DNS server got 10.0.2.2 of cell ord"},
		},
		"a claim that is gone": {
			observe: func(o *observer) { o.granted(nil); o.granted(nil) }, want: []string{"ResourceClaims were withdrawn: claim after 1 s\n"},
		},
		"a claim that is another one": {
			observe: func(o *observer) { o.granted(map[string]string{"claim": "b"}) }, want: []string{"ResourceClaims were withdrawn"},
		},
		"an Instance that stops":    {change: func(r *SilenceRow) { r.Fewest = 2 }, want: []string{"only 2 of 3 Instances were Ready"}},
		"an Instance that moves":    {change: func(r *SilenceRow) { r.Replaced = 1 }, want: []string{"1 Instances were replaced or moved"}},
		"no traffic":                {change: func(r *SilenceRow) { r.Requests = 0 }, want: []string{"no request was sent"}},
		"a name that stays changed": {change: func(r *SilenceRow) { r.left = refusal }, want: []string{"it is not as before"}},
		"planes that disagree": {
			change: func(r *SilenceRow) { r.left = errors.New("Work a\nWork b") }, want: []string{"Work a, Work b"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := begun()
			if test.observe != nil {
				test.observe(o)
			}
			row := &SilenceRow{Kind: "Milo is away", Requests: 9, Ready: 3, Fewest: 3, observed: o.end()}
			if test.change != nil {
				test.change(row)
			}
			broken := row.Broken()
			if len(broken) != len(test.want) {
				t.Fatalf("%q", broken)
			}
			for i, want := range test.want {
				if !strings.Contains(broken[i]+"\n", want) {
					t.Errorf("%q is not about %q", broken[i], want)
				}
			}
			result := &SilenceResult{Seed: 5, Rows: []SilenceRow{*row}}
			if err := result.Err(); (err != nil) != (len(broken) > 0) || err != nil && !strings.Contains(err.Error(), "seed 5: Milo is away") {
				t.Error(err)
			}
		})
	}
}

// TestObserverBegins: a silence is compared with the moment when it began, and not with an earlier one.
func TestObserverBegins(t *testing.T) {
	o := begun()
	o.named(byServer, []string{"10.0.2.1"})
	o.granted(nil)
	o.begin()
	o.named(byServer, []string{"10.0.2.1"})
	o.granted(map[string]string{"claim": "b"})
	if seen := o.end(); !reflect.DeepEqual(seen, observed{}) {
		t.Errorf("%+v", seen)
	}
}

func TestTargets(t *testing.T) {
	record := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"endpoints": []any{
		map[string]any{"dnsName": "a.example.com", "targets": []any{"10.0.1.1"}, "setIdentifier": "DFW"},
		map[string]any{"dnsName": "a.example.com", "targets": []any{"10.0.2.1"}, "setIdentifier": "ORD"},
		map[string]any{"dnsName": "b.example.com", "targets": []any{"10.0.3.1"}},
	}}}}
	if got := targets([]unstructured.Unstructured{record, {}}, "a.example.com"); !slices.Equal(got, []string{"10.0.1.1", "10.0.2.1"}) {
		t.Errorf("%v", got)
	}
}

func TestMissingCities(t *testing.T) {
	cities := map[string][]string{"DFW": {"dfw"}, "ORD": {"ord-1", "ord-2"}}
	for name, test := range map[string]struct {
		found []string
		want  string
	}{
		"all":           {found: []string{"dfw", "ord-2"}},
		"two of a city": {found: []string{"dfw", "ord-1", "ord-2"}},
		"one missing":   {found: []string{"ord-1"}, want: "[DFW] are missing"},
		"one too much":  {found: []string{"dfw", "ord-1", "no cell"}, want: "[no cell] is too much"},
	} {
		t.Run(name, func(t *testing.T) {
			err := missingCities("a", test.found, cities)
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Error(err)
			}
		})
	}
}
