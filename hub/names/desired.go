// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"fmt"
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
	// SilentShare is how many percent of the cities of a name leave it at most because the hub does not hear from their cells. One
	// city may always leave; 0: none.
	SilentShare int
	// PanicThreshold is how many percent of its cities a name keeps at least, whatever the hub does not hear or reach.
	PanicThreshold int
	// Properties are settings of a provider of DNS, such as aws/weight, by city. OtherCities has the settings of
	// all other cities. With any, each city has records of its own, whose set identifier is the city.
	Properties map[string]map[string]string
	// Apexes are names that can be no alias, since they are the apex of a zone.
	Apexes []string
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

// factOf reads the endpoint of a city. Only the word of a cell or of an operator is evidence: any other reason, and no
// reason, is silence.
func factOf(endpoint *v1alpha.CityEndpoint) fact {
	result := fact{city: endpoint.City, said: saysNothing, since: endpoint.Since.Time, addressed: len(endpoint.Addresses) > 0}
	switch endpoint.Reason {
	case v1alpha.EndpointLeaving:
		result.said = saysLeaving
	case v1alpha.ReasonReplicasNotReady, v1alpha.ReasonNodesCordoned, v1alpha.ReasonAwaitingAddress, v1alpha.ReasonAddressRefused,
		v1alpha.ReasonNoMatchingLocation, v1alpha.ReasonProjectSuspended:
		result.said = saysDown
	}
	if endpoint.Serving {
		result.said = saysServing
	}
	return result
}

// withSilent adds an endpoint without a report for each exposed deployment that has none yet.
func withSilent(endpoints []v1alpha.CityEndpoint, deployments []v1alpha.WorkloadDeployment) []v1alpha.CityEndpoint {
	for i := range deployments {
		d := &deployments[i]
		isReported := func(e v1alpha.CityEndpoint) bool { return e.City == d.Spec.CityCode }
		if d.DeletionTimestamp.IsZero() && d.Spec.Service.Exposed() && d.Annotations[v1alpha.AnnotationTrafficLeaves] == "" &&
			!slices.ContainsFunc(endpoints, isReported) {
			endpoints = append(endpoints, v1alpha.CityEndpoint{City: d.Spec.CityCode})
		}
	}
	return endpoints
}

// answer returns the endpoints of the cities of an answer, the ones that are known to serve first: an alias is the one of the first
// city. A city whose addresses are not known has the ones of the stored answer that no other city has.
func (d *decision) answer(endpoints []v1alpha.CityEndpoint, stored spec) []v1alpha.CityEndpoint {
	var result []v1alpha.CityEndpoint
	for _, isNext := range []func(v verdict) bool{
		func(v verdict) bool { return v.place == placeIn },
		func(v verdict) bool { return v.place == placeDoubt && d.had(v.fact) },
		func(v verdict) bool { return v.place == placeDoubt && !d.had(v.fact) },
	} {
		for i, v := range d.verdicts {
			city := endpoints[i]
			if len(city.Addresses) == 0 {
				city.Addresses = stored.others(slices.Concat(endpoints, result), city.City)
			}
			if len(city.Addresses) == 0 {
				city.Addresses = stored.others(endpoints, city.City)
			}
			if isNext(v) && len(city.Addresses) > 0 {
				result = append(result, city)
			}
		}
	}
	return result
}

// others are addresses of a stored answer that are of no known city. Records with a set identifier are of that city alone.
func (s spec) others(known []v1alpha.CityEndpoint, city string) []v1alpha.EndpointAddress {
	var result []v1alpha.EndpointAddress
	for _, record := range s.Endpoints {
		kind := v1alpha.EndpointAddressIP
		if record.RecordType == "CNAME" {
			kind = v1alpha.EndpointAddressHostname
		}
		for _, target := range record.Targets {
			address := v1alpha.EndpointAddress{Type: kind, Value: target}
			isKnown := slices.ContainsFunc(known, func(e v1alpha.CityEndpoint) bool { return slices.Contains(e.Addresses, address) })
			if !isKnown && (record.SetIdentifier == "" || record.SetIdentifier == city) && len(result) < naming.MaxAddresses {
				result = append(result, address)
			}
		}
	}
	return result
}

// describe describes the answer. The endpoint of a city that is not in it has the reason.
func (d *decision) describe() (reason, message string) {
	var doubts []string
	for _, v := range d.verdicts {
		if v.place == placeDoubt {
			doubts = append(doubts, fmt.Sprintf("%s (%s)", v.city, v.why))
		}
	}
	cities := strings.Join(d.cities(), ", ")
	switch {
	case !d.serves:
		return v1alpha.ReasonNoCityServes, "no city serves; the names keep the addresses of " + cities
	case d.unreachable() != nil:
		return v1alpha.ReasonAddressUnreachable, fmt.Sprintf("the names have the addresses of %s; the ones of %s do not answer the hub",
			cities, strings.Join(d.unreachable(), ", "))
	case len(doubts) > 0:
		return v1alpha.ReasonNamesProgrammed, fmt.Sprintf("the names have the addresses of %s; in doubt: %s", cities, strings.Join(doubts, ", "))
	}
	return v1alpha.ReasonNamesProgrammed, "the names have the addresses of " + cities
}

// records are the records of a name with the addresses of cities. leftOut are the cities whose addresses no record can
// have: a name is either an alias of one host name, or has IP addresses. The apex of a zone has IP addresses alone.
func (o *Settings) records(name string, cities []v1alpha.CityEndpoint) (records []endpoint, leftOut []string) {
	numeric := slices.Contains(o.Apexes, name) || o.isNumeric(cities)
	byType := map[string][]string{}
	for i := range cities {
		city, own := &cities[i], targets(&cities[i])
		alias := own["CNAME"]
		switch apart := len(o.Properties) > 0; {
		case numeric == (len(alias) > 0), !apart && len(byType["CNAME"]) > 0 && !slices.Equal(byType["CNAME"], alias):
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

// isNumeric reports whether a name has IP addresses: a city has one. A city in doubt does not decide it while another one serves.
func (*Settings) isNumeric(cities []v1alpha.CityEndpoint) bool {
	isServing := func(city v1alpha.CityEndpoint) bool { return city.Serving }
	anyServes := slices.ContainsFunc(cities, isServing)
	return slices.ContainsFunc(cities, func(city v1alpha.CityEndpoint) bool {
		return (isServing(city) || !anyServes) && len(targets(&city)["CNAME"]) == 0
	})
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
