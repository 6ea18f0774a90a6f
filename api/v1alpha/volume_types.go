// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InstanceVolume is a volume from exactly one source.
// +kubebuilder:validation:ExactlyOneOf=disk;configMap;secret;emptyDir
type InstanceVolume struct {
	// name is unique in the Instance.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	InstanceVolumeSource `json:",inline"`
}

// InstanceVolumeSource is the source of a volume: exactly one field is set.
type InstanceVolumeSource struct {
	// disk is created for the Instance.
	// +optional
	Disk *DiskVolumeSource `json:"disk,omitempty"`

	// configMap in the namespace of the Workload.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`

	// secret in the namespace of the Workload.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`

	// emptyDir is a folder that begins empty and lasts as long as the Instance stays on its node.
	// +optional
	EmptyDir *corev1.EmptyDirVolumeSource `json:"emptyDir,omitempty"`
}

// DiskVolumeSource is a disk that is created for the Instance.
type DiskVolumeSource struct {
	// deviceName that the guest sees.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	DeviceName *string `json:"deviceName,omitempty"`

	// template of the disk.
	// +optional
	Template *DiskTemplate `json:"template,omitempty"`
}

// DiskTemplate is the template of a disk.
type DiskTemplate struct {
	// metadata holds labels and annotations for the disk.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec of the disk.
	// +required
	Spec DiskSpec `json:"spec"`
}

// DiskSpec is a disk.
type DiskSpec struct {
	// type of the disk. Without it, it is pd-standard.
	// +optional
	// +kubebuilder:validation:Enum=pd-standard
	Type string `json:"type,omitempty"`

	// resources hold the size as requests.storage.
	// +optional
	Resources *DiskResourceRequirements `json:"resources,omitempty"`

	// populator fills the disk.
	// +optional
	Populator *DiskPopulator `json:"populator,omitempty"`
}

// DiskResourceRequirements is the size of a disk.
type DiskResourceRequirements struct {
	// requests hold storage.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// DiskPopulator fills a disk from exactly one source.
// +kubebuilder:validation:ExactlyOneOf=image;filesystem
type DiskPopulator struct {
	// image to copy.
	// +optional
	Image *ImageDiskPopulator `json:"image,omitempty"`

	// filesystem to create.
	// +optional
	Filesystem *FilesystemDiskPopulator `json:"filesystem,omitempty"`
}

// ImageDiskPopulator copies an image.
type ImageDiskPopulator struct {
	// name of the image.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// FilesystemDiskPopulator creates a filesystem.
type FilesystemDiskPopulator struct {
	// type of the filesystem.
	// +required
	// +kubebuilder:validation:Enum=ext4
	Type string `json:"type"`
}
