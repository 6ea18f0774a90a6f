// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import "encoding/json"

// Labels of the add-on's objects.
const (
	// LabelInstanceIndex is the index of an Instance in its deployment.
	LabelInstanceIndex = "compute.datumapis.com/instance-index"
	// LabelWorkloadUID is the UID of the Workload in its project.
	LabelWorkloadUID = "compute.datumapis.com/workload-uid"
	// LabelWorkloadName is the name of the Workload.
	LabelWorkloadName = "compute.datumapis.com/workload-name"
	// LabelDeploymentUID is the UID of the WorkloadDeployment in its project.
	LabelDeploymentUID = "compute.datumapis.com/workload-deployment-uid"
	// LabelDeploymentName is the name of the WorkloadDeployment.
	LabelDeploymentName = "compute.datumapis.com/workload-deployment-name"
	// LabelCityCode is the city that an Instance runs in.
	LabelCityCode = "compute.datumapis.com/city-code"
	// LabelPlacementName is the placement of the Workload.
	LabelPlacementName = "compute.datumapis.com/placement-name"
	// LabelProjectUID is the UID of the Milo Project. A project that is recreated with the same name has another one.
	LabelProjectUID = "compute.datumapis.com/project-uid"
	// LabelProjectNamespaceUID, on a hub namespace, is the UID of the namespace in the project. With LabelProjectUID it
	// proves the name of the hub namespace.
	LabelProjectNamespaceUID = "compute.datumapis.com/project-namespace-uid"
	// LabelTemplateHash, on a Pod, is the hash of the template that its Instance was created from.
	LabelTemplateHash = "compute.datumapis.com/template-hash"
	// LabelNetwork, on a Pod, is the network of its Instance, as NetworkLabel writes it. Network policies select Pods by
	// it.
	LabelNetwork = "compute.datumapis.com/network"
	// LabelProtected, with the value ProtectedTrue, is on the Pod of an Instance that has been Available and whose
	// deployment has a floor. The PodDisruptionBudget of the deployment counts Pods with the label only, and a policy
	// refuses their deletion.
	LabelProtected = "compute.datumapis.com/protected"
	// LabelManagedBy names the creator of an object that only the creator may write.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelHubNamespace is the hub namespace of an object that is not in it, such as a Work.
	LabelHubNamespace = "compute.datumapis.com/hub-namespace"

	// LabelHub, on a copy, on the Work of a hub namespace, and on the objects that are created from them in a cell, is the
	// UID of the hub: the UID of the namespace kube-system there. A cell that belongs to two hubs reports to each hub the
	// objects of that hub.
	LabelHub = "compute.datumapis.com/hub-uid"

	// LabelInventory is on the Works of the inventory: InventoryCell on a Work that carries a Cell, InventoryRemoval on a
	// Work that is created and deleted at once, so that Karmada removes an unwanted object from the cell.
	LabelInventory = "compute.datumapis.com/inventory"

	// LabelTopologyCity is the city of a Karmada Cluster and of a hub WorkloadDeployment, in lower case, and confirms the
	// city of a Cluster on the namespace of its Works. PropagationPolicies select by it.
	LabelTopologyCity = "topology.datum.net/city-code"

	// LabelDependencies, with the value DependenciesNone, is on a hub WorkloadDeployment that has never had dependencies:
	// its policy does not look them up.
	LabelDependencies = "compute.datumapis.com/dependencies"

	// LabelProjectMark, with the value ProjectMarkPresent, is on the ConfigMap on the hub that marks a project with
	// Workloads, or one that is about to get its first.
	LabelProjectMark = "compute.datumapis.com/project-mark"

	// LabelNamespaceProject, on a namespace of the hub, turns the namespace into a project if projects are namespaces. Its
	// values are NamespaceProject and NamespaceSuspended.
	LabelNamespaceProject = "compute.datumapis.com/project"

	// LabelProject is the project of a hub object, as "cluster-<project>" with "_" for "/".
	LabelProject = "meta.datumapis.com/upstream-cluster-name"
	// LabelProjectNamespace is the namespace, in its project, of the original of a hub object.
	LabelProjectNamespace = "meta.datumapis.com/upstream-namespace"
)

// ProtectedTrue is the value of LabelProtected.
const ProtectedTrue = "true"

// Values of LabelNamespaceProject. A namespace with any other value is no project.
const (
	NamespaceProject   = "true"
	NamespaceSuspended = "suspended"
)

// DependenciesNone is the value of LabelDependencies.
const DependenciesNone = "none"

// ManagedByCell is the value of LabelManagedBy on objects that the agent of a cell creates.
const ManagedByCell = "karmada-compute-cell"

// ProjectMarkPresent is the value of LabelProjectMark.
const ProjectMarkPresent = "present"

// Values of LabelInventory.
const (
	InventoryCell    = "cell"
	InventoryRemoval = "removal"
)

// Annotations of the add-on's objects.
const (
	// AnnotationHubNamespace, on a project WorkloadDeployment, is a note of its hub namespace. Consumers may write it:
	// the labels of that namespace decide whether it is true.
	AnnotationHubNamespace = "compute.datumapis.com/federation-namespace"
	// AnnotationProjectGeneration, on a hub WorkloadDeployment, is the generation of the project WorkloadDeployment that
	// its spec was copied from.
	AnnotationProjectGeneration = "compute.datumapis.com/project-generation"
	// AnnotationLoadBalancer, on the namespace of a Cluster's Works, has the settings of the load balancer of the cell, in
	// JSON: class and annotations of Services, and the addresses that the cell may report. Operators write it.
	AnnotationLoadBalancer = "compute.datumapis.com/load-balancer"
	// AnnotationNodesOnDemand, on the namespace of a Cluster's Works, says that the nodes of the cell come on demand. Its value is
	// the most Instances that may wait there for a node. Operators write it.
	AnnotationNodesOnDemand = "compute.datumapis.com/nodes-on-demand"
	// AnnotationHoldCity, on the namespace of a Cluster's Works, with the value "true", holds failovers of the city of the cell: no
	// placement leaves the city or comes to it by itself. Operators write it.
	AnnotationHoldCity = "compute.datumapis.com/hold-city"
	// AnnotationTrafficLeaves, on a project WorkloadDeployment that is about to lose its Instances or its addresses, is since
	// when its city is no longer offered to clients.
	AnnotationTrafficLeaves = "compute.datumapis.com/traffic-leaves-since"
	// AnnotationNamesLeft, on such a WorkloadDeployment, is when the hub has seen that no DNS name has its addresses.
	AnnotationNamesLeft = "compute.datumapis.com/names-left-since"
	// AnnotationNameCities, on the DNSEndpoint of a name, has the cities whose addresses are in it, divided by commas.
	AnnotationNameCities = "compute.datumapis.com/name-cities"
	// AnnotationNameUnreachable, on the DNSEndpoint of a name, has the cities that are not in it because their addresses did not
	// answer, divided by commas.
	AnnotationNameUnreachable = "compute.datumapis.com/name-unreachable"
	// AnnotationNameMissing, on the DNSEndpoint of a name, is since when the operator's resolver has answered for the name without any
	// of its addresses, if that is longer than a record takes.
	AnnotationNameMissing = "compute.datumapis.com/name-missing-since"
	// AnnotationGatewayAddresses, on a Service in a cell, has the addresses of the Gateway that has accepted its route, divided
	// by commas.
	AnnotationGatewayAddresses = "compute.datumapis.com/gateway-addresses"
	// AnnotationRestartedWith, on the Pod of an Instance, has the data that its containers were last restarted with, as
	// AnnotationStartedWith has the one that they were first started with.
	AnnotationRestartedWith = "compute.datumapis.com/restarted-with"
	// AnnotationReadySeen, on the Pod of an Instance whose node's clock is off, has when the node says that the Pod became ready,
	// and when the agent has seen that.
	AnnotationReadySeen = "compute.datumapis.com/ready-seen"
	// AnnotationLastAddresses, on a Service in a cell, has the last addresses of its load balancer, divided by commas, until the
	// Service has had none for some time. AnnotationAddressesMissing has the time since which it or its Gateway has none.
	AnnotationLastAddresses    = "compute.datumapis.com/last-addresses"
	AnnotationAddressesMissing = "compute.datumapis.com/addresses-missing-since"
	// AnnotationUnroutedHostnames, on a Service in a cell, has the DNS names of its route that no listener of the Gateway has,
	// divided by commas.
	AnnotationUnroutedHostnames = "compute.datumapis.com/unrouted-hostnames"
	// AnnotationLoadBalancerClass, on a Service in a cell, has the loadBalancerClass that the agent has asked for: a webhook of
	// the cell may have given the Service another one.
	AnnotationLoadBalancerClass = "compute.datumapis.com/load-balancer-class"
	// AnnotationServiceAnnotations, on a Service in a cell, names the annotations that the agent has set, divided by commas.
	AnnotationServiceAnnotations = "compute.datumapis.com/service-annotations"
	// AnnotationProjectName, on a hub object, is the full name of the project.
	AnnotationProjectName = "compute.datumapis.com/project"
	// AnnotationRestartedAt, in a template, rolls all Instances when it changes.
	AnnotationRestartedAt = "compute.datumapis.com/restartedAt"
	// AnnotationChangeCause, on a Workload, is the cause of its last change, as for a Deployment. Its WorkloadRevision keeps it.
	AnnotationChangeCause = "kubernetes.io/change-cause"
	// AnnotationFloorSequence, on a PodDisruptionBudget in a cell, is the sequence of the floor that its minAvailable is.
	AnnotationFloorSequence = "compute.datumapis.com/floor-sequence"
	// AnnotationFloorComplete, on a PodDisruptionBudget in a cell, says by the value "true" that the Pods of all Available
	// Instances have LabelProtected. Until then the cell confirms no floor.
	AnnotationFloorComplete = "compute.datumapis.com/floor-complete"
	// AnnotationBreakGlass, on a Pod in a cell, lets anyone with the right to delete the Pod do so regardless of the
	// disruption budget; on a WorkloadDeployment, the PropagationPolicy of a city, a hub namespace, a project that is a
	// namespace, or the namespace of a project in a cell, regardless of the Instances that its deletion takes down. Its
	// value is the reason, which the audit log gets.
	AnnotationBreakGlass = "compute.datumapis.com/break-glass"
	// AnnotationSuspended is the annotation by which other systems stop a WorkloadDeployment. The add-on refuses it: it
	// follows the Project at Milo.
	AnnotationSuspended = "compute.datumapis.com/suspended"
	// AnnotationRepairedAt, on an object of Karmada, is the time, in RFC 3339, of the add-on's last write that triggered a
	// Karmada reconcile of the object.
	AnnotationRepairedAt = "compute.datumapis.com/repaired-at"
	// AnnotationForget, on the namespace of a cell's Works, with the value "true", releases a cell that is lost permanently: no object
	// is kept for it any more. Remove the annotation to use the cell again.
	AnnotationForget = "compute.datumapis.com/forget"
	// AnnotationKeep, on a hub namespace whose project no longer exists: "true" keeps its objects, "false" withdraws them
	// even while Milo is in doubt.
	AnnotationKeep = "compute.datumapis.com/keep"
	// AnnotationAbsent, on a hub namespace, has the answers of Milo that its project does not exist: the times of the
	// first and the last one, in RFC 3339, and their number.
	AnnotationAbsent = "compute.datumapis.com/absent"
	// AnnotationWithdrawUntil, on the record of Milo's identity, is a time in RFC 3339, at most 24 hours ahead. Until then
	// the projects that Milo does not have count as deleted, however many they are.
	AnnotationWithdrawUntil = "compute.datumapis.com/withdraw-until"
	// AnnotationCities, on a namespace of the hub that is a project, names the cities that the project may use, separated
	// by commas. A project without the annotation may use every city that has cells.
	AnnotationCities = "compute.datumapis.com/cities"
	// AnnotationAdopted, on a namespace of the hub that is a project, has in JSON the UIDs that the project and its Workloads had on
	// an earlier hub, whose storage is lost. `karmadactl compute adopt` writes it, for an operator.
	AnnotationAdopted = "compute.datumapis.com/adopted"
	// AnnotationWorkloadUID, on a hub WorkloadDeployment that runs Instances of an earlier hub, is the UID of its Workload on this
	// hub. The copy itself has the earlier one, by which its cells know the Instances.
	AnnotationWorkloadUID = "compute.datumapis.com/present-workload-uid"
	// AnnotationLeaving, on the mark of a project, reports that the replica that watches the project is about to disengage
	// it.
	AnnotationLeaving = "compute.datumapis.com/leaving"
)

// Karmada's own metadata on objects that it creates in a cell.
const (
	// AnnotationWorkNamespace is the namespace, on the hub, of the Work that has the object: executionSpacePrefix and the
	// name of the cell.
	AnnotationWorkNamespace = "work.karmada.io/namespace"
	// AnnotationTemplateUID is the UID of the object on the hub from which this object was created.
	AnnotationTemplateUID = "resourcetemplate.karmada.io/uid"

	executionSpacePrefix = "karmada-es-"
)

// Finalizers of the add-on.
const (
	// FinalizerWorkload holds a Workload until its deployments are gone.
	FinalizerWorkload = "compute.datumapis.com/workload-controller"
	// FinalizerPropagation holds a project WorkloadDeployment until its hub copy is gone.
	FinalizerPropagation = "compute.datumapis.com/federator"
)

// AnnotationRequires is the annotation that names, on the hub's copy, the fields of its spec that hold Instances back
// or limit them, separated by commas. An API server whose CRD is older drops fields that it does not know, without a
// word; it keeps annotations. A cell that lacks a field that is named here starts nothing new.
const AnnotationRequires = "compute.datumapis.com/requires"

// AnnotationIntended is the annotation that has, on the hub's copy, the hashes of its templates and of the fields that
// the hub counts on, as "name=hash" separated by commas. An override policy may change the templates for a cell:
// rollouts go by the hashes here. A cell that has other values of the other fields starts nothing new.
const AnnotationIntended = "compute.datumapis.com/intended"

// AnnotationIntendedQuota is the annotation that has, on the hub's copy, the hash of its quota.
const AnnotationIntendedQuota = "compute.datumapis.com/intended-quota"

// AnnotationRefused is the annotation that the agent of a cell writes on an Instance that keeps its template because the
// cell refuses the Pod of the next one: the hash of that template, the reason and the message, separated by spaces.
const AnnotationRefused = "compute.datumapis.com/refused"

// AnnotationSentAs is the annotation that the agent of a cell writes on an Instance: the generation of the project's
// deployment whose template the Instance got, and the UID of that deployment, separated by a space. If the deployment has
// an earlier generation later, a backup was restored.
const AnnotationSentAs = "compute.datumapis.com/sent-as"

// MiloRecordName is the name of the ConfigMap on the hub that records the identity of Milo.
const MiloRecordName = "karmada-compute-milo"

// Leases on the hub by which the replicas of the add-on divide the projects among them.
const (
	// LeaseShards is the record of the owner of each shard, in AnnotationShards.
	LeaseShards = "karmada-compute-shards"
	// LeaseReplicaPrefix begins the name of the Lease that a replica renews. Its name follows.
	LeaseReplicaPrefix = "karmada-compute-replica-"
	// AnnotationShards has the numbers of the shards of each replica, as JSON. As a label it is on all of these Leases.
	AnnotationShards = "compute.datumapis.com/shards"
)

// ParseShards reads AnnotationShards: the shards of each replica by its name.
func ParseShards(annotation string) (map[string][]int, error) {
	var shards map[string][]int
	if annotation == "" {
		return nil, nil
	}
	err := json.Unmarshal([]byte(annotation), &shards)
	return shards, err
}
