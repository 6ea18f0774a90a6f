// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestReadLoadBalancer(t *testing.T) {
	good, err := ReadLoadBalancer(`{"class":"example.com/lb","annotations":{"example.com/Pool":"a"},
		"addresses":["203.0.113.7/24","LB.example.com","2001:db8::/32"]}`)
	if err != nil || good.Class != "example.com/lb" || good.Annotations["example.com/Pool"] != "a" || len(good.Ranges) != 2 ||
		good.Ranges[0].String() != "203.0.113.0/24" || good.Domains[0] != "lb.example.com" {
		t.Fatalf("%+v, %v", good, err)
	}
	routed, err := ReadLoadBalancer(
		`{"gateway":{"namespace":"infra","name":"public","listeners":["shop","https","shop"]},"addresses":["a.b"]}`)
	if err != nil || !slices.Equal(routed.Gateway.Listeners, []string{"https", "shop"}) || routed.GatewayPort != 443 {
		t.Errorf("%+v, %v", routed, err)
	}
	many := strings.Repeat(`"203.0.113.0/24",`, MaxBalancerAddresses) + `"203.0.113.0/24"`
	listeners := strings.Repeat(`"a",`, maxListeners) + `"a"`
	var annotations []string
	for i := range MaxBalancerAnnotations + 1 {
		annotations = append(annotations, fmt.Sprintf(`"a%d":""`, i))
	}
	for text, want := range map[string]string{
		"yes":                           "must be a JSON object",
		`{"addresses":["203.0.113.7"]}`: "no range",
		`{"addresses":["localhost"]}`:   "no range",
		`{"addresses":["a b.example"]}`: "no range",
		`{}`:                            "must have 1 to",
		`{"addresses":[` + many + `]}`:  "must have 1 to",
		`{"gateway":{"name":"public"},"addresses":["203.0.113.0/24"]}`:                                 "gateway: namespace",
		`{"gateway":{"namespace":"infra","name":"A B"},"addresses":["203.0.113.0/24"]}`:                "gateway: name",
		`{"gateway":{"namespace":"i","name":"p","port":-1},"addresses":["203.0.113.0/24"]}`:            "gateway: port",
		`{"gateway":{"namespace":"i","name":"p","port":65536},"addresses":["203.0.113.0/24"]}`:         "gateway: port",
		`{"gateway":{"namespace":"i","name":"p","x":1},"addresses":["203.0.113.0/24"]}`:                "unknown field",
		`{"gateway":{"namespace":"i","name":"p","listeners":["a b"]},"addresses":["a.b"]}`:             "gateway: listener \"a b\"",
		`{"gateway":{"namespace":"i","name":"p","listeners":[` + listeners + `]},"addresses":["a.b"]}`: "gateway: at most 16 listeners",
		`{"adresses":["203.0.113.0/24"]}`:                                                              "unknown field",
		`{"addresses":["203.0.113.0/24","half right"]}`:                                                "no range",
		`{"addresses":["203.0.113.0/24"]} and more`:                                                    "must be a JSON object",
		`{"class":"a b","addresses":["203.0.113.0/24"]}`:                                               "class",
		`{"annotations":{"a b":""},"addresses":["203.0.113.0/24"]}`:                                    "annotations",
		`{"annotations":{"compute.datumapis.com/x":""},"addresses":["203.0.113.0/24"]}`:                "reserved",
		`{"annotations":{` + strings.Join(annotations, ",") + `},"addresses":["a.b/8"]}`:               "at most",
		`{"class":"` + strings.Repeat("a", maxBalancer) + `"}`:                                         "bytes",
	} {
		if got, err := ReadLoadBalancer(text); err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%.60s: %v with %+v, want %q", text, err, got, want)
		}
	}
}

// TestAdmit: a hostile cell reports no address that the operator has not given it, and none of another city.
func TestAdmit(t *testing.T) {
	const everything = `{"addresses":["0.0.0.0/0","::/0","lb.example.com"]}`
	own := Cell{Name: "dfw-1", City: "dfw", Balancer: `{"addresses":["203.0.113.0/24","10.0.0.0/8","2001:db8::/32","dfw.example.com"]}`}
	all := Cells{
		own,
		{Name: "dfw-2", City: "dfw", Balancer: `{"addresses":["203.0.113.0/24"]}`},
		{Name: "ord-1", City: "ord", Balancer: `{"addresses":["10.9.0.0/16","ord.dfw.example.com"]}`},
		{Name: "ord-2", City: "ord", Balancer: `no settings`},
		{Name: "half", City: "ber", Balancer: `{"addresses":["203.0.113.0/24","half right"]}`},
		{Name: "none", Balancer: everything},
		{Name: "forgotten", City: "fra", Balancer: everything, Gone: true},
	}
	for reported, want := range map[string]string{
		"":                            "",
		"203.0.113.7":                 "203.0.113.7",
		"10.1.2.3,203.0.113.7":        "10.1.2.3 203.0.113.7",
		"203.0.113.7,203.0.113.7":     "203.0.113.7",
		"2001:DB8::7":                 "2001:db8::7",
		"A.dfw.example.com.":          "a.dfw.example.com",
		"dfw.example.com":             "dfw.example.com",
		"10.9.0.1":                    "- of another city",
		"a.ord.dfw.example.com":       "- of another city",
		"198.51.100.1":                "- not in its ranges",
		"notdfw.example.com":          "- not in its ranges",
		"0.0.0.0":                     "- unspecified",
		"127.0.0.1":                   "- unspecified",
		"224.0.0.1":                   "- unspecified",
		"169.254.169.254":             "- unspecified",
		"255.255.255.255":             "- unspecified",
		"::":                          "- unspecified",
		"::1":                         "- unspecified",
		"ff02::1":                     "- unspecified",
		"fe80::1":                     "- unspecified",
		"64:ff9b::a9fe:a9fe":          "- unspecified",
		"2002:7f00:1::":               "- unspecified",
		"::7f00:1":                    "- unspecified",
		"168.63.129.16":               "- unspecified",
		"100.100.100.200":             "- unspecified",
		"fd00:ec2::254":               "- unspecified",
		"::ffff:203.0.113.7":          "- no plain IP address",
		"fe80::1%eth0":                "- no plain IP address",
		"203.0.113":                   "- neither",
		"203.0.113.300":               "- neither",
		"0x7f.1":                      "- neither",
		"localhost":                   "- neither",
		"-a.dfw.example.com":          "- neither",
		"203.0.113.7,,10.9.0.1":       "203.0.113.7 - neither - of another city",
		strings.Repeat("a", 300):      "- neither",
		"*.dfw.example.com":           "- neither",
		"203.0.113.7/32":              "- neither",
		"a.dfw.example.com,127.0.0.1": "a.dfw.example.com - unspecified",
	} {
		admitted, refused := all.Admit(own, reported)
		var got []string
		for _, address := range admitted {
			got = append(got, address.Value)
		}
		index := len(got)
		got = append(got, refused...)
		parts := strings.Split(want, "- ")
		if text := strings.Join(got[:index], " "); text != strings.TrimSpace(parts[0]) || len(refused) != len(parts)-1 {
			t.Errorf("%.40q: admitted %v, refused %v, want %q", reported, admitted, refused, want)
			continue
		}
		for i, part := range parts[1:] {
			if !strings.Contains(refused[i], strings.TrimSpace(part)) {
				t.Errorf("%.40q: refused because %s, want %q", reported, refused[i], part)
			}
		}
	}
	for _, cell := range []Cell{{Name: "new", City: "dfw"}, {Name: "bad", City: "dfw", Balancer: "{"}, all[4]} {
		if admitted, refused := all.Admit(cell, "203.0.113.7"); len(admitted) != 0 || len(refused) != 1 {
			t.Errorf("without settings: admitted %v, refused %v", admitted, refused)
		}
	}
}

// TestAdmitBesideAMistake: a range of another city that is too wide takes nothing from a cell, and gets nothing of it. Settings
// that cannot be read keep the addresses that were admitted.
func TestAdmitBesideAMistake(t *testing.T) {
	own := Cell{Name: "dfw-1", City: "dfw", Balancer: `{"addresses":["203.0.113.0/24","lb.dfw.example.com"]}`}
	wide := Cell{Name: "ord-1", City: "ord", Balancer: `{"addresses":["0.0.0.0/0","example.com"]}`}
	all := Cells{own, wide, {Name: "ber-1", City: "ber", Balancer: `{"addresses":["203.0.113.128/25"]}`}}
	for _, test := range []struct {
		cell     Cell
		reported string
		admitted bool
	}{
		{own, "203.0.113.7", true},
		{own, "a.lb.dfw.example.com", true},
		{own, "203.0.113.200", false},
		{wide, "203.0.113.7", false},
		{wide, "a.lb.dfw.example.com", false},
		{wide, "198.51.100.9", true},
	} {
		if admitted, refused := all.Admit(test.cell, test.reported); len(admitted) == 1 != test.admitted || len(refused) == 1 == test.admitted {
			t.Errorf("%s of %s: admitted %v, refused %v", test.reported, test.cell.Name, admitted, refused)
		}
	}
	before := v1alpha.EndpointAddress{Type: v1alpha.EndpointAddressIP, Value: "203.0.113.7"}
	own.Balancer = `{"addreses":["203.0.113.0/24"]}`
	admitted, refused := Cells{own, wide}.Admit(own, "203.0.113.7,203.0.113.8", before)
	if len(admitted) != 1 || admitted[0] != before || len(refused) != 1 || !strings.Contains(refused[0], "karmada-es-dfw-1") ||
		!strings.Contains(refused[0], `unknown field "addreses"`) {
		t.Errorf("admitted %v, refused %v", admitted, refused)
	}
	own.Balancer = ""
	if admitted, _ := (Cells{own, wide}).Admit(own, "203.0.113.7", before); len(admitted) != 0 {
		t.Errorf("without settings %v is admitted", admitted)
	}
}

// FuzzParseAddress: an address that is admitted is printed as it is read.
func FuzzParseAddress(f *testing.F) {
	for _, text := range []string{"203.0.113.7", "2001:db8::1", "lb.example.com", "0.0.0.0", "::ffff:1.2.3.4", "a..b", "1.2.3.4.", "A.B"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		address, err := ParseAddress(text)
		if err != nil {
			return
		}
		again, err := ParseAddress(address.Value)
		if isAddress := address.Type == v1alpha.EndpointAddressIP; err != nil || again != address || len(address.Value) > 253 ||
			isAddress && strings.ContainsAny(address.Value, "% ") {
			t.Errorf("%q is %+v, and again %+v, %v", text, address, again, err)
		}
	})
}

// TestLacking: a city has what an exposure needs if one of its cells has it by settings that can be read.
func TestLacking(t *testing.T) {
	const (
		balanced = `{"addresses":["203.0.113.0/24"]}`
		routed   = `{"addresses":["203.0.113.0/24"],"gateway":{"namespace":"infra","name":"public"}}`
	)
	all := Cells{
		{Name: "a", City: "dfw", Balancer: balanced},
		{Name: "b", City: "ord", Balancer: balanced},
		{Name: "c", City: "ord", Balancer: routed},
		{Name: "d", City: "sea", Balancer: "{"},
		{Name: "e", City: "hou", Balancer: routed, Gone: true},
	}
	for exposure, want := range map[v1alpha.ServiceExposure]string{
		v1alpha.ServiceExposureLoadBalancer: "SEA HOU", v1alpha.ServiceExposureGateway: "DFW SEA HOU",
	} {
		if got := strings.Join(all.Lacking([]string{"DFW", "ORD", "SEA", "HOU"}, exposure), " "); got != want {
			t.Errorf("%s: %q, want %q", exposure, got, want)
		}
	}
}
