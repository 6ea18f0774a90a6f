// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import "github.com/karmada-compute/karmada-compute/api/v1alpha"

// serviceRemedies are the remedies of the reasons of Services and names.
var serviceRemedies = []Remedy{
	{v1alpha.ReasonServiceProgrammed, RankWell, Forever, nobody(""), none, service},
	{
		v1alpha.ReasonServicePending, RankStep, minutes, nobody("The cells create the Service."),
		operator("Check the cells of the deployments that the message names: they are not reachable, or their agents are old or down."),
		service,
	},
	{
		v1alpha.ReasonServiceNameTaken, RankCause, atOnce,
		operator("Delete the Service that the message names in the cell, or rename it. Or the consumer creates the Workload under another " +
			"name. The agent creates its Service within a minute."),
		none, service,
	},
	{
		v1alpha.ReasonServiceRefused, RankCause, atOnce,
		operator("Correct what the API server of the cell names in the message, such as a ResourceQuota for Services or an admission " +
			"policy. The agent tries again every 30 seconds."),
		none, service,
	},
	{
		v1alpha.ReasonLoadBalancerNotConfigured, RankCause, atOnce,
		operator("Configure the load balancer of the cell that the message names: annotation compute.datumapis.com/load-balancer of the " +
			"namespace of its Works on the hub. Or the consumer sets spec.service.exposure to Cluster."),
		none, service,
	},
	{
		v1alpha.ReasonAwaitingAddress, RankStep, start, nobody("The load balancer or the Gateway of the cell gives the Service an address."),
		operator("Check the load balancer of the cell: its controller does not run, has no free address, or does not serve the class " +
			"of the Service. The Events of the Service in the cell have its answer. At a Gateway, read the status of the Gateway and of the " +
			"HTTPRoute."),
		service,
	},
	{
		v1alpha.ReasonGatewayNotConfigured, RankCause, atOnce,
		operator("Name a Gateway of the cell as gateway in annotation compute.datumapis.com/load-balancer of the namespace of the cell's Works " +
			"on the hub."),
		none, service,
	},
	{
		v1alpha.ReasonGatewayNotServed, RankCause, atOnce,
		operator("Install the Gateway API in the cell, with HTTPRoute in version v1, and a controller for it. The agent tries again " +
			"within half a minute."),
		none, service,
	},
	{
		v1alpha.ReasonGatewayNotFound, RankCause, atOnce,
		operator("Create the Gateway or the listener that the message names in the cell, or correct gateway in annotation " +
			"compute.datumapis.com/load-balancer of the namespace of the cell's Works on the hub."),
		none, service,
	},
	{
		v1alpha.ReasonRouteNotAccepted, RankCause, atOnce,
		operator("Read the condition of the route in the message. Let a listener of the Gateway allow routes from the namespaces of projects, " +
			"with a hostname that includes the names of the Workload."),
		none, service,
	},
	{
		v1alpha.ReasonRouteWithoutNames, RankCause, atOnce,
		operator("Put {project} into names.pattern of the chart, or allow the project a domain that no other project has. The consumer can ask " +
			"for a name in such a domain in spec.service.hostnames."),
		none, service,
	},
	{
		v1alpha.ReasonAddressRefused, RankCause, atOnce,
		operator("Add the range or domain of the address to annotation compute.datumapis.com/load-balancer of the namespace of the cell's " +
			"Works on the hub, if the address belongs to the load balancer of the cell. If it does not, examine the cell."),
		none, service,
	},

	{v1alpha.ReasonNamesProgrammed, RankWell, Forever, nobody(""), none, dnsNames},
	{
		v1alpha.ReasonNamesPending, RankStep, start, nobody("The names get addresses when a city serves."),
		consumer("Read status.endpoints: each city has the reason why it does not serve."),
		dnsNames,
	},
	{
		v1alpha.ReasonNamesNotServed, RankCause, atOnce,
		operator("Apply external-dns' CRD dnsendpoints.externaldns.k8s.io on the hub and run external-dns, or write the names from " +
			"status.endpoints of the Workloads. Or remove the names from the values of the chart."),
		none, dnsNames,
	},
	{
		v1alpha.ReasonNamesNotWritten, RankCause, atOnce,
		operator("Read the answer of the hub in the message: an admission policy, the schema of the CRD or a quota refuses the DNSEndpoint, " +
			"or the hub does not answer. The add-on tries again. Until then the name has its last addresses."),
		none, dnsNames,
	},
	{
		v1alpha.ReasonNameTaken, RankCause, atOnce,
		consumer("Use another name in spec.service.hostnames, or delete the Workload that has the name. The add-on tries again every 30 " +
			"seconds. If the message names no Workload of yours, ask the operator."),
		none, dnsNames,
	},
	{
		v1alpha.ReasonNameNotAllowed, RankCause, atOnce,
		consumer("Remove the name from spec.service.hostnames, or ask the operator to allow its domain for the project."),
		none, dnsNames,
	},
	{
		v1alpha.ReasonNoCityServes, RankSummary, atOnce,
		consumer("Read status.endpoints: each city has the reason why it does not serve. The names follow when a city serves again."),
		none, dnsNames,
	},
	{
		v1alpha.ReasonCityLeftOut, RankCause, atOnce,
		operator("Let the load balancers of all cities give IP addresses. Or, if all of them give host names, set properties of cities in " +
			"the values of the chart, so that each city has a record of its own."),
		none, dnsNames,
	},
	{
		v1alpha.ReasonRecordMissing, RankCause, atOnce,
		operator("Start external-dns, and read its log: it must watch the DNSEndpoints of the add-on's namespace, and may update their " +
			"status. If it has read them, the provider refuses the record, or the name has a record of another owner."),
		none, dnsNames,
	},
	{
		v1alpha.ReasonAddressUnreachable, RankCause, atOnce,
		operator("Examine the load balancer or the Gateway of the city, and the path from the hub to it. The city returns when its addresses " +
			"answer. If the replicas cannot reach addresses, set --names-probe-interval=0 in host.extraArgs."),
		none, dnsNames,
	},
}
