// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Target is an address with the question to it. Workloads with equal targets share one question.
type Target struct {
	// City is the city of the address. When one address of a city fails, its others are asked at once.
	City string
	// Address is an IP address or a host name of a load balancer, which the hub has admitted.
	Address string
	// Ports are asked together: one that answers is enough. The second may be 0.
	Ports [2]int32
	// Path is the path of a GET request, by HTTPS with Secure; "": a connection is enough. Host is the DNS name in the request.
	Path, Host string
	Secure     bool
	// Values are for a question of another kind: whether the zone has a record of the DNS name Host with one of them.
	Values string
}

// RecordOf returns the question whether the zone has a record of a DNS name with one of the addresses, and none without addresses.
func RecordOf(name string, addresses []string) []Target {
	if len(addresses) == 0 {
		return nil
	}
	return []Target{{Host: name, Values: strings.Join(slices.Compact(slices.Sorted(slices.Values(addresses))), ",")}}
}

// ofZone reports whether the question is about a record.
func (t *Target) ofZone() bool { return t.Values != "" }

const httpPort, httpsPort = 80, 443

// TargetsOf returns the addresses of a city of an exposed Workload, for a DNS name. It returns none if no port can be asked.
func TargetsOf(service *v1alpha.WorkloadService, endpoint *v1alpha.CityEndpoint, name string) (targets []Target) {
	target := Target{City: endpoint.City}
	isWanted := func(port v1alpha.ServicePort) bool {
		return (service.Probe == nil || service.Probe.Port == nil || *service.Probe.Port == port.Port) &&
			ptr.Deref(port.Protocol, corev1.ProtocolTCP) == corev1.ProtocolTCP
	}
	if service.Routed() {
		target.Ports = [2]int32{httpsPort, httpPort}
		if len(endpoint.Ports) > 0 {
			target.Ports[0] = endpoint.Ports[0].Port
		}
		target.Secure = target.Ports[0] != httpPort
	} else if i := slices.IndexFunc(service.Ports, isWanted); i >= 0 {
		target.Ports[0] = service.Ports[i].Port
		target.Secure = target.Ports[0] == httpsPort || ptr.Deref(service.Ports[i].AppProtocol, "") == "https"
	}
	if service.Probe != nil || !target.Secure {
		// A port 80 that redirects would answer each request, whatever the Workload does.
		target.Ports[1] = 0
	}
	if service.Probe == nil {
		target.Secure = false
	} else {
		target.Path, target.Host = service.Probe.Path, name
	}
	for _, address := range endpoint.Addresses[:min(len(endpoint.Addresses), naming.MaxAddresses)] {
		if target.Address = address.Value; target.Ports[0] > 0 {
			targets = append(targets, target)
		}
	}
	return targets
}
