// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

// SandboxSecurityContext has the fields of a Pod's security context that restrict its containers.
type SandboxSecurityContext struct {
	// runAsUser is the user ID of the processes, unless a container has its own. The default is the user of the image.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// runAsGroup is the primary group ID of the processes, unless a container has its own.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	RunAsGroup *int64 `json:"runAsGroup,omitempty"`

	// runAsNonRoot keeps containers from starting as user 0.
	// +optional
	RunAsNonRoot *bool `json:"runAsNonRoot,omitempty"`

	// fsGroup is the group that owns the files of volumes, and a supplementary group of all processes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	FSGroup *int64 `json:"fsGroup,omitempty"`
}

// ContainerSecurityContext has the fields of a container's security context that restrict it.
type ContainerSecurityContext struct {
	// runAsUser is the user ID of the processes. The default is the user of the sandbox, and then of the image.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// runAsGroup is the primary group ID of the processes. The default is the group of the sandbox.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	RunAsGroup *int64 `json:"runAsGroup,omitempty"`

	// runAsNonRoot keeps the container from starting as user 0. The default is the value of the sandbox.
	// +optional
	RunAsNonRoot *bool `json:"runAsNonRoot,omitempty"`

	// readOnlyRootFilesystem keeps the container from writing to its own filesystem. Volumes stay writable.
	// +optional
	ReadOnlyRootFilesystem *bool `json:"readOnlyRootFilesystem,omitempty"`
}
