// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// AbsentData is the hash of an optional object that does not exist. No content has it.
const AbsentData = "0000000000000000"

const (
	// snapshotMark separates the name of an object from the hash of its content in the name of a snapshot.
	snapshotMark = ".snapshot-"
	// maxName is the longest name of an object in bytes.
	maxName = 253
	// MaxSnapshotted is the longest name of an object that has snapshots, in bytes.
	MaxSnapshotted = maxName - len(snapshotMark) - len(AbsentData)
	// MaxRollingData is how many objects of a template may have policy Rollout.
	MaxRollingData = 64
)

// snapshotPattern matches the name of a snapshot: the name of the object, and the hash of its content.
var snapshotPattern = regexp.MustCompile(`^(.+)\.snapshot-([0-9a-v]{16})$`)

// encoding has only characters that the name of an object may have.
var encoding = base32.HexEncoding.WithPadding(base32.NoPadding)

// SnapshotName is the name of the snapshot of an object. It is derived from the content: no object records it.
func SnapshotName(name, hash string) string { return name + snapshotMark + hash }

// ParseSnapshot returns the object and the hash that the name of a snapshot is derived from; ok is false for the name of
// another object.
func ParseSnapshot(object DataObject) (version v1alpha.DataVersion, ok bool) {
	parts := snapshotPattern.FindStringSubmatch(object.Name)
	if parts == nil {
		return version, false
	}
	return v1alpha.DataVersion{Kind: object.Kind, Name: parts[1], Hash: parts[2]}, true
}

// DataKey derives the key of the hash of an object in a project from a secret of the hub. It reveals neither the secret nor
// other keys. An object that is deleted and created again has the same one.
func DataKey(secret []byte, projectUID, namespace string, object DataObject) string {
	hasher := hmac.New(sha256.New, secret)
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write(framed(projectUID, namespace, object.Kind, object.Name))
	return encoding.EncodeToString(hasher.Sum(nil))
}

// HashData returns the hash of the content of a ConfigMap or Secret. It appears where its readers are not the readers of
// the object: without the key they cannot try contents.
func HashData(key string, text map[string]string, binary map[string][]byte) string {
	hasher := hmac.New(sha256.New, []byte(key))
	for _, name := range slices.Sorted(maps.Keys(text)) {
		_, _ = hasher.Write(framed("text", name, text[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(binary)) {
		_, _ = hasher.Write(framed("binary", name, string(binary[name])))
	}
	return short(hasher.Sum(nil))
}

// framed joins texts so that different ones stay different.
func framed(texts ...string) []byte {
	var result []byte
	for _, text := range texts {
		result = append(binary.BigEndian.AppendUint64(result, uint64(len(text))), text...)
	}
	return result
}

// RollingData returns the objects that a template names and whose content is part of the revision, by kind and name, each
// with whether Instances start without it. Secrets of image pulls are not among them: they are used at each pull, and no
// container is started with them.
func RollingData(rollout *v1alpha.WorkloadRollout, template *v1alpha.InstanceTemplateSpec) map[DataObject]bool {
	if !rollout.RollsOutData() {
		return nil
	}
	optional := map[DataObject]bool{}
	for _, reference := range dataOfContainers(&template.Spec) {
		object := DataObject{reference.Kind, reference.Name}
		if object.Name == "" || !rollout.OnDataChange.Names(object.Kind, object.Name) {
			continue
		}
		before, found := optional[object]
		optional[object] = reference.Optional && (before || !found)
	}
	return optional
}

// dataOfContainers are all references of a spec but the ones to the Secrets of image pulls.
func dataOfContainers(spec *v1alpha.InstanceSpec) []DataReference {
	references := DataReferences(spec, nil)
	if spec.Runtime.Sandbox != nil {
		references = references[len(spec.Runtime.Sandbox.ImagePullSecrets):]
	}
	return references
}

// WithSnapshots returns the template that names the snapshots of objects. The template itself is not changed.
func WithSnapshots(template *v1alpha.InstanceTemplateSpec, data []v1alpha.DataVersion) *v1alpha.InstanceTemplateSpec {
	names := map[DataObject]string{}
	for _, version := range data {
		names[DataObject{version.Kind, version.Name}] = SnapshotName(version.Name, version.Hash)
	}
	return renamed(template, func(object DataObject) string { return cmp.Or(names[object], object.Name) })
}

// WithoutSnapshots returns the template as the consumer writes it, and the data that it is started with, by kind and name.
func WithoutSnapshots(template *v1alpha.InstanceTemplateSpec) (*v1alpha.InstanceTemplateSpec, []v1alpha.DataVersion) {
	var data []v1alpha.DataVersion
	written := renamed(template, func(object DataObject) string {
		version, ok := ParseSnapshot(object)
		if !ok {
			return object.Name
		}
		data = append(data, version)
		return version.Name
	})
	slices.SortFunc(data, CompareData)
	return written, slices.Compact(data)
}

// CompareData orders versions by kind and name.
func CompareData(a, b v1alpha.DataVersion) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Hash, b.Hash))
}

// renamed returns a copy of a template with other names of ConfigMaps and Secrets, but for the ones of image pulls.
func renamed(template *v1alpha.InstanceTemplateSpec, rename func(DataObject) string) *v1alpha.InstanceTemplateSpec {
	copied := template.DeepCopy()
	find := func(kind string, name *string) { *name = rename(DataObject{kind, *name}) }
	for _, container := range copied.Spec.Runtime.Sandbox.AllContainers() {
		renameEnvironment(container, find)
	}
	for i := range copied.Spec.Volumes {
		if source := copied.Spec.Volumes[i].ConfigMap; source != nil {
			find(KindConfigMap, &source.Name)
		}
		if source := copied.Spec.Volumes[i].Secret; source != nil {
			find(KindSecret, &source.SecretName)
		}
	}
	return copied
}

func renameEnvironment(container *v1alpha.SandboxContainer, replace func(kind string, name *string)) {
	for i := range container.Env {
		source := container.Env[i].ValueFrom
		if source == nil {
			source = &corev1.EnvVarSource{}
		}
		if key := source.ConfigMapKeyRef; key != nil {
			replace(KindConfigMap, &key.Name)
		}
		if key := source.SecretKeyRef; key != nil {
			replace(KindSecret, &key.Name)
		}
	}
	for i := range container.EnvFrom {
		if source := container.EnvFrom[i].ConfigMapRef; source != nil {
			replace(KindConfigMap, &source.Name)
		}
		if source := container.EnvFrom[i].SecretRef; source != nil {
			replace(KindSecret, &source.Name)
		}
	}
}

// StartedWith returns the template of a Workload with the names of its snapshots, and the objects whose content is not
// known yet. Without policy Rollout it is the template itself.
func StartedWith(workload *v1alpha.Workload) (*v1alpha.InstanceTemplateSpec, []DataObject) {
	template := &workload.Spec.Template
	rolling := RollingData(workload.Spec.Rollout, template)
	if len(rolling) == 0 {
		return template, nil
	}
	var known []v1alpha.DataVersion
	if workload.Status.Data != nil {
		known = slices.DeleteFunc(slices.Clone(workload.Status.Data.Objects), func(v v1alpha.DataVersion) bool {
			_, named := rolling[DataObject{v.Kind, v.Name}]
			return !named
		})
	}
	for _, version := range known {
		delete(rolling, DataObject{version.Kind, version.Name})
	}
	return WithSnapshots(template, known), sortedObjects(slices.Collect(maps.Keys(rolling)))
}
