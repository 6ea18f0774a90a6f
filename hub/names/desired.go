// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Settings are the operator's settings for the DNS names of Workloads. They are the same on every replica.
type Settings struct {
	// Rules say which names Workloads have.
	Rules naming.Hostnames
	// TTL is how long a resolver may use an answer.
	TTL time.Duration
	// ReturnAfter is how long a city must have served before it is in a name again.
	ReturnAfter time.Duration
	// SilentShare is how many percent of the cities of a name leave it at most because the hub does not hear from their cells.
	SilentShare int
	// Properties are settings of a provider of DNS, such as aws/weight, by city. OtherCities has the settings of
	// all other cities. With any, each city has records of its own, whose set identifier is the city.
	Properties map[string]map[string]string
}

// OtherCities is the key of Properties for cities that are not listed.
const OtherCities = "*"

// SetProperty adds a setting of the provider of DNS for a city, whose code may be in either case.
func (o *Settings) SetProperty(city, name, value string) {
	if o.Properties == nil {
		o.Properties = map[string]map[string]string{}
	}
	city = strings.ToUpper(city)
	if o.Properties[city] == nil {
		o.Properties[city] = map[string]string{}
	}
	o.Properties[city][name] = value
}

// wish is a DNS name of a Workload.
type wish struct {
	name string
	// refusal is why the Workload may not have the name; "": it may.
	refusal string
}

// wishes are the names of a Workload: of the pattern, and of its spec.
func (o *Settings) wishes(workload *v1alpha.Workload, project string) []wish {
	if workload.UID == "" || !workload.DeletionTimestamp.IsZero() || !workload.Spec.Service.Exposed() {
		return nil
	}
	var result []wish
	hostnames := naming.HostnameOf{Workload: workload.Name, Namespace: workload.Namespace, Project: project}
	if name := o.Rules.ByPattern(hostnames); name != "" {
		result = append(result, wish{name, o.Rules.PatternRefusal(hostnames)})
	}
	for _, name := range workload.Spec.Service.Hostnames {
		result = append(result, wish{name, o.Rules.Refusal(project, name)})
	}
	if workload.Spec.Service.Routed() {
		routed := o.Rules.Exclusive(hostnames, workload.Spec.Service.Hostnames)
		for i := range result {
			if result[i].refusal == "" && !slices.Contains(routed, result[i].name) {
				result[i].refusal = "another project may have it too, so that no Gateway routes it"
			}
		}
	}
	return result
}

// answer returns the cities of a name: the cities that serve and have done so for ReturnAfter, or are in the answer before, and
// the silent cities that stay. It is empty if no city serves. wait is how long until another city returns; 0: no city waits.
//
// A name is never without a city that serves: if none of them has served for long enough, all of them are in it.
func (o *Settings) answer(
	endpoints []v1alpha.CityEndpoint, before []string, now time.Time,
) (cities []v1alpha.CityEndpoint, wait time.Duration) {
	var all []v1alpha.CityEndpoint
	for i := range endpoints {
		cityEndpoint := &endpoints[i]
		if !cityEndpoint.Serving || len(cityEndpoint.Addresses) == 0 {
			continue
		}
		all = append(all, *cityEndpoint)
		remaining := cityEndpoint.Since.Add(o.ReturnAfter).Sub(now)
		switch {
		case remaining <= 0 || slices.Contains(before, cityEndpoint.City):
			cities = append(cities, *cityEndpoint)
		case wait == 0 || remaining < wait:
			wait = remaining
		}
	}
	if len(all) == 0 {
		return nil, 0
	}
	if len(cities) == 0 {
		cities, wait = all, 0
	}
	return append(cities, o.silent(endpoints, before)...), wait
}

// silent returns the cities in the answer before that the hub does not hear from, and that are more than may leave for that. The
// ones that have left already count first, and then the ones that are silent for longest.
func (o *Settings) silent(endpoints []v1alpha.CityEndpoint, before []string) []v1alpha.CityEndpoint {
	var quiet []v1alpha.CityEndpoint
	for i := range endpoints {
		cityEndpoint := &endpoints[i]
		isUnheard := cityEndpoint.Reason == v1alpha.ReasonCellNotReady || cityEndpoint.Reason == v1alpha.ReasonReportOutdated
		if !cityEndpoint.Serving && len(cityEndpoint.Addresses) > 0 && isUnheard {
			quiet = append(quiet, *cityEndpoint)
		}
	}
	stays := func(city v1alpha.CityEndpoint) bool { return slices.Contains(before, city.City) }
	slices.SortStableFunc(quiet, func(a, b v1alpha.CityEndpoint) int {
		switch {
		case !stays(a) && stays(b):
			return -1
		case stays(a) && !stays(b):
			return 1
		}
		return a.Since.Compare(b.Since.Time)
	})
	quiet = quiet[min(len(quiet), len(endpoints)*o.SilentShare/100):]
	return slices.DeleteFunc(quiet, func(city v1alpha.CityEndpoint) bool { return !stays(city) })
}

// records are the records of a name with the addresses of cities. leftOut are the cities whose addresses no record can
// have: a name is either an alias of one host name, or has IP addresses.
func (o *Settings) records(name string, cities []v1alpha.CityEndpoint) (records []endpoint, leftOut []string) {
	numeric := slices.ContainsFunc(cities, func(cityEndpoint v1alpha.CityEndpoint) bool { return len(targets(&cityEndpoint)["CNAME"]) == 0 })
	byType := map[string][]string{}
	for i := range cities {
		city, own := &cities[i], targets(&cities[i])
		alias := own["CNAME"]
		switch apart := len(o.Properties) > 0; {
		case numeric && len(alias) > 0, !apart && len(byType["CNAME"]) > 0 && !slices.Equal(byType["CNAME"], alias):
			leftOut = append(leftOut, city.City)
		case apart:
			records = append(records, o.ofTypes(name, city.City, own)...)
		case len(alias) > 0:
			byType = own
		default:
			for kind, values := range own {
				byType[kind] = append(byType[kind], values...)
			}
		}
	}
	return append(records, o.ofTypes(name, "", byType)...), leftOut
}

// ofTypes are the records of a name for targets by type, with the properties of a city; "": of all cities together.
func (o *Settings) ofTypes(name, city string, values map[string][]string) []endpoint {
	var records []endpoint
	for _, kind := range slices.Sorted(maps.Keys(values)) {
		slices.Sort(values[kind])
		record := endpoint{
			DNSName: name, RecordType: kind, RecordTTL: int64(o.TTL.Seconds()), SetIdentifier: city, Targets: slices.Compact(values[kind]),
		}
		if city != "" {
			record.ProviderSpecific = o.propertiesOf(city)
		}
		records = append(records, record)
	}
	return records
}

func (o *Settings) propertiesOf(city string) []property {
	own, listed := o.Properties[strings.ToUpper(city)]
	if !listed {
		own = o.Properties[OtherCities]
	}
	var result []property
	for _, name := range slices.Sorted(maps.Keys(own)) {
		result = append(result, property{name, own[name]})
	}
	return result
}

// targets are the addresses of a city by the type of their records. A host name counts only where the city has no IP
// address: the first one, since a name is an alias of one host name.
func targets(city *v1alpha.CityEndpoint) map[string][]string {
	result := map[string][]string{}
	var alias string
	for _, address := range city.Addresses[:min(len(city.Addresses), naming.MaxAddresses)] {
		if address.Type == v1alpha.EndpointAddressHostname {
			if alias == "" {
				alias = address.Value
			}
			continue
		}
		kind := recordType(address.Value)
		result[kind] = append(result[kind], address.Value)
	}
	if len(result) == 0 {
		result["CNAME"] = []string{alias}
	}
	return result
}

// recordType is the type of the record of an IP address.
func recordType(address string) string {
	if strings.Contains(address, ":") {
		return "AAAA"
	}
	return "A"
}

// citiesOf are the codes of cities.
func citiesOf(endpoints []v1alpha.CityEndpoint) []string {
	codes := make([]string, 0, len(endpoints))
	for i := range endpoints {
		codes = append(codes, endpoints[i].City)
	}
	slices.Sort(codes)
	return codes
}
