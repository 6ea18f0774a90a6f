// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InstanceTemplateSpec is the template that Instances are created from.
type InstanceTemplateSpec struct {
	// metadata holds labels and annotations for the Instances. Labels are on their Pods, too, and so are annotations whose
	// keys have no domain. The operator of a cell may allow domains.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec of the Instances.
	// +required
	Spec InstanceSpec `json:"spec"`
}

// InstanceSpec is a sandbox of containers or a virtual machine.
type InstanceSpec struct {
	// runtime are the containers or the virtual machine, and their size.
	// +required
	Runtime InstanceRuntimeSpec `json:"runtime"`

	// networkInterfaces are the networks that the Instance is attached to. Without it, there is one interface, in network
	// default.
	// +optional
	// +kubebuilder:default={{network: {name: "default"}}}
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	NetworkInterfaces []InstanceNetworkInterface `json:"networkInterfaces"`

	// volumes that containers or the virtual machine attach.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Volumes []InstanceVolume `json:"volumes,omitempty"`

	// onNodeLoss is the fate of the Instance when its node does not respond. Replace starts it on another node; its
	// process may still run on the lost node, so that two of the same name run at once. Wait starts it again only when the
	// node has confirmed that it stopped, or when an administrator has confirmed that the node is shut down. Without the
	// field it is Replace.
	// +optional
	OnNodeLoss NodeLossPolicy `json:"onNodeLoss,omitempty"`

	// location is set by the add-on and follows from the city.
	// +optional
	Location *LocationReference `json:"location,omitempty"`

	// controller is set by the add-on.
	// +optional
	Controller *InstanceController `json:"controller,omitempty"`
}

// NodeLossPolicy is the fate of an Instance whose node does not respond.
// +kubebuilder:validation:Enum=Replace;Wait
type NodeLossPolicy string

const (
	// NodeLossReplace starts the Instance on another node.
	NodeLossReplace NodeLossPolicy = "Replace"
	// NodeLossWait never runs two Pods of an Instance at once.
	NodeLossWait NodeLossPolicy = "Wait"
)

// LocationReference names a location.
type LocationReference struct {
	// name of the location.
	// +required
	Name string `json:"name"`
	// namespace of the location.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// InstanceController is set by the add-on.
type InstanceController struct {
	// templateHash is the hash of the template that the Instance was created from.
	// +optional
	TemplateHash string `json:"templateHash,omitempty"`

	// instanceTypeResources are the resources that the deployment had recorded when the Instance was created. A recreated
	// Pod has the same size.
	// +optional
	InstanceTypeResources corev1.ResourceList `json:"instanceTypeResources,omitempty"`

	// schedulingGates must all be lifted before the Instance starts.
	// +optional
	// +listType=map
	// +listMapKey=name
	SchedulingGates []SchedulingGate `json:"schedulingGates,omitempty"`
}

// SchedulingGate keeps an Instance from starting.
type SchedulingGate struct {
	// name of the gate.
	// +required
	// +kubebuilder:validation:Enum=Quota;Network;ReferencedData
	Name string `json:"name"`
}

// InstanceRuntimeSpec is the size of an Instance and exactly one runtime.
// +kubebuilder:validation:ExactlyOneOf=sandbox;virtualMachine
type InstanceRuntimeSpec struct {
	// resources is the size. Default: the size of the default instance type of the operator.
	// +optional
	Resources InstanceRuntimeResources `json:"resources"`

	// class is the runtime that isolates the Instance, a class that the platform offers. Default: the default of the cell.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Class string `json:"class,omitempty"`

	// sandbox runs containers.
	// +optional
	Sandbox *SandboxRuntime `json:"sandbox,omitempty"`

	// virtualMachine boots from a disk.
	// +optional
	VirtualMachine *VirtualMachineRuntime `json:"virtualMachine,omitempty"`
}

// InstanceRuntimeResources is the size of an Instance.
type InstanceRuntimeResources struct {
	// instanceType names an InstanceType, for example datumcloud-d1-standard-2, which may also be spelled
	// datumcloud/d1-standard-2. Without it the operator's default counts.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	InstanceType string `json:"instanceType,omitempty"`

	// requests override the size of instanceType. They are positive. In a project whose Instances need quota they are cpu
	// and memory.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// SandboxRuntime runs containers that share a network.
type SandboxRuntime struct {
	// containers that run.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Containers []SandboxContainer `json:"containers"`

	// initContainers run one after the other, and each ends before the next one and the containers start. One with
	// restartPolicy Always is a sidecar: it keeps running beside the containers, and stops after them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	InitContainers []SandboxContainer `json:"initContainers,omitempty"`

	// terminationGracePeriodSeconds is how long the containers may take to stop before they are killed, preStop included.
	// Without it it is 30.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:XValidation:rule="self <= 600",message="must be at most 600: rollouts and drained nodes wait for it; docs/reference/template-fields.md has the differences to a Pod"
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// securityContext restricts all containers. A cell restricts them further, whatever the template says.
	// +optional
	SecurityContext *SandboxSecurityContext `json:"securityContext,omitempty"`

	// imagePullSecrets name Secrets to pull images with.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []ImagePullSecretReference `json:"imagePullSecrets,omitempty"`
}

// ImagePullSecretReference names a Secret in the namespace of the Workload.
type ImagePullSecretReference struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// VirtualMachineRuntime boots from the first attached volume.
type VirtualMachineRuntime struct {
	// volumeAttachments are the disks, the first one bootable.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	VolumeAttachments []VolumeAttachment `json:"volumeAttachments"`

	// ports that the virtual machine listens on.
	// +optional
	// +listType=map
	// +listMapKey=name
	Ports []NamedPort `json:"ports,omitempty"`
}

// InstanceStatus is the observed state of an Instance.
type InstanceStatus struct {
	// conditions are Ready, Available, Programmed and QuotaGranted, ReferencedDataReady where the template names a
	// ConfigMap or Secret, and DataCurrent while newer data waits for a restart.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// networkInterfaces in the order of the spec.
	// +optional
	// +listType=atomic
	NetworkInterfaces []InstanceNetworkInterfaceStatus `json:"networkInterfaces,omitempty"`

	// controller is set by the add-on.
	// +optional
	Controller *InstanceControllerStatus `json:"controller,omitempty"`

	// startTime is when the node of the Instance accepted its Pod.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// restarts is the number of restarts of its containers since startTime.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// containers are the states of the containers. In a project only an Instance that is not Available, or with a
	// container that was restarted, has them.
	// +optional
	// +listType=map
	// +listMapKey=name
	Containers []InstanceContainerStatus `json:"containers,omitempty"`
}

// InstanceContainerStatus is the state of one container of an Instance.
type InstanceContainerStatus struct {
	// name of the container.
	// +required
	Name string `json:"name"`

	// restartCount is the number of restarts of the container.
	// +optional
	RestartCount int32 `json:"restartCount,omitempty"`

	// imageID is the digest of the image that runs, as the node reports it.
	// +optional
	ImageID string `json:"imageID,omitempty"`

	// lastTermination is the last end of the container.
	// +optional
	LastTermination *ContainerTermination `json:"lastTermination,omitempty"`
}

// ContainerTermination is the end of a container.
type ContainerTermination struct {
	// reason of the node, for example OOMKilled.
	// +optional
	Reason string `json:"reason,omitempty"`

	// exitCode of the process.
	// +optional
	ExitCode int32 `json:"exitCode"`

	// message of the container or the node.
	// +optional
	Message string `json:"message,omitempty"`

	// finishedAt is when the container ended.
	// +optional
	FinishedAt metav1.Time `json:"finishedAt,omitempty"`
}

// InstanceNetworkInterfaceStatus is one interface of a running Instance.
type InstanceNetworkInterfaceStatus struct {
	// assignments are the addresses.
	// +optional
	Assignments InstanceNetworkAssignments `json:"assignments,omitempty"`
}

// InstanceNetworkAssignments are the addresses of an interface.
type InstanceNetworkAssignments struct {
	// networkIP is the address in the network.
	// +optional
	NetworkIP *string `json:"networkIP,omitempty"`

	// externalIP is the address from outside of the network.
	// +optional
	ExternalIP *string `json:"externalIP,omitempty"`
}

// InstanceControllerStatus is the state that the add-on reports.
type InstanceControllerStatus struct {
	// observedTemplateHash is the hash of the template that runs.
	// +optional
	ObservedTemplateHash string `json:"observedTemplateHash,omitempty"`

	// dataHash is the hash of the ConfigMaps and Secrets that the Instance was started with. Instances with the same hash
	// were started with the same data. It is absent where the template names none, and of an Instance that was started
	// before the add-on recorded it. While newer data waits for a restart, condition DataCurrent is False.
	// +optional
	DataHash string `json:"dataHash,omitempty"`
}

// Instance is one sandbox or virtual machine. In a project it is a read-only projection of the Instance in a cell.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=inst,categories=compute
// +kubebuilder:printcolumn:name="City",type=string,JSONPath=`.metadata.labels.compute\.datumapis\.com/city-code`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Network IP",type=string,priority=1,JSONPath=`.status.networkInterfaces[0].assignments.networkIP`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Restarts",type=integer,priority=1,JSONPath=`.status.restarts`
// +kubebuilder:printcolumn:name="External IP",type=string,priority=1,JSONPath=`.status.networkInterfaces[0].assignments.externalIP`
// +kubebuilder:printcolumn:name="Quota",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="QuotaGranted")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec InstanceSpec `json:"spec"`
	// +optional
	Status InstanceStatus `json:"status,omitempty"`
}

// InstanceList is a list of Instances.
//
// +kubebuilder:object:root=true
type InstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Instance `json:"items"`
}
