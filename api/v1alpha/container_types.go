// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import corev1 "k8s.io/api/core/v1"

// SandboxContainer is one container.
type SandboxContainer struct {
	// name is unique in the sandbox.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// image to run.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image"`

	// command replaces the entry point of the image.
	// +optional
	// +listType=atomic
	Command []string `json:"command,omitempty"`

	// args replace the arguments of the image.
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`

	// env is the environment.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom takes variables from all keys of ConfigMaps and Secrets. Variables of env have precedence.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// resources of this container.
	// +optional
	Resources *ContainerResourceRequirements `json:"resources,omitempty"`

	// volumeAttachments mount volumes. A volume may be mounted at several paths.
	// +optional
	// +listType=atomic
	VolumeAttachments []VolumeAttachment `json:"volumeAttachments,omitempty"`

	// ports that the container listens on.
	// +optional
	// +listType=map
	// +listMapKey=name
	Ports []NamedPort `json:"ports,omitempty"`

	// workingDir is the folder that the container starts in. The default is the folder of the image.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	WorkingDir string `json:"workingDir,omitempty"`

	// restartPolicy Always, of an init container only, makes it a sidecar.
	// +optional
	// +kubebuilder:validation:Enum=Always
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy,omitempty"`

	// readinessProbe checks whether the container can serve. An Instance is Ready when all of its containers can.
	// +optional
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty"`

	// livenessProbe checks whether the container is alive. A container that is not alive is restarted.
	// +optional
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`

	// startupProbe checks whether the container has started. Other probes begin when it has succeeded.
	// +optional
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`

	// lifecycle has what runs after the container has started and before it is stopped.
	// +optional
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty"`

	// securityContext restricts the container. A cell restricts it further, whatever the template says.
	// +optional
	SecurityContext *ContainerSecurityContext `json:"securityContext,omitempty"`
}

// IsSidecar reports whether an init container keeps running beside the containers.
func (c *SandboxContainer) IsSidecar() bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// ContainerResourceRequirements are the resources of one container.
type ContainerResourceRequirements struct {
	// limits that the container may not exceed. As in a Pod, 0 is no limit.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`

	// requests that are reserved for the container. A resource with a limit is reserved up to its limit. Without a limit
	// the container may use what the other containers leave of the size of the Instance.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// VolumeAttachment attaches a volume.
type VolumeAttachment struct {
	// name of the volume.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// mountPath is where the volume is mounted.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	MountPath *string `json:"mountPath,omitempty"`

	// readOnly keeps a container from writing to the volume.
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`

	// subPath is the file or folder of the volume that a container mounts, instead of all of it. A container does not see
	// later changes of a ConfigMap or Secret that is mounted so.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	SubPath string `json:"subPath,omitempty"`
}

// NamedPort is a port with a name.
type NamedPort struct {
	// name of the port, of at most 15 characters as in a Pod. Longer names of an earlier version are kept.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// port number.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// protocol is TCP, UDP or SCTP. Without it, it is TCP.
	// +optional
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	Protocol *corev1.Protocol `json:"protocol,omitempty"`
}

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
