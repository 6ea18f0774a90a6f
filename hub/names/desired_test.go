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
	return v1alpha.CityEndpoint{
		City: city, Serving: addresses != "", Addresses: parse(addresses),
		Since: metav1.NewTime(testBegin.Add(-time.Duration(seconds) * time.Second)),
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	const a, b = "203.0.113.7", "203.0.113.8"
	settings := &Settings{ReturnAfter: 30 * time.Second}
	for name, test := range map[string]struct {
		of     []v1alpha.CityEndpoint
		before string
		want   string
		wait   time.Duration
	}{
		"no city":                  {nil, "DFW", "", 0},
		"no city serves":           {[]v1alpha.CityEndpoint{serving("DFW", 9, "")}, "DFW", "", 0},
		"the first city":           {[]v1alpha.CityEndpoint{serving("DFW", 0, a)}, "", "DFW", 0},
		"a city that stays":        {[]v1alpha.CityEndpoint{serving("DFW", 0, a)}, "DFW", "DFW", 0},
		"a city that returns":      {[]v1alpha.CityEndpoint{serving("DFW", 99, a), serving("ORD", 29, b)}, "DFW", "DFW", time.Second},
		"a city that has returned": {[]v1alpha.CityEndpoint{serving("DFW", 99, a), serving("ORD", 30, b)}, "DFW", "DFW ORD", 0},
		"two that return": {
			[]v1alpha.CityEndpoint{serving("DFW", 9, a), serving("ORD", 3, b), serving("SEA", 40, a)}, "SEA", "SEA", 21 * time.Second,
		},
		"an only city that returns":   {[]v1alpha.CityEndpoint{serving("DFW", 9, ""), serving("ORD", 3, b)}, "DFW", "ORD", 0},
		"a city from the future":      {[]v1alpha.CityEndpoint{serving("DFW", -99, a)}, "", "DFW", 0},
		"a city without an address":   {[]v1alpha.CityEndpoint{{City: "DFW", Serving: true}}, "DFW", "", 0},
		"a city that is not any more": {[]v1alpha.CityEndpoint{serving("ORD", 99, b)}, "DFW,ORD", "ORD", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cities, wait := settings.answer(test.of, strings.Split(test.before, ","), testBegin)
			if got := strings.Join(citiesOf(cities), " "); got != test.want || wait != test.wait {
				t.Errorf("got %q, again after %s", got, wait)
			}
		})
	}
}

// TestSilentCities: a name loses no more than the operator's share of its cities to silence, the longest silence first.
func TestSilentCities(t *testing.T) {
	t.Parallel()
	silent := func(city string, seconds int, reason string) v1alpha.CityEndpoint {
		one := serving(city, seconds, "203.0.113.9")
		one.Serving, one.Reason = false, reason
		return one
	}
	const lost, late = v1alpha.ReasonCellNotReady, v1alpha.ReasonReportOutdated
	dfw, ord := serving("DFW", 99, "203.0.113.7"), serving("ORD", 99, "203.0.113.8")
	heard := serving("DFW", 0, "203.0.113.7")
	for name, test := range map[string]struct {
		of     []v1alpha.CityEndpoint
		before string
		share  int
		want   string
	}{
		"one of three":            {[]v1alpha.CityEndpoint{dfw, ord, silent("SEA", 1, lost)}, "DFW,ORD,SEA", 50, "DFW ORD"},
		"two of three":            {[]v1alpha.CityEndpoint{dfw, silent("ORD", 1, lost), silent("SEA", 9, late)}, "DFW,ORD,SEA", 50, "DFW ORD"},
		"one after the other":     {[]v1alpha.CityEndpoint{dfw, silent("ORD", 9, lost), silent("SEA", 99, lost)}, "DFW,ORD", 50, "DFW ORD"},
		"the later one has left":  {[]v1alpha.CityEndpoint{dfw, silent("ORD", 9, lost), silent("SEA", 1, lost)}, "DFW,ORD", 50, "DFW ORD"},
		"one of two":              {[]v1alpha.CityEndpoint{dfw, silent("ORD", 9, lost)}, "DFW,ORD", 50, "DFW"},
		"none may leave":          {[]v1alpha.CityEndpoint{dfw, silent("ORD", 9, lost)}, "DFW,ORD", 0, "DFW ORD"},
		"all may leave":           {[]v1alpha.CityEndpoint{dfw, silent("ORD", 9, lost), silent("SEA", 9, lost)}, "DFW,ORD,SEA", 100, "DFW"},
		"none is new":             {[]v1alpha.CityEndpoint{dfw, silent("ORD", 9, lost)}, "DFW", 0, "DFW"},
		"no silence":              {[]v1alpha.CityEndpoint{dfw, silent("ORD", 9, v1alpha.ReasonReplicasNotReady)}, "DFW,ORD", 0, "DFW"},
		"it leaves":               {[]v1alpha.CityEndpoint{dfw, silent("ORD", 9, v1alpha.EndpointLeaving)}, "DFW,ORD", 0, "DFW"},
		"the first that is heard": {[]v1alpha.CityEndpoint{heard, silent("ORD", 9, late), silent("SEA", 9, lost)}, "DFW,ORD,SEA", 50, "DFW SEA"},
		"no city serves":          {[]v1alpha.CityEndpoint{silent("ORD", 9, late), silent("SEA", 9, lost)}, "ORD,SEA", 50, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := &Settings{ReturnAfter: 30 * time.Second, SilentShare: test.share}
			cities, _ := settings.answer(test.of, strings.Split(test.before, ","), testBegin)
			if got := strings.Join(citiesOf(cities), " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
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

// FuzzAnswer: whatever cities report and whatever a name answered before, no city is in it that does not serve, and it is
// never empty where a city serves.
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
		answer, wait := settings.answer(cities, strings.Split(before, ","), testBegin)
		if some == (len(answer) == 0) || wait < 0 || wait > settings.ReturnAfter {
			t.Fatalf("%d cities of %v, again after %s", len(answer), cities, wait)
		}
		for i := range answer {
			if !answer[i].Serving {
				t.Errorf("%s does not serve", answer[i].City)
			}
		}
		records, leftOut := settings.records("web.example.com", answer)
		if some == (len(records) == 0) || some && len(leftOut) >= len(answer) {
			t.Fatalf("no record of %v, without %v", answer, leftOut)
		}
		checkRecords(t, records, apart)
	})
}

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
