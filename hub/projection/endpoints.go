// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// cellEndpoint holds the addresses of a deployment in one cell.
type cellEndpoint struct {
	addresses []v1alpha.EndpointAddress
	// refused are the reported addresses that the hub refuses, with the reasons.
	refused []string
	// reason and message are why the cell does not serve; "": it serves.
	reason, message string
}

// addEndpoints adds the endpoint of the city. A cell serves if it has an address and an Available Instance by its last report,
// until Karmada loses the cell: that no newer report arrives proves nothing. How many Instances are Available does not
// count: an Instance that is not changes nothing while another one is.
func (s *facts) addEndpoints(status *v1alpha.WorkloadDeploymentStatus) {
	service := s.deployment.Spec.Service
	if !service.Exposed() {
		return
	}
	endpoint := v1alpha.CityEndpoint{City: s.deployment.Spec.CityCode, Ports: portsOf(service)}
	if service.Routed() {
		endpoint.Ports = s.gatewayPorts()
	}
	var serving, known []v1alpha.EndpointAddress
	var refused []string
	for i := range s.copied.Status.Indices {
		entry := s.cellEndpoint(&s.copied.Status.Indices[i])
		// The next reconcile may have no report of the cell.
		status.Indices[i].Addresses = textOf(entry.addresses)
		refused = append(refused, entry.refused...)
		known = append(known, entry.addresses...)
		switch {
		case entry.reason == "":
			serving = append(serving, entry.addresses...)
		case endpoint.Reason == "" || endpoint.Reason == v1alpha.ReasonAwaitingAddress || s.mayServe(&entry, &s.copied.Status.Indices[i]):
			endpoint.Reason, endpoint.Message = entry.reason, entry.message
		}
	}
	switch {
	case len(serving) > 0:
		endpoint.Serving, endpoint.Reason, endpoint.Message, known = true, "", "", serving
	case endpoint.Reason == "" && s.staysOffered():
		shown := s.shown()
		endpoint.Serving, endpoint.Ports, known = true, shown.Ports, shown.Addresses
	case endpoint.Reason == "":
		endpoint.Reason, endpoint.Message = s.withoutReport()
	}
	endpoint.Addresses = cities.DistinctAddresses(known...)
	endpoint.UnroutedHostnames = s.unrouted()
	endpoint.Message = reasons.Shorten(endpoint.Message, v1alpha.MaxMessage)
	s.addRefused(status, refused)
	endpoint.Since = s.servingSince(&endpoint)
	status.Endpoints = []v1alpha.CityEndpoint{endpoint}
}

// unrouted are the names of the Workload that the Gateway of a cell has no listener for.
func (s *facts) unrouted() string {
	var result []string
	for _, name := range s.deployment.Spec.Service.Hostnames {
		if slices.ContainsFunc(s.copied.Status.Indices, func(c v1alpha.CellIndices) bool {
			return slices.Contains(strings.Split(c.UnroutedHostnames, ","), name)
		}) {
			result = append(result, name)
		}
	}
	return strings.Join(result, ",")
}

// addRefused reports the refused addresses in the condition of the Service, with an actor and a remedy.
func (s *facts) addRefused(status *v1alpha.WorkloadDeploymentStatus, refused []string) {
	if len(refused) == 0 {
		return
	}
	s.set(status, metav1.Condition{
		Type: v1alpha.ConditionServiceProgrammed, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonAddressRefused,
		Message: reasons.Shorten(strings.Join(refused, "; "), v1alpha.MaxMessage),
	}, s.now)
}

// withoutReport is why a city without the report of a cell does not serve.
func (s *facts) withoutReport() (reason, message string) {
	if len(s.findings) > 0 {
		return s.findings[0].Fault.Reason(), described(&s.findings[0])
	}
	return v1alpha.ReasonAwaitingAddress, fmt.Sprintf("no cell of %s has reported an address", s.deployment.Spec.CityCode)
}

// cellEndpoint judges the report of one cell.
func (s *facts) cellEndpoint(facts *v1alpha.CellIndices) cellEndpoint {
	cell, exists := s.row.Cells.Find(facts.Cell)
	if !exists || cell.Gone || cell.City != naming.CityLabel(s.deployment.Spec.CityCode) {
		return cellEndpoint{
			reason: v1alpha.ReasonNoMatchingLocation, message: fmt.Sprintf("cell %s is no cell of the city any more", facts.Cell),
		}
	}
	result := cellEndpoint{}
	result.addresses, result.refused = s.row.Cells.Admit(cell, facts.Addresses, s.shown().Addresses...)
	result.reason, result.message = s.notServing(&cell, facts, &result)
	return result
}

// notServing is why a cell does not serve; "": it serves.
func (s *facts) notServing(cell *cells.Cell, facts *v1alpha.CellIndices, endpoint *cellEndpoint) (reason, message string) {
	if reason, message := s.isLeaving(); reason != "" {
		return reason, message
	}
	offered := s.isOffered(endpoint.addresses)
	switch {
	case s.isLost(cell, offered):
		return v1alpha.ReasonCellNotReady, fmt.Sprintf("Karmada does not reach cell %s", cell.Name)
	case cell.Cordoned:
		return v1alpha.ReasonNodesCordoned, fmt.Sprintf("all nodes of cell %s are cordoned", cell.Name)
	case s.row.Leaves(cell.Name):
		return v1alpha.EndpointLeaving, fmt.Sprintf("Karmada moves the Instances of cell %s to other cells", cell.Name)
	case len(endpoint.addresses) == 0 && len(endpoint.refused) > 0:
		return v1alpha.ReasonAddressRefused, strings.Join(endpoint.refused, "; ")
	case len(endpoint.addresses) == 0:
		return v1alpha.ReasonAwaitingAddress, fmt.Sprintf("cell %s has reported no address", cell.Name)
	case offered && s.recalled[cell.Name]:
		return "", ""
	case !offered && s.isStale(cell):
		return v1alpha.ReasonReportOutdated, fmt.Sprintf("Karmada reaches cell %s again since %s, and its last report is from before",
			cell.Name, cell.Since.UTC().Format(time.RFC3339))
	case !s.anyAvailable(cell.Name, facts):
		return v1alpha.ReasonReplicasNotReady, fmt.Sprintf("no Instance in cell %s is Available", cell.Name)
	}
	return "", ""
}

// isLost reports whether the city cannot be offered at a cell that Karmada does not reach. A city that is offered stays until the cell
// could have answered, and Karmada's controllers have judged for long enough.
func (s *facts) isLost(cell *cells.Cell, offered bool) bool {
	remaining, lost := s.row.Cells.UntilLost(cell, s.now, 0)
	if !lost || !offered {
		return lost
	}
	if remaining = max(remaining, s.row.Karmada.MayReachFor); remaining > 0 {
		s.requeueAfter.AtMost(remaining)
	}
	return remaining == 0
}

// anyAvailable reports whether an Instance of the cell is Available. An Instance that is not assigned to the cell, nor to
// be released by it, is an invention of the cell.
func (s *facts) anyAvailable(cell string, facts *v1alpha.CellIndices) bool {
	assignment := s.copied.Spec.Assignment
	for _, index := range naming.Parse(facts.AvailableIndices) {
		if assignment == nil || assignment.Owner(index) == cell || assignment.Releaser(index) == cell {
			return true
		}
	}
	return false
}

// textOf is the form in which a cell reports addresses.
func textOf(addresses []v1alpha.EndpointAddress) string {
	values := make([]string, 0, len(addresses))
	for i := range addresses {
		values = append(values, addresses[i].Value)
	}
	return strings.Join(values, ",")
}

// mayServe reports whether a cell that the hub does not hear from would serve by its last report: only silence speaks against it.
func (s *facts) mayServe(entry *cellEndpoint, report *v1alpha.CellIndices) bool {
	isSilent := entry.reason == v1alpha.ReasonCellNotReady || entry.reason == v1alpha.ReasonReportOutdated
	return isSilent && len(entry.addresses) > 0 && s.anyAvailable(report.Cell, report)
}

// isLeaving is why the city ceases to serve, whatever its cells report; "": it does not.
func (s *facts) isLeaving() (reason, message string) {
	switch {
	case s.deployment.Annotations[v1alpha.AnnotationTrafficLeaves] != "":
		return v1alpha.EndpointLeaving, "the city is about to lose its Instances or its addresses: it was " +
			"removed or scaled to no Instances, its exposure changes, or its only Instance is replaced; it serves for drainSeconds more"
	case s.copied.Spec.Suspended:
		return v1alpha.ReasonProjectSuspended, "the project is suspended"
	}
	return "", ""
}

// shown is the endpoint of the city that the project shows; empty without one.
func (s *facts) shown() v1alpha.CityEndpoint {
	for i := range s.deployment.Status.Endpoints {
		if shown := &s.deployment.Status.Endpoints[i]; shown.City == s.deployment.Spec.CityCode {
			return *shown
		}
	}
	return v1alpha.CityEndpoint{}
}

// isOffered reports whether the city is offered with one of these addresses.
func (s *facts) isOffered(addresses []v1alpha.EndpointAddress) bool {
	shown := s.shown()
	return shown.Serving && slices.ContainsFunc(addresses, func(a v1alpha.EndpointAddress) bool { return slices.Contains(shown.Addresses, a) })
}

// isStale reports whether the report of a cell is from before its last outage.
func (s *facts) isStale(cell *cells.Cell) bool {
	remaining := s.row.Known(cell.Name).Stale(cell.Since, s.now)
	if remaining > 0 {
		s.requeueAfter.AtMost(remaining)
	}
	return remaining > 0
}

// staysOffered reports whether a city that no cell reports on stays offered: the hub has lost the copy, or has another one,
// and a cell of the city may run its Instances.
func (s *facts) staysOffered() bool {
	reason, _ := s.isLeaving()
	if !s.shown().Serving || reason != "" || s.nowhere || s.dropped || s.onHub != nil && !s.onHub.DeletionTimestamp.IsZero() {
		return false
	}
	return slices.ContainsFunc(s.row.Cells.Of(s.deployment.Spec.CityCode), func(cell cells.Cell) bool { return !s.isLost(&cell, true) })
}

// servingSince is when the city began to serve, or ceased to.
func (s *facts) servingSince(endpoint *v1alpha.CityEndpoint) metav1.Time {
	if before := s.shown(); before.Serving == endpoint.Serving && !before.Since.IsZero() {
		return before.Since
	}
	return metav1.NewTime(s.now.Truncate(time.Second))
}

func portsOf(service *v1alpha.WorkloadService) []v1alpha.EndpointPort {
	var ports []v1alpha.EndpointPort
	complete := templates.CompleteService(service)
	for i := range complete.Ports {
		ports = append(ports, v1alpha.EndpointPort{
			Name: complete.Ports[i].Name, Port: complete.Ports[i].Port, Protocol: *complete.Ports[i].Protocol,
		})
	}
	return ports
}

// gatewayPorts are the ports of the Gateways of the cells that report, by the operator's settings.
func (s *facts) gatewayPorts() []v1alpha.EndpointPort {
	var ports []v1alpha.EndpointPort
	for i := range s.copied.Status.Indices {
		cell, exists := s.row.Cells.Find(s.copied.Status.Indices[i].Cell)
		balancer, err := cells.ReadLoadBalancer(cell.Balancer)
		if exists && err != nil && len(s.deployment.Status.Endpoints) == 1 {
			// Settings that cannot be read change nothing.
			return s.deployment.Status.Endpoints[0].Ports
		}
		if !exists || err != nil || balancer == nil || balancer.Gateway == nil {
			continue
		}
		if port := (v1alpha.EndpointPort{Port: balancer.GatewayPort, Protocol: corev1.ProtocolTCP}); !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	slices.SortFunc(ports, func(a, b v1alpha.EndpointPort) int { return int(a.Port - b.Port) })
	return ports
}
