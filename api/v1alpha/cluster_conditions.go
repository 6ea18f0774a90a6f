// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

// Reasons of ComputeAgentReady on a Cluster, beside ReasonAgentNotReady.
const (
	// ReasonAgentReady says that the agent is available and current.
	ReasonAgentReady = "AgentReady"
	// ReasonAgentMissing says that Karmada has not brought the agent to the cell.
	ReasonAgentMissing = "AgentMissing"
	// ReasonAgentAPIMissing says that the cell does not serve the API of the agent: the cell was rebuilt under its name, or
	// its CRDs were deleted. The last report of the agent is about the cell before.
	ReasonAgentAPIMissing = "AgentAPIMissing"
	// ReasonAgentOutdated says that the agent runs another template than the hub has, or is being updated.
	ReasonAgentOutdated = "AgentOutdated"
)

// Reasons of ComputeNodesSchedulable on a Cluster.
const (
	// ReasonNodesSchedulable says that the cell has no Node, or a Node that is not cordoned.
	ReasonNodesSchedulable = "NodesSchedulable"
	// ReasonNodesCordoned says that all Nodes of the cell are cordoned.
	ReasonNodesCordoned = "NodesCordoned"
)

// Reasons of ComputeCityConfirmed on a Cluster.
const (
	// ReasonCityInvalid says that the label of the Cluster has a value that no Workload can name as a city.
	ReasonCityInvalid = "CityInvalid"
	// ReasonCityUnconfirmed says that the namespace of the cell's Works on the hub does not have the label of the
	// Cluster's city.
	ReasonCityUnconfirmed = "CityUnconfirmed"
	// ReasonForeignSecret says that the Cluster names a Secret that is not its own. Karmada sends the token in the Secret to
	// the endpoint of the Cluster.
	ReasonForeignSecret = "ForeignSecret"
)

// Reasons of ComputeAccessRestricted on a Cluster.
const (
	// ReasonAgentMayCreateClusters says that the agent of the cell still has the right to create Clusters, which it needs for
	// its registration only.
	ReasonAgentMayCreateClusters = "AgentMayCreateClusters"
	// ReasonStrangersInNamespace says that RoleBindings give others rights in the namespace of the cell's Works.
	ReasonStrangersInNamespace = "StrangersInNamespace"
)

// Reasons of ComputeForgotten on a Cluster.
const (
	// ReasonForgotten says that the hub holds no objects for the cell.
	ReasonForgotten = "Forgotten"
	// ReasonDropping says that Works for the cell still exist.
	ReasonDropping = "DroppingWorks"
	// ReasonDraining says that the cell is Ready and Karmada is deleting its deployments.
	ReasonDraining = "Draining"
)

// Conditions of a Karmada Cluster that the add-on writes.
const (
	// ConditionComputeAgentReady is True while the agent of the add-on in the cell is available and current.
	ConditionComputeAgentReady = "ComputeAgentReady"
	// ConditionComputeNodesSchedulable is False while all Nodes of the cell are cordoned. New deployments then go to the
	// other cells of the city that have capacity.
	ConditionComputeNodesSchedulable = "ComputeNodesSchedulable"
	// ConditionComputeCityConfirmed is False while the Cluster has the label of an unconfirmed city: it is no cell of the
	// city.
	ConditionComputeCityConfirmed = "ComputeCityConfirmed"
	// ConditionComputeAccessRestricted is False while the agent of the cell, or others, have more rights on the hub than they
	// need. Workloads are not affected.
	ConditionComputeAccessRestricted = "ComputeAccessRestricted"
	// ConditionComputeForgotten, on a Cluster that an operator has forgotten, is True when nothing is kept for the cell
	// any more.
	ConditionComputeForgotten = "ComputeForgotten"
)
