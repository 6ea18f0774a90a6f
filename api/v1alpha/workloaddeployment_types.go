// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// WorkloadReference names the Workload that a deployment belongs to.
type WorkloadReference struct {
	// name of the Workload.
	// +required
	Name string `json:"name"`
	// uid of the Workload.
	// +required
	UID types.UID `json:"uid"`
}

// WorkloadDeploymentSpec describes the Instances in one city for one placement.
type WorkloadDeploymentSpec struct {
	// workloadRef names the Workload in the project.
	// +required
	WorkloadRef WorkloadReference `json:"workloadRef"`

	// placementName is the placement of the Workload.
	// +required
	PlacementName string `json:"placementName"`

	// cityCode is the city. It never changes during the life of a deployment: Karmada does not re-evaluate a claimed
	// object when its labels change.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is immutable; a deployment in another city is another object"
	CityCode string `json:"cityCode"`

	// template of the Instances.
	// +required
	Template InstanceTemplateSpec `json:"template"`

	// instanceTypeResources are the resources of the template's instance type as they were when the template began to name
	// it. They stay while it does: a change of the type never resizes what runs. Without them the type says nothing about
	// the size.
	// +optional
	InstanceTypeResources corev1.ResourceList `json:"instanceTypeResources,omitempty"`

	// scaleSettings is the scale in this city.
	// +required
	ScaleSettings HorizontalScaleSettings `json:"scaleSettings"`

	// rollout is the part of the Workload's rollout that concerns the deployment. The hub's copy has maxUnavailable alone:
	// the add-on judges the progress in the project.
	// +optional
	Rollout *WorkloadRollout `json:"rollout,omitempty"`

	// minReadySeconds is a copy of the Workload's minReadySeconds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// service is a copy of the Workload's service, with its defaults written.
	// +optional
	Service *WorkloadService `json:"service,omitempty"`

	// serviceGeneration is the generation of the Workload that changed its service last, as far as this deployment knows.
	// All deployments of a Workload in a cell have one Service: the highest generation counts.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ServiceGeneration int64 `json:"serviceGeneration,omitempty"`

	// replicas is set by an autoscaler in the cell. Without it minReplicas run.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	Replicas *int32 `json:"replicas,omitempty"`

	// quota is the grant for this deployment. An Instance starts when its index is granted here. Without it no quota is
	// configured, and Instances have no gate Quota.
	// +optional
	Quota *WorkloadDeploymentQuota `json:"quota,omitempty"`

	// networks is the state of the template's networks in the city. The hub sets it on its copy. Without it Instances have
	// no gate Network.
	// +optional
	Networks *WorkloadDeploymentNetworks `json:"networks,omitempty"`

	// suspended says that the project is suspended. The hub sets it on its copy: cells stop the Instances and keep them,
	// and start them again when it is no longer set.
	// +optional
	Suspended bool `json:"suspended,omitempty"`

	// assignment divides the Instances among the cells of the city. The hub sets it on its copy: where a city has several
	// cells, no two may create an Instance of the same name. Without it the cell that has the deployment runs all
	// Instances.
	// +optional
	Assignment *WorkloadDeploymentAssignment `json:"assignment,omitempty"`

	// partition keeps Instances at an earlier template during a rollout. Without it all Instances get the template.
	// +optional
	Partition *WorkloadDeploymentPartition `json:"partition,omitempty"`

	// surge is how many Instances run in addition to the desired ones during a rollout. It is set in projects only: the
	// hub's copy asks for as many Instances more.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	Surge int32 `json:"surge,omitempty"`

	// floor is the city's share of the Workload's disruption budget. Without it the Workload has no budget.
	// +optional
	Floor *AvailabilityFloor `json:"floor,omitempty"`

	// overrides are the turns of cells whose template an override policy or a restored backup has changed. An Instance that
	// differs only by that keeps its template until the turn of its cell.
	// +optional
	// +listType=map
	// +listMapKey=cell
	// +kubebuilder:validation:MaxItems=100
	Overrides []OverrideTurn `json:"overrides,omitempty"`

	// slices is how many InstanceSlices there are, which have the entries of the Instances that do not fit into the
	// status. The hub sets it on its copy.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Slices int32 `json:"slices,omitempty"`
}

// WorkloadDeploymentPartition divides the Instances of a deployment by their template, as the partition of a
// StatefulSet does.
type WorkloadDeploymentPartition struct {
	// index is the lowest index of the Instances that get the template of the deployment.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	Index int32 `json:"index"`

	// indices are the Instances, from index on, that get the template of the deployment: what an autoscaler adds later keeps
	// the earlier template. Without indices, all Instances from index on get the template.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2500
	Indices []IndexRange `json:"indices,omitempty"`

	// template of the other Instances.
	// +required
	Template InstanceTemplateSpec `json:"template"`

	// instanceTypeResources of the other Instances.
	// +optional
	InstanceTypeResources corev1.ResourceList `json:"instanceTypeResources,omitempty"`
}

// OverrideTurn is the turn of a cell to give its Instances the template that an override policy or a restored backup has
// changed.
type OverrideTurn struct {
	// cell by the name of its Karmada Cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Cell string `json:"cell"`

	// templateHash is the hash of the overridden template. A template that is overridden in another way waits for a turn of
	// its own.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	TemplateHash string `json:"templateHash"`

	// atOnce is how many Instances the cell may replace at once after the first one.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5000
	AtOnce int32 `json:"atOnce"`
}

// WorkloadDeploymentAssignment divides the Instances of a deployment among cells.
type WorkloadDeploymentAssignment struct {
	// cells that run Instances. A cell that is not named runs none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Cells []CellAssignment `json:"cells,omitempty"`

	// floorSequence is the highest sequence of a cell's floor so far.
	// +optional
	FloorSequence int64 `json:"floorSequence,omitempty"`
}

// CellAssignment are the Instances of one cell.
type CellAssignment struct {
	// name of the cell, the name of its Karmada Cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// indices that the cell may use, ascending. It creates as many Instances as replicas says and none with another index.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2500
	Indices []IndexRange `json:"indices,omitempty"`

	// minReplicas is how many Instances always run in the cell. An autoscaler there may use the other indices as well.
	// Without it the minReplicas of scaleSettings apply.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// releasing are indices that the cell may no longer use. They are assigned to another cell once this one reports that
	// their Instances are gone.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2500
	Releasing []IndexRange `json:"releasing,omitempty"`

	// floor is the cell's share of the Workload's disruption budget. Without it the Workload has no budget.
	// +optional
	Floor *AvailabilityFloor `json:"floor,omitempty"`

	// leavingSince is the time at which the cell lost its last index while it still had indices to release. The cell then
	// has no deployment to report on: its inventory reports when no object of the deployment is left there. leavingSince
	// distinguishes one departure from the next.
	// +optional
	LeavingSince *metav1.MicroTime `json:"leavingSince,omitempty"`
}

// IndexRange are all indices from first to last.
type IndexRange struct {
	// first index.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9999
	First int32 `json:"first"`

	// last index.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9999
	Last int32 `json:"last"`
}

// WorkloadDeploymentNetworks is the state of the networks of a template in a city.
type WorkloadDeploymentNetworks struct {
	// ready reports that the networks are available: Instances start.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// message names the awaited networks.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// WorkloadDeploymentStatus is the report of the city's cells.
type WorkloadDeploymentStatus struct {
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Available, Progressing and ReplicasReady, ScalingActive where an autoscaler decides how many
	// Instances run, ServiceProgrammed with spec.service, in a project ReferencedDataReady where the template names a
	// ConfigMap or Secret, Scheduled while Instances wait for capacity, and Suspended while the project is suspended.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	ReplicaCounts `json:",inline"`

	// sequence differs in a report from the one in the report before it. Karmada, which carries reports to the hub, then
	// finds a difference even if a state returns before Karmada has read the last report of it. It is set in cells only.
	// +optional
	Sequence int64 `json:"sequence,omitempty"`

	// assignedReplicas is how many Instances the cells should run now: fewer than desired while they lack capacity. It is
	// set in projects only.
	// +optional
	AssignedReplicas int32 `json:"assignedReplicas,omitempty"`

	// floorSequence is the sequence of the floor that the hub divides among the cells of the city; 0: none. It is set in
	// projects only.
	// +optional
	FloorSequence int64 `json:"floorSequence,omitempty"`

	// floorInForce is how many Instances voluntary disruptions leave Available in the city, by the floors that its cells
	// have confirmed and the Instances that they report; 240000: there are no voluntary disruptions. It is set in projects
	// only.
	// +optional
	FloorInForce int32 `json:"floorInForce,omitempty"`

	// floorAvailable is how many Available Instances the reports have that floorInForce is about. It is set in projects
	// only.
	// +optional
	FloorAvailable int32 `json:"floorAvailable,omitempty"`

	// awaitingDisruption is how many Available Instances in the city a voluntary disruption waits for. It is set in
	// projects only.
	// +optional
	AwaitingDisruption int32 `json:"awaitingDisruption,omitempty"`

	// lastProgressTime is when the Instances last made progress towards the spec. It is set in projects only, and not
	// while the Instances match the spec.
	// +optional
	LastProgressTime *metav1.Time `json:"lastProgressTime,omitempty"`

	// suspended reports that the project is suspended: no Instance may run. Condition Suspended is True when all cells
	// have confirmed it. It is set in projects only.
	// +optional
	Suspended bool `json:"suspended,omitempty"`

	// selector selects the Pods of the Instances, for the autoscaler of the cell. It is set in cells only.
	// +optional
	Selector string `json:"selector,omitempty"`

	// reports are the Instances in the cell, by index; on the hub one for each cell. They have one writer: as a map they
	// would double in size, since API servers record the field manager of every entry.
	// +optional
	// +listType=atomic
	Reports []InstanceReport `json:"reports,omitempty"`

	// indices list all Instances in the cell, also the ones that reports leave out; on the hub and in projects for each
	// cell.
	// +optional
	// +listType=atomic
	Indices []CellIndices `json:"indices,omitempty"`

	// endpoints are the addresses of the deployment for clients outside of its cells, with spec.service.exposure
	// LoadBalancer: one entry, of its city. They are set in projects only.
	// +optional
	// +listType=map
	// +listMapKey=city
	// +kubebuilder:validation:MaxItems=48
	Endpoints []CityEndpoint `json:"endpoints,omitempty"`
}

// WorkloadDeployment is one placement of a Workload in one city. Only the add-on writes it.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=wd,categories=compute
// +kubebuilder:printcolumn:name="City",type=string,JSONPath=`.spec.cityCode`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.status.desiredReplicas`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Available",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Replicas",type=integer,priority=1,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,priority=1,JSONPath=`.status.currentReplicas`
// +kubebuilder:printcolumn:name="Current",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="StatusCurrent")].reason`
// +kubebuilder:printcolumn:name="Address",type=string,priority=1,JSONPath=`.status.endpoints[0].addresses[0].value`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Available")].message`
type WorkloadDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec WorkloadDeploymentSpec `json:"spec"`
	// +optional
	Status WorkloadDeploymentStatus `json:"status,omitempty"`
}

// WorkloadDeploymentList is a list of WorkloadDeployments.
//
// +kubebuilder:object:root=true
type WorkloadDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WorkloadDeployment `json:"items"`
}
