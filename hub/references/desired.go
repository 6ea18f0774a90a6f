// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

const (
	// maxObject is how much one object may hold, in bytes.
	maxObject = 256 << 10
	// maxTogether is how much all objects that one deployment names may hold, in bytes.
	maxTogether = 1 << 20
	// rootCA is the ConfigMap that Kubernetes keeps in each namespace of each cluster, with another content in each.
	rootCA = "kube-root-ca.crt"
)

// reference names an object in the namespace of a deployment.
type reference struct{ kind, name string }

// item is an object by its place on the hub.
type item struct{ hubNamespace, kind, name string }

// finding is what is wrong with an object in the project, and how much it holds. The zero value is that of an object
// that can be carried.
type finding struct {
	// reason is why the object cannot be carried, or empty.
	reason string
	// message says what is wrong and what to do.
	message string
	// bytes is how much the object holds.
	bytes int
}

// deployment is a WorkloadDeployment of the project.
type deployment struct {
	original *v1alpha.WorkloadDeployment
	// copied is the deployment on the hub; nil while it is not there, or one of both is going.
	copied *v1alpha.WorkloadDeployment
	// hubNamespace is where its copy and what it names belong; empty while that is not decided.
	hubNamespace string
	// named says of each object that the template names whether Instances need it.
	named map[reference]bool
}

// object is what one or more deployments name.
type object struct {
	item
	// owners are the hub's deployments that name it.
	owners []metav1.OwnerReference
	// wanted says that a deployment whose data is within bounds names it.
	wanted bool
	// unknown says that the object could not be read just now.
	unknown bool
	finding
}

// namedBy says of each object that a template names whether Instances need it.
func namedBy(spec *v1alpha.InstanceSpec) map[reference]bool {
	named := map[reference]bool{}
	for _, data := range v1alpha.DataReferences(spec, nil) {
		if data.Name != "" {
			one := reference{data.Kind, data.Name}
			named[one] = named[one] || !data.Optional
		}
	}
	return named
}

// collect are the objects that deployments name, each with those of the hub's deployments that name it.
func collect(deployments []*deployment) map[item]*object {
	objects := map[item]*object{}
	for _, d := range deployments {
		if d.hubNamespace == "" {
			continue
		}
		for one := range d.named {
			key := item{d.hubNamespace, one.kind, one.name}
			if objects[key] == nil {
				objects[key] = &object{item: key}
			}
			if d.copied != nil {
				objects[key].owners = append(objects[key].owners, ownerReference(d.copied))
			}
		}
	}
	for _, o := range objects {
		slices.SortFunc(o.owners, func(a, b metav1.OwnerReference) int { return strings.Compare(a.Name, b.Name) })
	}
	return objects
}

func ownerReference(copied *v1alpha.WorkloadDeployment) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: v1alpha.GroupVersion.String(), Kind: "WorkloadDeployment", Name: copied.Name, UID: copied.UID,
	}
}

// inOrder are objects by kind and name, so that every look is the same.
func inOrder(objects iter.Seq[*object]) []*object {
	return slices.SortedFunc(objects, func(a, b *object) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
}

// of are those of the objects that a deployment names.
func (d *deployment) of(objects map[item]*object) iter.Seq[*object] {
	return func(yield func(*object) bool) {
		for one := range d.named {
			if o := objects[item{d.hubNamespace, one.kind, one.name}]; o != nil && !yield(o) {
				return
			}
		}
	}
}

// together is how much the objects that a deployment names hold.
func (d *deployment) together(objects map[item]*object) int {
	sum := 0
	for o := range d.of(objects) {
		sum += o.bytes
	}
	return sum
}

// examine says whether an object of the project can be carried. What it holds must not be in the answer.
func examine(source client.Object) finding {
	kind := kindOf(source)
	held := contentOf(source)
	switch {
	case source.GetName() == rootCA && kind == v1alpha.KindConfigMap:
		return finding{reason: v1alpha.ReasonSourceRefused, message: fmt.Sprintf(
			"ConfigMap %s is kept by every cluster for itself and is not carried to cells; name a ConfigMap of your own", rootCA)}
	case held.secretType == corev1.SecretTypeServiceAccountToken:
		return finding{reason: v1alpha.ReasonSourceRefused, message: fmt.Sprintf(
			"Secret %s has type %s, which means something in its own cluster alone, and is not carried to cells; name a Secret of another type",
			source.GetName(), held.secretType)}
	case held.size() > maxObject:
		return finding{bytes: held.size(), reason: v1alpha.ReasonSourceTooLarge, message: fmt.Sprintf(
			"%s %s holds %d bytes and at most %d are carried to cells; make it smaller or split it", kind, source.GetName(), held.size(), maxObject)}
	}
	return finding{bytes: held.size()}
}

func missing(kind, name, namespace string) finding {
	return finding{reason: v1alpha.ReasonSourceNotFound, message: fmt.Sprintf(
		"%s %s does not exist in namespace %s of the project; create it", kind, name, namespace)}
}

func unreadable(kind, name, namespace string) finding {
	return finding{reason: v1alpha.ReasonSourceUnauthorized, message: fmt.Sprintf(
		"the add-on may not read %s %s in namespace %s of the project; let it get, list and watch %ss",
		kind, name, namespace, strings.ToLower(kind))}
}

func foreign(i item) finding {
	return finding{reason: v1alpha.ReasonSourceRefused, message: fmt.Sprintf(
		"the hub has a %s %s in namespace %s that is not the add-on's and is not overwritten; rename yours, or have that one removed",
		i.kind, i.name, i.hubNamespace)}
}

// content is what a ConfigMap or Secret holds.
type content struct {
	text       map[string]string
	binary     map[string][]byte
	secretType corev1.SecretType
	immutable  *bool
}

// contentOf is what a ConfigMap or Secret holds, not copied.
func contentOf(obj client.Object) content {
	switch obj := obj.(type) {
	case *corev1.ConfigMap:
		return content{text: obj.Data, binary: obj.BinaryData, immutable: obj.Immutable}
	case *corev1.Secret:
		return content{binary: obj.Data, secretType: obj.Type, immutable: obj.Immutable}
	}
	return content{}
}

// size is how many bytes keys and values have.
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
		return v1alpha.KindSecret
	}
	return v1alpha.KindConfigMap
}

func newObject(kind string) client.Object {
	if kind == v1alpha.KindSecret {
		return &corev1.Secret{}
	}
	return &corev1.ConfigMap{}
}

// desiredCopy is the hub's copy of an object of the project. Labels, annotations and finalizers of the original stay
// behind: on the hub they would mean something else. So does that it is immutable: a copy is changed by its original
// alone, and an original that is deleted and made again with other data can then be followed without a gap.
func desiredCopy(source client.Object, o *object, labels, annotations map[string]string) client.Object {
	metadata := metav1.ObjectMeta{
		Name: o.name, Namespace: o.hubNamespace, Labels: labels, Annotations: annotations, OwnerReferences: o.owners,
	}
	held := contentOf(source)
	if o.kind == v1alpha.KindSecret {
		return &corev1.Secret{ObjectMeta: metadata, Type: held.secretType, Data: held.binary}
	}
	return &corev1.ConfigMap{ObjectMeta: metadata, Data: held.text, BinaryData: held.binary}
}

// isOurs says whether an object on the hub is a copy that the add-on made.
func isOurs(onHub client.Object) bool { return onHub.GetLabels()[v1alpha.LabelProject] != "" }

// sameMetadata says whether a copy comes from where it should and goes with whom it should.
func sameMetadata(copied, desired client.Object) bool {
	return !apply.MetadataDiffers(copied, desired) && len(owners(copied)) == len(owners(desired))
}

// owners are the deployments that own a copy.
func owners(copied client.Object) []metav1.OwnerReference {
	return slices.DeleteFunc(slices.Clone(copied.GetOwnerReferences()), func(owner metav1.OwnerReference) bool {
		return owner.APIVersion != v1alpha.GroupVersion.String()
	})
}

func sameCopy(copied, desired client.Object) bool {
	return sameMetadata(copied, desired) && contentOf(copied).sameData(contentOf(desired)) &&
		contentOf(copied).secretType == contentOf(desired).secretType
}

// mustBeMadeAnew says whether no write can turn the copy into what it should be.
func mustBeMadeAnew(copied, desired client.Object) bool {
	before, after := contentOf(copied), contentOf(desired)
	sealed := before.immutable != nil && *before.immutable && !before.sameData(after)
	return sealed || before.secretType != after.secretType
}

// keeps says whether the copy of an object is to stay; nil: nobody names it.
func keeps(o *object) bool { return o != nil && o.reason != v1alpha.ReasonSourceNotFound }
