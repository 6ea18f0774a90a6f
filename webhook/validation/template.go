// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// reserved is the prefix of labels and annotations that only the add-on may set.
	reserved = "compute.datumapis.com/"
	// annotationSSHKeys, in the template, holds the SSH keys of a virtual machine.
	annotationSSHKeys = reserved + "ssh-keys"
)

func (p *problems) template(at place, template *v1alpha.InstanceTemplateSpec) {
	p.metadata(at.child("metadata"), &template.ObjectMeta)
	if template.Spec.Runtime.VirtualMachine != nil {
		p.sshKeys(at.child("metadata", "annotations").entry(annotationSSHKeys), template.Annotations[annotationSSHKeys])
	}
	at = at.child("spec")
	spec := &template.Spec
	if spec.Location != nil {
		p.forbidden(at.child("location"), *spec.Location, "follows from the city")
	}
	if spec.Controller != nil {
		p.forbidden(at.child("controller"), *spec.Controller, "is set by the add-on")
	}
	volumes := p.volumes(at.child("volumes"), spec.Volumes)
	p.dataNames(at, spec)
	p.runtime(at.child("runtime"), &spec.Runtime, volumes)
	p.unattached(at.child("volumes"), spec.Volumes, volumes)
	p.networkInterfaces(at.child("networkInterfaces"), spec.NetworkInterfaces, &spec.Runtime)
}

// metadata validates labels and annotations, and reports keys that only the add-on may set.
func (p *problems) metadata(at place, meta *metav1.ObjectMeta) {
	labels := at.child("labels")
	for _, key := range slices.Sorted(maps.Keys(meta.Labels)) {
		item := labels.entry(key)
		p.messages(item, key, validation.IsQualifiedName(key))
		p.messages(item, meta.Labels[key], validation.IsValidLabelValue(meta.Labels[key]))
		if strings.HasPrefix(key, reserved) {
			p.forbidden(item, meta.Labels[key], "is set by the add-on")
		}
	}
	annotations := at.child("annotations")
	for _, key := range slices.Sorted(maps.Keys(meta.Annotations)) {
		item := annotations.entry(key)
		// Unlike keys of labels, keys of annotations may have upper case letters in the prefix.
		p.messages(item, key, validation.IsQualifiedName(strings.ToLower(key)))
		if strings.HasPrefix(key, reserved) && key != annotationSSHKeys && key != v1alpha.AnnotationRestartedAt {
			p.forbidden(item, meta.Annotations[key], "is set by the add-on")
		}
	}
	if apivalidation.ValidateAnnotationsSize(meta.Annotations) != nil {
		p.add(annotations, "", field.TooLong(annotations.path, "", apivalidation.TotalAnnotationSizeLimitB))
	}
}

func (p *problems) runtime(at place, runtime *v1alpha.InstanceRuntimeSpec, volumes *volumes) {
	resources := at.child("resources")
	p.sizes(resources.child("requests"), runtime.Resources.Requests)
	if runtime.Class != "" {
		p.label(at.child("class"), runtime.Class)
	}
	switch {
	case runtime.Sandbox == nil && runtime.VirtualMachine == nil:
		p.required(at, "must have exactly one of sandbox and virtualMachine")
	case runtime.Sandbox != nil && runtime.VirtualMachine != nil:
		p.forbidden(at.child("virtualMachine"), "", "must have exactly one of sandbox and virtualMachine")
	}
	if runtime.Sandbox != nil {
		p.sandbox(at.child("sandbox"), runtime.Sandbox, volumes)
		p.limitsSum(resources.child("requests"), runtime.Resources.Requests, runtime.Sandbox)
	}
	if runtime.VirtualMachine != nil {
		p.virtualMachine(at.child("virtualMachine"), runtime.VirtualMachine, volumes)
	}
}

func (p *problems) virtualMachine(at place, machine *v1alpha.VirtualMachineRuntime, volumes *volumes) {
	attachments := at.child("volumeAttachments")
	if len(machine.VolumeAttachments) == 0 {
		p.required(attachments, "must have a disk to boot from")
	}
	names, paths := sets.New[string](), sets.New[string]()
	for i := range machine.VolumeAttachments {
		attachment := &machine.VolumeAttachments[i]
		item := attachments.item(i, attachment.Name)
		p.unique(item.child("name"), names, attachment.Name)
		volume := p.attach(item, attachment, volumes)
		if attachment.ReadOnly {
			p.forbidden(item.child("readOnly"), true, "only containers support it")
		}
		if attachment.SubPath != "" {
			p.forbidden(item.child("subPath"), attachment.SubPath, "only containers support it")
		}
		if attachment.MountPath != nil {
			p.mountPath(item.child("mountPath"), *attachment.MountPath, paths)
		}
		if volume != nil {
			p.machineDisk(item, attachment, volume, i == 0)
		}
	}
	p.ports(at.child("ports"), machine.Ports)
}

// machineDisk validates the disk that a virtual machine attaches.
func (p *problems) machineDisk(at place, attachment *v1alpha.VolumeAttachment, volume *v1alpha.InstanceVolume, first bool) {
	switch {
	case volume.Disk == nil:
		p.invalid(at.child("name"), attachment.Name, "must be a disk: a virtual machine attaches no other volumes")
	case first && !bootable(volume.Disk):
		p.invalid(at.child("name"), attachment.Name, "the first disk must be bootable: populated from an image")
	case !first && mountable(volume.Disk) && attachment.MountPath == nil:
		p.required(at.child("mountPath"), "must be set for a disk with a filesystem")
	}
}

// SuspensionAdvice is the alternative to setting v1alpha.AnnotationSuspended.
const SuspensionAdvice = "has no effect; to stop what a project runs, suspend the project itself"

// Annotations returns the problems of a Workload's annotations. before is as in Workload.
func Annotations(workload, before *v1alpha.Workload) field.ErrorList {
	if before == nil {
		before = &v1alpha.Workload{}
	}
	if !Suspends(workload, before) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("metadata", "annotations").Key(v1alpha.AnnotationSuspended), SuspensionAdvice)}
}

// Suspends reports whether an object has v1alpha.AnnotationSuspended and the stored object did not.
func Suspends(object, before metav1.Object) bool {
	_, now := object.GetAnnotations()[v1alpha.AnnotationSuspended]
	_, then := before.GetAnnotations()[v1alpha.AnnotationSuspended]
	return now && !then
}
