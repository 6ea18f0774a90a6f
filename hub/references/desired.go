// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"bytes"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// content holds the data of a ConfigMap or Secret.
type content struct {
	text       map[string]string
	binary     map[string][]byte
	secretType corev1.SecretType
	immutable  *bool
}

// contentOf returns the data of a ConfigMap or Secret, not copied.
func contentOf(obj client.Object) content {
	switch obj := obj.(type) {
	case *corev1.ConfigMap:
		return content{text: obj.Data, binary: obj.BinaryData, immutable: obj.Immutable}
	case *corev1.Secret:
		return content{binary: obj.Data, secretType: obj.Type, immutable: obj.Immutable}
	}
	return content{}
}

// size returns the size of keys and values in bytes.
func (c content) size() int {
	sum := 0
	for key, value := range c.text {
		sum += len(key) + len(value)
	}
	for key, value := range c.binary {
		sum += len(key) + len(value)
	}
	return sum
}

func (c content) sameData(other content) bool {
	return maps.Equal(c.text, other.text) && maps.EqualFunc(c.binary, other.binary, bytes.Equal)
}

func kindOf(obj client.Object) string {
	if _, ok := obj.(*corev1.Secret); ok {
		return templates.KindSecret
	}
	return templates.KindConfigMap
}

func newObject(kind string) client.Object {
	if kind == templates.KindSecret {
		return &corev1.Secret{}
	}
	return &corev1.ConfigMap{}
}

// desiredCopy returns the hub's copy of an object of the project. Labels, annotations and finalizers of the original
// are not copied: on the hub they would have another meaning. Nor is immutable: only the add-on changes a copy, so that
// an update, without a gap, can follow an original that is deleted and recreated with other data.
func desiredCopy(source client.Object, metadata metav1.ObjectMeta) client.Object {
	held := contentOf(source)
	if kindOf(source) == templates.KindSecret {
		return &corev1.Secret{ObjectMeta: metadata, Type: held.secretType, Data: held.binary}
	}
	return &corev1.ConfigMap{ObjectMeta: metadata, Data: held.text, BinaryData: held.binary}
}

// immutable returns the copy as a snapshot.
func immutable(copied client.Object) client.Object {
	switch copied := copied.(type) {
	case *corev1.ConfigMap:
		copied.Immutable = new(true)
	case *corev1.Secret:
		copied.Immutable = new(true)
	}
	return copied
}

func isImmutable(copied client.Object) bool {
	held := contentOf(copied)
	return held.immutable != nil && *held.immutable
}

// sameMetadata reports whether a copy has the desired labels and annotations, and exactly the desired deployments as
// owners.
func sameMetadata(copied, desired client.Object) bool {
	return !apply.MetadataDiffers(copied, desired) && len(deploymentsOwning(copied)) == len(deploymentsOwning(desired))
}

func deploymentsOwning(copied client.Object) []metav1.OwnerReference {
	return slices.DeleteFunc(slices.Clone(copied.GetOwnerReferences()), func(owner metav1.OwnerReference) bool {
		return owner.APIVersion != v1alpha.GroupVersion.String()
	})
}

func sameCopy(copied, desired client.Object) bool {
	return sameMetadata(copied, desired) && contentOf(copied).sameData(contentOf(desired)) &&
		contentOf(copied).secretType == contentOf(desired).secretType
}

// mustBeRecreated reports whether no update can turn the copy into the desired one.
func mustBeRecreated(copied, desired client.Object) bool {
	before, after := contentOf(copied), contentOf(desired)
	sealed := isImmutable(copied) && !before.sameData(after)
	return sealed || before.secretType != after.secretType
}

// keeps reports whether the copy of an object is kept. o is nil if no deployment names it.
func keeps(o *object) bool { return o != nil && o.reason != v1alpha.ReasonSourceNotFound }
