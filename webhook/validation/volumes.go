// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// volumes are the volumes of a template by name, and the names of the attached volumes.
type volumes struct {
	byName   map[string]*v1alpha.InstanceVolume
	attached sets.Set[string]
}

func (p *problems) volumes(at place, list []v1alpha.InstanceVolume) *volumes {
	found := &volumes{byName: make(map[string]*v1alpha.InstanceVolume, len(list)), attached: sets.New[string]()}
	names, devices := sets.New[string](), sets.New[string]()
	for i := range list {
		volume := &list[i]
		item := at.item(i, volume.Name)
		p.label(item.child("name"), volume.Name)
		p.unique(item.child("name"), names, volume.Name)
		if _, ok := found.byName[volume.Name]; !ok {
			found.byName[volume.Name] = volume
		}
		p.volumeSource(item, volume, devices)
	}
	return found
}

func (p *problems) volumeSource(at place, volume *v1alpha.InstanceVolume, devices sets.Set[string]) {
	const exactlyOne = "must have exactly one of disk, configMap, secret and emptyDir"
	set := 0
	another := func(at place) {
		if set++; set > 1 {
			p.forbidden(at, "", exactlyOne)
		}
	}
	if volume.Disk != nil {
		another(at.child("disk"))
		p.disk(at.child("disk"), volume.Disk, devices)
	}
	if source := volume.ConfigMap; source != nil {
		item := at.child("configMap")
		another(item)
		p.subdomain(item.child("name"), source.Name)
		p.mode(item.child("defaultMode"), source.DefaultMode)
		p.items(item.child("items"), source.Items)
	}
	if source := volume.Secret; source != nil {
		item := at.child("secret")
		another(item)
		p.subdomain(item.child("secretName"), source.SecretName)
		p.mode(item.child("defaultMode"), source.DefaultMode)
		p.items(item.child("items"), source.Items)
	}
	if source := volume.EmptyDir; source != nil {
		item := at.child("emptyDir")
		another(item)
		p.emptyDir(item, source)
	}
	if set == 0 {
		p.required(at, exactlyOne)
	}
}

func (p *problems) emptyDir(at place, source *corev1.EmptyDirVolumeSource) {
	switch source.Medium {
	case corev1.StorageMediumDefault, corev1.StorageMediumMemory:
	default:
		p.unsupported(at.child("medium"), string(source.Medium), string(corev1.StorageMediumMemory))
	}
	if source.SizeLimit != nil {
		p.notNegative(at.child("sizeLimit"), *source.SizeLimit)
	}
}

func (p *problems) mode(at place, mode *int32) {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		p.invalid(at, *mode, "must be between 0 and 0777 (octal), 0 and 511 (decimal)")
	}
}

func (p *problems) items(at place, items []corev1.KeyToPath) {
	paths := sets.New[string]()
	for i := range items {
		item := at.item(i, items[i].Key)
		p.dataKey(item.child("key"), items[i].Key)
		p.mode(item.child("mode"), items[i].Mode)
		p.itemPath(item.child("path"), items[i].Path, paths)
	}
}

func (p *problems) itemPath(at place, text string, seen sets.Set[string]) {
	switch {
	case text == "":
		p.required(at, "must be the path of the key in the volume")
		return
	case path.IsAbs(text):
		p.invalid(at, text, "must be relative")
	case climbs(text), strings.HasPrefix(text, ".."):
		// The kubelet stores the data in directories whose names start with "..".
		p.invalid(at, text, "must not contain or start with '..'")
	}
	p.uniquePath(at, text, seen)
}

// uniquePath requires a path that no other has, and that the kernel can take. It compares cleaned paths: /a and /a/ are
// the same.
func (p *problems) uniquePath(at place, text string, seen sets.Set[string]) {
	p.text(at, text)
	p.unique(at, seen, path.Clean(text))
}

func climbs(text string) bool {
	for part := range strings.SplitSeq(text, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// attach marks a volume as attached and returns it, or nil if no volume has that name.
func (p *problems) attach(at place, attachment *v1alpha.VolumeAttachment, volumes *volumes) *v1alpha.InstanceVolume {
	volume := volumes.byName[attachment.Name]
	switch {
	case attachment.Name == "":
		p.required(at.child("name"), "must name a volume")
		return nil
	case volume == nil:
		p.notFound(at.child("name"), attachment.Name)
		return nil
	}
	volumes.attached.Insert(attachment.Name)
	return volume
}

// mounts validates the volumes that a container attaches.
func (p *problems) mounts(at place, attachments []v1alpha.VolumeAttachment, volumes *volumes) {
	paths := sets.New[string]()
	for i := range attachments {
		attachment := &attachments[i]
		item := at.item(i, attachment.Name)
		p.subPath(item.child("subPath"), attachment.SubPath)
		volume := p.attach(item, attachment, volumes)
		// An image may contain a filesystem, which cannot be validated here.
		if volume != nil && volume.Disk != nil && !mountable(volume.Disk) && !bootable(volume.Disk) {
			p.invalid(item.child("name"), attachment.Name, "must be a disk with a populator: a container cannot mount any other")
		}
		if attachment.MountPath == nil {
			p.required(item.child("mountPath"), "must be set in a container")
			continue
		}
		p.mountPath(item.child("mountPath"), *attachment.MountPath, paths)
	}
}

func (p *problems) subPath(at place, text string) {
	switch {
	case text == "":
		return
	case path.IsAbs(text):
		p.invalid(at, text, "must be relative")
	case climbs(text):
		p.invalid(at, text, "must not contain '..'")
	}
	p.text(at, text)
}

func (p *problems) mountPath(at place, text string, seen sets.Set[string]) {
	switch {
	case text == "":
		p.required(at, "must be absolute")
		return
	case !path.IsAbs(text):
		p.invalid(at, text, "must be absolute")
	case climbs(text):
		p.invalid(at, text, "must not contain '..'")
	case strings.Contains(text, ":"):
		p.invalid(at, text, "must not contain ':'")
	}
	p.uniquePath(at, text, seen)
}

func (p *problems) unattached(at place, list []v1alpha.InstanceVolume, volumes *volumes) {
	for i := range list {
		name := list[i].Name
		if len(validation.IsDNS1123Label(name)) == 0 && !volumes.attached.Has(name) {
			p.invalid(at.item(i, name).child("name"), name, "must be attached: attach it to a container, or remove it"+fieldsPage)
		}
	}
}

// diskType is the only supported type of disk, and the default.
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
