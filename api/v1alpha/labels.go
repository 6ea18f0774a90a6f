// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

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
	// LabelProjectUID is the UID of the Milo Project: a project recreated under the same name is another one.
	LabelProjectUID = "compute.datumapis.com/project-uid"
	// LabelHubNamespace is on what belongs to a hub namespace and lies outside of it.
	LabelHubNamespace = "compute.datumapis.com/hub-namespace"

	// LabelTopologyCity is the city of a Karmada Cluster and of a hub WorkloadDeployment, in lower case there. The
	// per-city PropagationPolicies select by it.
	LabelTopologyCity = "topology.datum.net/city-code"

	// LabelProject names the project that a hub object comes from, as "cluster-<project>" with "/" as "_".
	LabelProject = "meta.datumapis.com/upstream-cluster-name"
	// LabelProjectNamespace names the namespace in the project that a hub object comes from.
	LabelProjectNamespace = "meta.datumapis.com/upstream-namespace"
)

// Annotations of the add-on's objects.
const (
	// AnnotationFederationNamespace, on a project WorkloadDeployment, names its hub namespace. It is there before
	// anything is written to the hub, so that a deletion never has to look the namespace up.
	AnnotationFederationNamespace = "compute.datumapis.com/federation-namespace"
	// AnnotationProjectGeneration, on a hub WorkloadDeployment, is the generation of the project original that its
	// spec was copied from.
	AnnotationProjectGeneration = "compute.datumapis.com/project-generation"
	// AnnotationProjectName, on a hub WorkloadDeployment, is the project's name in full.
	AnnotationProjectName = "compute.datumapis.com/project"
	// AnnotationRestartedAt, in a template, rolls all Instances when it changes.
	AnnotationRestartedAt = "compute.datumapis.com/restartedAt"
)

// What Karmada says on what it puts into a cell.
const (
	// AnnotationWorkNamespace names the namespace on the hub of the Work that carries the object: the executionSpacePrefix
	// and the name of the cell.
	AnnotationWorkNamespace = "work.karmada.io/namespace"

	executionSpacePrefix = "karmada-es-"
)

// Finalizers of the add-on.
const (
	// FinalizerWorkload holds a Workload until its deployments are gone.
	FinalizerWorkload = "compute.datumapis.com/workload-controller"
	// FinalizerFederator holds a project WorkloadDeployment until its hub copy is gone.
	FinalizerFederator = "compute.datumapis.com/federator"
)
