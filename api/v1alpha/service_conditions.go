// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

// Reasons of ServiceProgrammed.
const (
	// ReasonServiceProgrammed says that the cells have the Service.
	ReasonServiceProgrammed = "ServiceProgrammed"
	// ReasonServicePending says that a cell has not reported on the Service yet. It is a reason of
	// ServiceProgrammed=Unknown on a Workload.
	ReasonServicePending = "ServicePending"
	// ReasonServiceNameTaken says that the namespace in a cell has a Service with the name of the Workload that the add-on
	// did not create. The add-on leaves it unchanged.
	ReasonServiceNameTaken = "ServiceNameTaken"
	// ReasonServiceRefused says that a cell refuses the Service. The message has the answer of its API server.
	ReasonServiceRefused = "ServiceRefused"
	// ReasonLoadBalancerNotConfigured says that the operator has not configured the load balancer of a cell, so that a
	// Service with exposure LoadBalancer is reached from the cell only.
	ReasonLoadBalancerNotConfigured = "LoadBalancerNotConfigured"
	// ReasonAwaitingAddress says that the load balancer of a cell has not given the Service an address, or its Gateway is not
	// programmed, has no address, or has not answered about the HTTPRoute.
	ReasonAwaitingAddress = "AwaitingAddress"
	// ReasonGatewayNotConfigured says that the operator has not named the Gateway of a cell, so that a Service with exposure
	// Gateway is reached from the cell only.
	ReasonGatewayNotConfigured = "GatewayNotConfigured"
	// ReasonGatewayNotServed says that a cell does not serve HTTPRoute or Gateway of the Gateway API.
	ReasonGatewayNotServed = "GatewayNotServed"
	// ReasonGatewayNotFound says that a cell lacks the Gateway that the operator has named for it, or one of its listeners. Without
	// the listener, the Workload keeps its addresses.
	ReasonGatewayNotFound = "GatewayNotFound"
	// ReasonRouteNotAccepted says that the Gateway of a cell has not accepted the HTTPRoute of the Workload, or does not find
	// its Service. The message has the condition of the route.
	ReasonRouteNotAccepted = "RouteNotAccepted"
	// ReasonRouteWithoutNames says that a Workload with exposure Gateway has no name that belongs to its project alone, so
	// that it has no route.
	ReasonRouteWithoutNames = "RouteWithoutNames"
	// ReasonAddressRefused says that the hub refuses an address that a cell has reported for the Service: it is outside of
	// the ranges of the cell, or no address that clients can reach. The message has each address, and why it is refused.
	ReasonAddressRefused = "AddressRefused"
)

// Reasons of NamesProgrammed.
const (
	// ReasonNamesProgrammed says that the DNSEndpoints of the names have the addresses of the cities that serve. The
	// message has the cities, and why some of them are in doubt: they keep their addresses.
	ReasonNamesProgrammed = "NamesProgrammed"
	// ReasonNamesPending says that no city of the Workload has served yet, so that its names have no address.
	ReasonNamesPending = "NamesPending"
	// ReasonNamesNotServed says that the hub has no kind DNSEndpoint of external-dns, so that the add-on writes no name.
	// status.endpoints has the addresses of the cities that serve.
	ReasonNamesNotServed = "NamesNotServed"
	// ReasonNamesNotWritten says that the hub has refused to store or delete the DNSEndpoint of a name. The message has its
	// answer. Instances of a city that leaves the names wait for at most two minutes more.
	ReasonNamesNotWritten = "NamesNotWritten"
	// ReasonNameTaken says that another Workload, or an object that the add-on did not create, has a name of the Workload.
	// The other names of the Workload are not affected.
	ReasonNameTaken = "NameTaken"
	// ReasonNameNotAllowed says that the Workload may not have a name: it is in no domain that the operator allows for the
	// project, or the pattern gives no valid name. The other names of the Workload are not affected.
	ReasonNameNotAllowed = "NameNotAllowed"
	// ReasonNoCityServes says that no city of the Workload serves. Its names keep the addresses of the cities that served
	// last.
	ReasonNoCityServes = "NoCityServes"
	// ReasonCityLeftOut says that a name lacks the addresses of a city that serves: a load balancer of the city has a host
	// name as address, which no name can have beside IP addresses or other host names, and no name at the apex of a zone at all.
	ReasonCityLeftOut = "CityLeftOut"
	// ReasonAddressUnreachable says that a name lacks the addresses of a city whose cells report that it serves: the addresses
	// do not answer the hub any more. The message has the city.
	ReasonAddressUnreachable = "AddressUnreachable"
	// ReasonRecordMissing says that external-dns has not read the DNSEndpoint of a name for minutes, so that the DNS records may lack
	// cities, or have some that do not serve; or the operator's resolver has answered for the name without any of its addresses for
	// minutes. The message has the time.
	ReasonRecordMissing = "RecordMissing"
)
