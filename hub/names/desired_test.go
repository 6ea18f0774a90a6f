// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// serving is a city that has served, or has not, for some seconds.
func serving(city string, seconds int, addresses string) v1alpha.CityEndpoint {
	result := v1alpha.CityEndpoint{
		City: city, Serving: addresses != "", Addresses: parse(addresses),
		Since: metav1.NewTime(testBegin.Add(-time.Duration(seconds) * time.Second)),
	}
	if addresses == "" {
		result.Reason = v1alpha.ReasonAwaitingAddress
	}
	return result
}

// notServing is a city with an address that has not served for some seconds, for a reason.
func notServing(city string, seconds int, reason string) v1alpha.CityEndpoint {
	result := serving(city, seconds, "203.0.113.9")
	result.Serving, result.Reason = false, reason
	return result
}

// decideFor returns what follows from the endpoints of cities, and the cities of the answer.
func decideFor(o *Settings, endpoints []v1alpha.CityEndpoint, before string) (*decision, string) {
	facts := make([]fact, len(endpoints))
	for i := range endpoints {
		facts[i] = factOf(&endpoints[i])
	}
	cities := strings.FieldsFunc(before, func(r rune) bool { return r == ',' })
	decided := o.decide(facts, cities, testBegin)
	return decided, strings.Join(decided.cities(), " ")
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	const a, b = "203.0.113.7", "203.0.113.8"
	settings := &Settings{ReturnAfter: 30 * time.Second}
	down := func(city string, seconds int) v1alpha.CityEndpoint {
		return notServing(city, seconds, v1alpha.ReasonReplicasNotReady)
	}
	for name, test := range map[string]struct {
		of     []v1alpha.CityEndpoint
		before string
		want   string
		wait   time.Duration
	}{
		"no city":                  {nil, "DFW", "", 0},
		"no city serves":           {[]v1alpha.CityEndpoint{serving("DFW", 9, "")}, "DFW", "DFW", 0},
		"no city has served":       {[]v1alpha.CityEndpoint{down("DFW", 9), notServing("ORD", 9, v1alpha.ReasonCellNotReady)}, "", "", 0},
		"the first city":           {[]v1alpha.CityEndpoint{serving("DFW", 0, a)}, "", "DFW", 0},
		"a city that stays":        {[]v1alpha.CityEndpoint{serving("DFW", 0, a)}, "DFW", "DFW", 0},
		"a city that returns":      {[]v1alpha.CityEndpoint{serving("DFW", 99, a), serving("ORD", 29, b)}, "DFW", "DFW", time.Second},
		"a city that has returned": {[]v1alpha.CityEndpoint{serving("DFW", 99, a), serving("ORD", 30, b)}, "DFW", "DFW ORD", 0},
		"two that return": {
			[]v1alpha.CityEndpoint{serving("DFW", 9, a), serving("ORD", 3, b), serving("SEA", 40, a)}, "SEA", "SEA", 21 * time.Second,
		},
		"an only city that returns":   {[]v1alpha.CityEndpoint{serving("DFW", 63, ""), serving("ORD", 60, b)}, "DFW", "ORD", 0},
		"a city from the future":      {[]v1alpha.CityEndpoint{serving("DFW", -99, a)}, "", "DFW", 0},
		"a city without an address":   {[]v1alpha.CityEndpoint{{City: "DFW", Serving: true}, serving("ORD", 99, b)}, "", "ORD", 0},
		"a city that is not any more": {[]v1alpha.CityEndpoint{serving("ORD", 99, b)}, "DFW,ORD", "ORD", 0},
		"one is back":                 {[]v1alpha.CityEndpoint{serving("DFW", 9, a), down("ORD", 20)}, "DFW,ORD", "DFW ORD", 51 * time.Second},
		"one is back for a minute":    {[]v1alpha.CityEndpoint{serving("DFW", 60, a), down("ORD", 99)}, "DFW,ORD", "DFW", 0},
		"one is back and one failed":  {[]v1alpha.CityEndpoint{serving("DFW", 9, a), down("ORD", 8)}, "DFW,ORD", "DFW", 0},
		"half are back": {
			[]v1alpha.CityEndpoint{serving("DFW", 9, a), down("FRA", 20), serving("ORD", 3, b), down("SEA", 20)}, "DFW,FRA,ORD,SEA", "DFW ORD", 0,
		},
		"one returns with the first": {[]v1alpha.CityEndpoint{serving("DFW", 9, a), serving("ORD", 3, b)}, "DFW", "DFW ORD", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if decided, got := decideFor(settings, test.of, test.before); got != test.want || decided.wait != test.wait {
				t.Errorf("got %q, again after %s", got, decided.wait)
			}
		})
	}
}

// TestSilentCities: a name loses no more than the operator's share of its cities to silence, the longest silence first.
func TestSilentCities(t *testing.T) {
	t.Parallel()
	silent := notServing
	type all = []v1alpha.CityEndpoint
	const lost, late, down = v1alpha.ReasonCellNotReady, v1alpha.ReasonReportOutdated, v1alpha.ReasonReplicasNotReady
	const mine = "203.0.113.7"
	dfw, ord := serving("DFW", 200, mine), serving("ORD", 200, "203.0.113.8")
	heard, four := serving("DFW", 0, mine), "DFW,FRA,ORD,SEA"
	fra, sea := silent("FRA", 7, lost), silent("SEA", 9, lost)
	for name, test := range map[string]struct {
		of               []v1alpha.CityEndpoint
		before           string
		share, threshold int
		want             string
	}{
		"one of three":            {all{dfw, ord, silent("SEA", 1, lost)}, "DFW,ORD,SEA", 33, 50, "DFW ORD"},
		"two of three":            {all{dfw, silent("ORD", 1, lost), silent("SEA", 9, late)}, "DFW,ORD,SEA", 33, 50, "DFW ORD"},
		"one after the other":     {all{dfw, silent("ORD", 9, lost), silent("SEA", 99, lost)}, "DFW,ORD", 33, 50, "DFW ORD"},
		"the later one has left":  {all{dfw, silent("ORD", 9, lost), silent("SEA", 1, lost)}, "DFW,ORD", 33, 50, "DFW ORD"},
		"one of two":              {all{dfw, silent("ORD", 9, lost)}, "DFW,ORD", 33, 50, "DFW"},
		"one of two stays":        {all{dfw, silent("ORD", 9, lost)}, "DFW,ORD", 33, 51, "DFW ORD"},
		"none may leave":          {all{dfw, silent("ORD", 9, lost)}, "DFW,ORD", 0, 50, "DFW ORD"},
		"half of all stay":        {all{dfw, fra, silent("ORD", 8, lost), sea}, four, 100, 50, "DFW FRA"},
		"three quarters stay":     {all{dfw, fra, silent("ORD", 8, lost), sea}, four, 100, 75, "DFW FRA ORD"},
		"none is new":             {all{dfw, silent("ORD", 9, lost)}, "DFW", 0, 50, "DFW"},
		"no silence":              {all{dfw, silent("ORD", 9, down)}, "DFW,ORD", 0, 50, "DFW"},
		"another fault":           {all{dfw, silent("ORD", 9, v1alpha.ReasonNotApplied)}, "DFW,ORD", 0, 50, "DFW ORD"},
		"no report":               {all{dfw, {City: "ORD"}}, "DFW,ORD", 0, 50, "DFW ORD"},
		"it leaves":               {all{dfw, silent("ORD", 9, v1alpha.EndpointLeaving)}, "DFW,ORD", 0, 50, "DFW"},
		"the first that is heard": {all{heard, silent("ORD", 9, late), silent("SEA", 9, lost)}, "DFW,ORD,SEA", 33, 50, "DFW ORD SEA"},
		"no city serves":          {all{silent("ORD", 9, late), silent("SEA", 9, lost)}, "ORD,SEA", 33, 50, "ORD SEA"},
		"the last one fails":      {all{notServing("DFW", 60, down), silent("SEA", 99, lost)}, "DFW", 33, 50, "DFW SEA"},
		"the last one blinks":     {all{notServing("DFW", 59, down), silent("SEA", 99, lost)}, "DFW", 33, 50, "DFW"},
		"the last one leaves":     {all{notServing("DFW", 9, v1alpha.EndpointLeaving), silent("SEA", 99, lost)}, "DFW", 33, 50, "SEA"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := &Settings{ReturnAfter: 30 * time.Second, SilentShare: test.share, PanicThreshold: test.threshold}
			if _, got := decideFor(settings, test.of, test.before); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestRecordsInDoubt: the addresses of a city in doubt do not keep the ones of a city that serves out of a name.
func TestRecordsInDoubt(t *testing.T) {
	t.Parallel()
	doubtful := notServing("ORD", 9, v1alpha.ReasonCellNotReady)
	for serves, want := range map[string]string{"lb.example": "CNAME [lb.example]", "203.0.113.7": "A [203.0.113.7 203.0.113.9]"} {
		records, leftOut := (&Settings{TTL: time.Second}).records("web.example.com", []v1alpha.CityEndpoint{serving("DFW", 9, serves), doubtful})
		if len(records) != 1 || fmt.Sprint(records[0].RecordType, " ", records[0].Targets) != want || slices.Contains(leftOut, "DFW") {
			t.Errorf("%s: records %+v without %v", serves, records, leftOut)
		}
	}
}

// TestManyAddresses: what the most cities with the most addresses give is within the bounds of external-dns' kind.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	var cities []v1alpha.CityEndpoint
	for i := range 48 {
		city := serving(fmt.Sprintf("C%d", i), 99, "")
		for j := range 32 {
			city.Addresses = append(city.Addresses, parse(fmt.Sprintf("203.0.%d.%d", i, j))...)
		}
		cities = append(cities, city)
	}
	records, leftOut := (&Settings{TTL: time.Second}).records("web.example.com", cities)
	if len(records) != 1 || len(records[0].Targets) > 1000 || len(leftOut) > 0 {
		t.Errorf("%d records, without %v", len(records), leftOut)
	}
	for _, city := range []string{"203.0.0.0", "203.0.47.0"} {
		if !slices.Contains(records[0].Targets, city) {
			t.Errorf("%s is missing", city)
		}
	}
}

// FuzzAnswer: whatever cities report and whatever a name answered before, a city is in it that serves if one does.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4}, "DFW,ORD", false)
	f.Add([]byte{0, 255, 7, 9, 11}, "", true)
	f.Fuzz(func(t *testing.T, state []byte, before string, apart bool) {
		settings := &Settings{TTL: time.Second, ReturnAfter: 30 * time.Second}
		if apart {
			settings.SetProperty(OtherCities, "aws/weight", "1")
		}
		cities := reportedBy(state)
		some := slices.ContainsFunc(cities, func(city v1alpha.CityEndpoint) bool { return city.Serving })
		decided, _ := decideFor(settings, cities, before)
		answer := decided.answer(cities, spec{})
		if some != slices.ContainsFunc(answer, isServing) || decided.wait < 0 || decided.wait > patience {
			t.Fatalf("%d cities of %v, again after %s", len(answer), cities, decided.wait)
		}
		some = len(answer) > 0
		records, leftOut := settings.records("web.example.com", answer)
		if some == (len(records) == 0) || some && len(leftOut) >= len(answer) {
			t.Fatalf("no record of %v, without %v", answer, leftOut)
		}
		checkRecords(t, records, apart)
	})
}

func isServing(city v1alpha.CityEndpoint) bool { return city.Serving && len(city.Addresses) > 0 }

// reportedBy returns cities, each with addresses and a time that a byte decides.
func reportedBy(state []byte) []v1alpha.CityEndpoint {
	var cities []v1alpha.CityEndpoint
	for i, b := range state[:min(len(state), 48)] {
		addresses := []string{"", fmt.Sprintf("203.0.113.%d", i), "lb.example", "2001:db8::1 203.0.113.9", "a.example lb.example"}[int(b)%5]
		cities = append(cities, serving(fmt.Sprintf("C%02d", i), int(b)/5, addresses))
	}
	return cities
}

// checkRecords fails unless records are of the name, and an alias is alone.
func checkRecords(t *testing.T, records []endpoint, apart bool) {
	t.Helper()
	aliases := 0
	for _, record := range records {
		if record.DNSName != "web.example.com" || len(record.Targets) == 0 || slices.Contains(record.Targets, "") ||
			(record.SetIdentifier != "") != apart {
			t.Errorf("record %+v", record)
		}
		if record.RecordType == "CNAME" {
			aliases++
		}
	}
	if aliases > 0 && (aliases != len(records) || aliases > 1 && !apart) {
		t.Errorf("an alias beside other records: %+v", records)
	}
}
