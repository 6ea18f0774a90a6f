// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
	"github.com/karmada-compute/karmada-compute/hub/names"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// nameOptions are the flags of DNS names.
type nameOptions struct {
	pattern             string
	domains, properties []string
	apexes              []string
	ttl, returnAfter    time.Duration
	silentShare         int
	probeInterval       time.Duration
	resolver            string
	panicThreshold      int
}

// maxProbeInterval is the longest interval in which addresses are asked: a later answer is of no use.
const maxProbeInterval = time.Minute

// maxTTL is the longest time that resolvers may use an answer, since drainSeconds is at most an hour.
const maxTTL = 50 * time.Minute

func (o *nameOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.pattern, "names-pattern", "",
		"DNS name of every Workload with exposure LoadBalancer, with {workload}, {namespace} and {project}, such as "+
			"{workload}.{project}.apps.example.com. Empty: no Workload gets a name by itself. The value must be the same on every replica.")
	flags.StringArrayVar(&o.domains, "names-domain", nil,
		"Domain in which the Workloads of a project may ask for names with spec.service.hostnames, as PROJECT=DOMAIN. Repeat "+
			"the flag for more domains and projects. The value must be the same on every replica.")
	flags.StringArrayVar(&o.apexes, "names-apex", nil,
		"DNS name at the apex of a zone whose provider has no alias there, such as shop.example.com. It gets the addresses of the cities "+
			"whose load balancers have IP addresses, and no alias: the provider might refuse all names for it. Repeat the flag for more names. "+
			"The value must be the same on every replica.")
	flags.DurationVar(&o.ttl, "names-ttl", 30*time.Second,
		"How long resolvers may use an answer for the name of a Workload. From 1s to 50m. The value must be the same on every replica.")
	flags.DurationVar(&o.returnAfter, "names-return-after", 30*time.Second,
		"How long a city must have served before a name has its addresses again, unless no other city has served for longer. 0: it returns "+
			"at once.")
	flags.IntVar(&o.silentShare, "names-silent-share", 33,
		"How many percent of the cities of a name may leave it because the hub does not hear from their cells. One city may always leave, "+
			"unless the value is 0. Further silent cities keep their addresses in the name. From 0 to 100. The value must be the same on "+
			"every replica.")
	flags.IntVar(&o.panicThreshold, "names-panic-threshold", 50,
		"How many percent of its cities a name keeps at least, however many the hub does not hear or reach. Cities whose cells report that "+
			"they do not serve leave it anyway. From 1 to 99. The value must be the same on every replica.")
	flags.DurationVar(&o.probeInterval, "names-probe-interval", 5*time.Second,
		"How often this replica asks each address in a DNS name whether it answers. From 1s to 1m. 0: no address is asked. Nothing is "+
			"concluded where the replica cannot reach addresses, or where a proxy answers for each of them.")
	flags.StringVar(&o.resolver, "names-resolver", "",
		"DNS server that this replica asks for the record of each name once a minute, as HOST:PORT: best one of the zone itself, such as "+
			"10.0.0.53:53. If its answer has none of the addresses of the DNSEndpoint for minutes, the name has reason RecordMissing. A server "+
			"that does not answer changes nothing. Empty: no server is asked.")
	flags.StringArrayVar(&o.properties, "names-property", nil,
		"Setting of the provider of DNS for the addresses of a city, as CITY:NAME=VALUE, such as *:aws/weight=100. City * is every "+
			"city that no other setting names. With any setting, each city has records of its own with its code as set identifier. "+
			"Repeat the flag for more settings.")
}

// settings reads the flags, and returns all mistakes at once.
func (o *nameOptions) settings() (names.Settings, error) {
	rules, err := naming.ParseHostnames(o.pattern, o.domains)
	if err != nil {
		err = fmt.Errorf("--names-pattern and --names-domain: %w", err)
	}
	mistakes := []error{
		err, component.AtLeast("names-ttl", o.ttl, time.Second), component.AtLeast("names-return-after", o.returnAfter, 0), o.checkProbe(),
		o.checkApexes(), o.checkResolver(),
	}
	if o.ttl > maxTTL {
		mistakes = append(mistakes, fmt.Errorf("--names-ttl: %s is more than %s", o.ttl, maxTTL))
	}
	if o.silentShare < 0 || o.silentShare > 100 {
		mistakes = append(mistakes, fmt.Errorf("--names-silent-share: %d is not from 0 to 100", o.silentShare))
	}
	if o.panicThreshold < 1 || o.panicThreshold > 99 {
		mistakes = append(mistakes, fmt.Errorf("--names-panic-threshold: %d is not from 1 to 99: with 0 a name could lose all of its cities to "+
			"silence, and with 100 no city could ever leave it", o.panicThreshold))
	}
	result := names.Settings{
		Rules: rules, TTL: o.ttl, ReturnAfter: o.returnAfter, SilentShare: o.silentShare, PanicThreshold: o.panicThreshold,
		Apexes: o.apexes,
	}

	for _, text := range o.properties {
		city, setting, hasCity := strings.Cut(text, ":")
		name, value, hasValue := strings.Cut(setting, "=")
		if !hasCity || !hasValue || city != names.OtherCities && !naming.IsCity(city) || name == "" || len(name) > 253 || len(value) > 4096 {
			mistakes = append(mistakes, fmt.Errorf("--names-property: %q is no CITY:NAME=VALUE, such as *:aws/weight=100", text))
			continue
		}
		result.SetProperty(city, name, value)
	}
	return result, errors.Join(mistakes...)
}

func (o *nameOptions) checkApexes() error {
	for _, name := range o.apexes {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return fmt.Errorf("--names-apex: %q is no DNS name in lower case, such as shop.example.com", name)
		}
	}
	return nil
}

func (o *nameOptions) checkResolver() error {
	host, port, err := net.SplitHostPort(o.resolver)
	number, portErr := strconv.ParseUint(port, 10, 16)
	isHost := net.ParseIP(host) != nil || len(validation.IsDNS1123Subdomain(host)) == 0
	if o.resolver == "" || err == nil && portErr == nil && number > 0 && isHost {
		return nil
	}
	return fmt.Errorf("--names-resolver: %q is no HOST:PORT, such as 10.0.0.53:53 or [2001:db8::53]:53", o.resolver)
}

func (o *nameOptions) checkProbe() error {
	if o.probeInterval != 0 && (o.probeInterval < time.Second || o.probeInterval > maxProbeInterval) {
		return fmt.Errorf("--names-probe-interval: %s is neither 0 nor from 1s to %s", o.probeInterval, maxProbeInterval)
	}
	return nil
}
