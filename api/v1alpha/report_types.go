// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InstanceReport has an entry for each of the Instances of a cell, in few bytes: Karmada writes the complete report
// four times for each change. Instances in the same state share its description. Package cellreport writes and reads
// reports. Neither a report nor a state is ever empty: Karmada drops empty members of lists.
type InstanceReport struct {
	// cell that the Instances are in, by the name of its Karmada Cluster. It is set on the hub, which has the reports of
	// all cells.
	// +optional
	Cell string `json:"cell"`

	// states that Instances are in.
	// +optional
	// +listType=atomic
	States []InstanceState `json:"states,omitempty"`

	// instances, by index.
	// +optional
	// +listType=atomic
	Instances []InstanceEntry `json:"instances,omitempty"`
}

// InstanceState is a state that several Instances share.
type InstanceState struct {
	// templateHash is the hash of the template that the Instance was created from.
	// +optional
	TemplateHash string `json:"templateHash"`

	// observedTemplateHash is the hash of the template that runs.
	// +optional
	ObservedTemplateHash string `json:"observedTemplateHash,omitempty"`

	// dataHash is the hash of the data that the Instance was started with.
	// +optional
	DataHash string `json:"dataHash,omitempty"`

	// schedulingGates that are not lifted yet.
	// +optional
	// +listType=atomic
	SchedulingGates []SchedulingGate `json:"schedulingGates,omitempty"`

	// conditions of the Instance in its cell. Their times are in the entry.
	// +optional
	// +listType=atomic
	Conditions []StateCondition `json:"conditions,omitempty"`
}

// StateCondition is a condition without its times.
type StateCondition struct {
	// type of the condition.
	// +required
	Type string `json:"type"`

	// status of the condition: True, False or Unknown.
	// +required
	Status metav1.ConditionStatus `json:"status"`

	// reason of the condition.
	// +optional
	Reason string `json:"reason,omitempty"`

	// message of the condition.
	// +optional
	Message string `json:"message,omitempty"`
}

// InstanceEntry is the entry of one Instance.
type InstanceEntry struct {
	// index of the Instance.
	// +required
	Index int32 `json:"index"`

	// state is the position of the state of the Instance in states.
	// +required
	State int32 `json:"state"`

	// since is the last transition of the conditions of the state: the first one as a time, each other one in seconds
	// after it, as in "2026-01-01T00:00:00Z +0 +3".
	// +optional
	Since string `json:"since,omitempty"`

	// networkInterfaces of the Instance in its cell.
	// +optional
	// +listType=atomic
	NetworkInterfaces []InstanceNetworkInterfaceStatus `json:"networkInterfaces,omitempty"`

	// started is how many seconds after the first time of since the Instance was started; most often it is negative.
	// +optional
	Started *int32 `json:"started,omitempty"`

	// restarts is the number of restarts of its containers.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// containers are the states of the containers of an Instance that is not Available, or with a container that was
	// restarted.
	// +optional
	// +listType=atomic
	Containers []ContainerEntry `json:"containers,omitempty"`
}

// ContainerEntry is the entry of one container, an InstanceContainerStatus without nested objects.
type ContainerEntry struct {
	// name of the container.
	// +optional
	Name string `json:"name"`

	// restartCount is the number of restarts of the container.
	// +optional
	RestartCount int32 `json:"restartCount,omitempty"`

	// imageID is the digest of the image that runs.
	// +optional
	ImageID string `json:"imageID,omitempty"`

	// finishedAt is when the container ended last. Without it, it has not ended yet.
	// +optional
	FinishedAt string `json:"finishedAt,omitempty"`

	// reason of the last end.
	// +optional
	Reason string `json:"reason,omitempty"`

	// exitCode of the last end.
	// +optional
	ExitCode int32 `json:"exitCode,omitempty"`

	// message of the last end.
	// +optional
	Message string `json:"message,omitempty"`
}

// CellIndices lists all Instances in a cell by state, as ranges of indices such as "0-4,7". The controllers of the hub
// need this of all Instances at once, and no more of most Instances.
type CellIndices struct {
	// cell that the Instances are in, by the name of its Karmada Cluster. It is set on the hub, which has the reports of
	// all cells.
	// +optional
	Cell string `json:"cell"`

	// existing are the Instances that exist.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Existing string `json:"existing,omitempty"`

	// ready are the indices of Ready Instances.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Ready string `json:"ready,omitempty"`

	// availableIndices are the indices of Available Instances.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	AvailableIndices string `json:"availableIndices,omitempty"`

	// held are the indices of Instances that wait for quota.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Held string `json:"held,omitempty"`

	// templateHash is the hash of the template of the deployment in the cell.
	// +optional
	TemplateHash string `json:"templateHash,omitempty"`

	// current are the indices of Instances that were created from that template. During a rollout the partition of the
	// deployment may keep the others at an earlier one.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Current string `json:"current,omitempty"`

	// dataReady are the indices in current of Instances that have all ConfigMaps and Secrets they need.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	DataReady string `json:"dataReady,omitempty"`

	// dataMissing names the data that the first other Instance in current lacks.
	// +optional
	DataMissing string `json:"dataMissing,omitempty"`

	// dataDiffers names the data of the first Instance in dataReady whose content in the cell is not the content that the hub
	// has sent.
	// +optional
	DataDiffers string `json:"dataDiffers,omitempty"`

	// overridden are the indices of Instances whose template differs from the deployment's in the cell only by an override
	// policy. They wait for the turn of the cell, or are being replaced in it.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Overridden string `json:"overridden,omitempty"`

	// overriddenHash is the hash of the template that these Instances get. It is set while there are any.
	// +optional
	OverriddenHash string `json:"overriddenHash,omitempty"`

	// floorSequence is the sequence of the floor that is in force in the cell; 0: none. It never decreases.
	// +optional
	FloorSequence int64 `json:"floorSequence,omitempty"`

	// available is how many Instances are Available, counted when the floor of floorSequence was in force: no Instance
	// that was disrupted under an earlier floor is among them.
	// +optional
	Available int32 `json:"available,omitempty"`

	// awaitingDisruption is how many Available Instances a voluntary disruption waits for: on cordoned nodes, with an
	// earlier template, or to be released by the cell.
	// +optional
	AwaitingDisruption int32 `json:"awaitingDisruption,omitempty"`

	// addresses are the addresses that the load balancer of the cell has given the Service of the Workload, divided by
	// commas.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Addresses string `json:"addresses,omitempty"`

	// unroutedHostnames are the DNS names of the route of the Workload that no listener of the Gateway of the cell has, divided
	// by commas.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	UnroutedHostnames string `json:"unroutedHostnames,omitempty"`
}
