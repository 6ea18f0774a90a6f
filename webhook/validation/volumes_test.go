// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestVolumes(t *testing.T) {
	first := volumePath + "[0]"
	rename := func(name string) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			volume(w, 0).Name = name
			container(w).VolumeAttachments[0].Name = name
		}
	}
	checkRules(t, []rule{
		{"name", nil, rename(strings.Repeat("a", 63)), nil},
		{"wrong name", nil, rename("Config"), []string{first + ".name " + invalid}},
		{"no name", nil, rename(""), []string{first + ".name " + required, containerPath + "volumeAttachments[0].name " + required}},
		{"same name", nil, func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Volumes = append(w.Spec.Template.Spec.Volumes, *volume(w, 0).DeepCopy())
		}, []string{volumePath + "[3].name " + duplicate}},
		{"attached nowhere", nil, func(w *v1alpha.Workload) {
			container(w).VolumeAttachments = container(w).VolumeAttachments[1:]
		}, []string{first + ".name " + invalid}},
		{"no source", nil, func(w *v1alpha.Workload) { volume(w, 0).ConfigMap = nil }, []string{first + " " + required}},
		{
			"two sources", nil, func(w *v1alpha.Workload) { volume(w, 0).Secret = &corev1.SecretVolumeSource{SecretName: "a"} },
			[]string{first + ".secret " + forbidden},
		},
		{"no ConfigMap", nil, func(w *v1alpha.Workload) { volume(w, 0).ConfigMap.Name = "" }, []string{first + ".configMap.name " + required}},
		{
			"wrong ConfigMap", nil, func(w *v1alpha.Workload) { volume(w, 0).ConfigMap.Name = "a/b" },
			[]string{first + ".configMap.name " + invalid},
		},
		{
			"no Secret", nil, func(w *v1alpha.Workload) { volume(w, 1).Secret.SecretName = "" },
			[]string{volumePath + "[1].secret.secretName " + required},
		},
		{
			"wrong Secret", nil, func(w *v1alpha.Workload) { volume(w, 1).Secret.SecretName = "A" },
			[]string{volumePath + "[1].secret.secretName " + invalid},
		},
	})
}

func TestItems(t *testing.T) {
	items := volumePath + "[0].configMap.items"
	set := func(item corev1.KeyToPath) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { volume(w, 0).ConfigMap.Items[0] = item }
	}
	to := func(path string) func(w *v1alpha.Workload) { return set(corev1.KeyToPath{Key: "a", Path: path}) }
	checkRules(t, []rule{
		{"defaultMode 0777", nil, func(w *v1alpha.Workload) { volume(w, 0).ConfigMap.DefaultMode = new(int32(0o777)) }, nil},
		{
			"defaultMode 01000", nil, func(w *v1alpha.Workload) { volume(w, 0).ConfigMap.DefaultMode = new(int32(0o1000)) },
			[]string{volumePath + "[0].configMap.defaultMode " + invalid},
		},
		{
			"defaultMode -1", nil, func(w *v1alpha.Workload) { volume(w, 1).Secret.DefaultMode = new(int32(-1)) },
			[]string{volumePath + "[1].secret.defaultMode " + invalid},
		},
		{"mode 0", nil, set(corev1.KeyToPath{Key: "a", Path: "a", Mode: new(int32(0))}), nil},
		{"mode 512", nil, set(corev1.KeyToPath{Key: "a", Path: "a", Mode: new(int32(512))}), []string{items + "[0].mode " + invalid}},
		{"no key", nil, set(corev1.KeyToPath{Path: "a"}), []string{items + "[0].key " + required}},
		{"wrong key", nil, set(corev1.KeyToPath{Key: "a/b", Path: "a"}), []string{items + "[0].key " + invalid}},
		{"path", nil, to("a/b..c"), nil},
		{"no path", nil, to(""), []string{items + "[0].path " + required}},
		{"absolute path", nil, to("/a"), []string{items + "[0].path " + invalid}},
		{"path with ..", nil, to("a/../b"), []string{items + "[0].path " + invalid}},
		{"path of the node", nil, to("..data/a"), []string{items + "[0].path " + invalid}},
		{"same path", nil, func(w *v1alpha.Workload) {
			source := volume(w, 0).ConfigMap
			source.Items = append(source.Items, corev1.KeyToPath{Key: "b", Path: "a//mode"})
		}, []string{items + "[1].path " + duplicate}},
		{"items of a Secret", nil, func(w *v1alpha.Workload) {
			volume(w, 1).Secret.Items = []corev1.KeyToPath{{Key: "a", Path: "../a"}}
		}, []string{volumePath + "[1].secret.items[0].path " + invalid}},
	})
}

func TestDisks(t *testing.T) {
	disks := volumePath + "[2].disk."
	storage := disks + "template.spec.resources.requests[storage] "
	is := func(disk *v1alpha.DiskVolumeSource) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { volume(w, 2).Disk = disk }
	}
	changed := func(change func(disk *v1alpha.DiskVolumeSource)) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { change(volume(w, 2).Disk) }
	}
	checkRules(t, []rule{
		{"10Gi", nil, is(filesystemDisk("10Gi")), nil},
		{"100Gi", nil, is(filesystemDisk("100Gi")), nil},
		{"10Gi in other words", nil, is(filesystemDisk("10737418240")), nil},
		{"9Gi", nil, is(filesystemDisk("9Gi")), []string{storage + invalid}},
		{"101Gi", nil, is(filesystemDisk("101Gi")), []string{storage + invalid}},
		{"10G", nil, is(filesystemDisk("10G")), []string{storage + invalid}},
		{"10.5Gi", nil, is(filesystemDisk("10.5Gi")), []string{storage + invalid}},
		{"a little over 10Gi", nil, is(filesystemDisk("10737418240500m")), []string{storage + invalid}},
		{"-10Gi", nil, is(filesystemDisk("-10Gi")), []string{storage + invalid}},
		{"25Gi from an image", nil, is(imageDisk("25Gi")), nil},
		{"24Gi from an image", nil, is(imageDisk("24Gi")), []string{storage + invalid}},
		{"no size", nil, changed(func(d *v1alpha.DiskVolumeSource) { d.Template.Spec.Resources = nil }), []string{storage + required}},
		{"no size from an image", nil, func(w *v1alpha.Workload) {
			volume(w, 2).Disk = imageDisk("25Gi")
			volume(w, 2).Disk.Template.Spec.Resources.Requests = nil
		}, nil},
		{
			"no template", nil, is(&v1alpha.DiskVolumeSource{}),
			[]string{disks + "template " + required, containerPath + "volumeAttachments[2].name " + invalid},
		},
		{"pd-standard", nil, changed(func(d *v1alpha.DiskVolumeSource) { d.Template.Spec.Type = "pd-standard" }), nil},
		{
			"other type", nil, changed(func(d *v1alpha.DiskVolumeSource) { d.Template.Spec.Type = "pd-ssd" }),
			[]string{disks + "template.spec.type " + unsupported},
		},
		{
			"no populator", nil, changed(func(d *v1alpha.DiskVolumeSource) { d.Template.Spec.Populator = &v1alpha.DiskPopulator{} }),
			[]string{disks + "template.spec.populator " + required, containerPath + "volumeAttachments[2].name " + invalid},
		},
		{"two populators", nil, changed(func(d *v1alpha.DiskVolumeSource) {
			d.Template.Spec.Resources.Requests = resources("storage", "25Gi")
			d.Template.Spec.Populator.Image = &v1alpha.ImageDiskPopulator{Name: "a"}
		}), []string{disks + "template.spec.populator.filesystem " + forbidden}},
		{
			"other filesystem", nil, changed(func(d *v1alpha.DiskVolumeSource) { d.Template.Spec.Populator.Filesystem.Type = "xfs" }),
			[]string{disks + "template.spec.populator.filesystem.type " + unsupported},
		},
		{"no image", nil, func(w *v1alpha.Workload) {
			volume(w, 2).Disk = imageDisk("25Gi")
			volume(w, 2).Disk.Template.Spec.Populator.Image.Name = ""
		}, []string{disks + "template.spec.populator.image.name " + required}},
		{"image with a blank", nil, func(w *v1alpha.Workload) {
			volume(w, 2).Disk = imageDisk("25Gi")
			volume(w, 2).Disk.Template.Spec.Populator.Image.Name = "a "
		}, []string{disks + "template.spec.populator.image.name " + invalid}},
		{"labels", nil, changed(func(d *v1alpha.DiskVolumeSource) {
			d.Template.ObjectMeta = metav1.ObjectMeta{Labels: map[string]string{"a/b/c": ""}}
		}), []string{disks + "template.metadata.labels[a/b/c] " + invalid}},
		{
			"empty device name", nil, changed(func(d *v1alpha.DiskVolumeSource) { d.DeviceName = new("") }),
			[]string{disks + "deviceName " + invalid},
		},
	})
	device := func(names ...string) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			for i, name := range names {
				volume(w, i).Disk.DeviceName = new(name)
			}
		}
	}
	checkRules(t, []rule{
		{"device names", machine, device("a", "b"), nil},
		{"same device name", machine, device("a", "a"), []string{volumePath + "[1].disk.deviceName " + duplicate}},
	})
}
