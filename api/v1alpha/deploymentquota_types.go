// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

// WorkloadDeploymentQuota lists the Instances that may start, according to the project's quota. An index in neither
// list waits for an answer.
type WorkloadDeploymentQuota struct {
	// instanceSize is the size that is granted to each Instance. A larger one does not start. Without it an Instance of
	// any size starts.
	// +optional
	InstanceSize *QuotaSize `json:"instanceSize,omitempty"`

	// granted are the indices of the Instances that hold a granted claim, ascending.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2500
	Granted []IndexRange `json:"granted,omitempty"`

	// withheld are the indices of the Instances that are not granted quota, by the reason.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Withheld []QuotaWithheld `json:"withheld,omitempty"`
}

// QuotaSize is the size of an Instance as quota counts it.
type QuotaSize struct {
	// vcpus in thousandths of a CPU.
	// +optional
	// +kubebuilder:validation:Minimum=0
	VCPUs int64 `json:"vcpus,omitempty"`

	// memory in MiB.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Memory int64 `json:"memory,omitempty"`
}

// QuotaWithheld is why Instances are not granted quota.
type QuotaWithheld struct {
	// reason is the reason of condition QuotaGranted of these Instances.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// message is the message of the condition.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// indices of the Instances, ascending.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2500
	Indices []IndexRange `json:"indices,omitempty"`
}
