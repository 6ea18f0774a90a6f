// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// diskType is the only supported type of disk, and the schema's default.
const diskType = "pd-standard"

// Sizes of disks, in GiB.
const (
	smallestDisk      = 10
	smallestImageDisk = 25
	largestDisk       = 100
	gibibyte          = 1 << 30
)

func populator(disk *v1alpha.DiskVolumeSource) *v1alpha.DiskPopulator {
	if disk.Template == nil {
		return nil
	}
	return disk.Template.Spec.Populator
}

// bootable reports whether a disk is populated from an image.
func bootable(disk *v1alpha.DiskVolumeSource) bool {
	populator := populator(disk)
	return populator != nil && populator.Image != nil
}

// mountable reports whether a disk gets a filesystem.
func mountable(disk *v1alpha.DiskVolumeSource) bool {
	populator := populator(disk)
	return populator != nil && populator.Filesystem != nil
}

func (p *problems) disk(at place, disk *v1alpha.DiskVolumeSource, devices sets.Set[string]) {
	if disk.DeviceName != nil {
		item := at.child("deviceName")
		if *disk.DeviceName == "" {
			p.invalid(item, "", "must not be empty if it is set")
		}
		p.unique(item, devices, *disk.DeviceName)
	}
	if disk.Template == nil {
		p.required(at.child("template"), "must be set")
		return
	}
	p.metadata(at.child("template", "metadata"), &disk.Template.ObjectMeta)
	at = at.child("template", "spec")
	spec := &disk.Template.Spec
	if spec.Type != "" && spec.Type != diskType {
		p.unsupported(at.child("type"), spec.Type, diskType)
	}
	p.populator(at.child("populator"), spec.Populator)
	p.diskSize(at.child("resources", "requests"), spec.Resources, bootable(disk))
}

func (p *problems) populator(at place, populator *v1alpha.DiskPopulator) {
	if populator == nil {
		return
	}
	switch {
	case populator.Image == nil && populator.Filesystem == nil:
		p.required(at, "must have exactly one of image and filesystem")
	case populator.Image != nil && populator.Filesystem != nil:
		p.forbidden(at.child("filesystem"), "", "must have exactly one of image and filesystem")
	}
	if populator.Image != nil {
		name := at.child("image", "name")
		switch {
		case populator.Image.Name == "":
			p.required(name, "must name an image")
		case len(strings.Fields(populator.Image.Name)) != 1 || strings.TrimSpace(populator.Image.Name) != populator.Image.Name:
			p.invalid(name, populator.Image.Name, "must not contain blanks")
		}
	}
	if populator.Filesystem != nil && populator.Filesystem.Type != "ext4" {
		p.unsupported(at.child("filesystem", "type"), populator.Filesystem.Type, "ext4")
	}
}

// diskSize validates the size of a disk. It is optional for a disk from an image.
func (p *problems) diskSize(at place, resources *v1alpha.DiskResourceRequirements, fromImage bool) {
	var requests corev1.ResourceList
	if resources != nil {
		requests = resources.Requests
	}
	p.quantities(at, requests)
	item := at.entry(string(corev1.ResourceStorage))
	size, ok := requests[corev1.ResourceStorage]
	if !ok {
		if !fromImage {
			p.required(item, "must be set to the size of the disk")
		}
		return
	}
	size = size.DeepCopy()
	switch {
	case size.Sign() <= 0, !countable(size):
		// Reported already.
	case size.Cmp(gibibytes(smallestDisk)) < 0, size.Cmp(gibibytes(largestDisk)) > 0:
		p.invalid(item, size.String(), "must be between 10Gi and 100Gi")
	case fromImage && size.Cmp(gibibytes(smallestImageDisk)) < 0:
		p.invalid(item, size.String(), "must be at least 25Gi for a disk from an image")
	case size.Cmp(gibibytes(size.Value()/gibibyte)) != 0:
		p.invalid(item, size.String(), "must be a multiple of 1Gi")
	}
}

func gibibytes(count int64) resource.Quantity {
	return *resource.NewQuantity(count*gibibyte, resource.BinarySI)
}
