// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"iter"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// item identifies a named object by its hub namespace, kind and name.
type item struct {
	hubNamespace string
	templates.DataObject
}

// onHub returns the name of the object's copy.
func (i item) onHub() types.NamespacedName {
	return types.NamespacedName{Namespace: i.hubNamespace, Name: i.Name}
}

// nameIn returns the name of the object in a namespace of the project.
func (i item) nameIn(namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: i.Name}
}

// deployment is a WorkloadDeployment of the project.
type deployment struct {
	original *v1alpha.WorkloadDeployment
	// copied is the deployment on the hub; nil while it does not exist there, or while either deployment is being
	// deleted.
	copied *v1alpha.WorkloadDeployment
	// silent: a cell has no report on the copy, or the hub has no copy.
	silent bool
	// hubNamespace is the namespace of its copy and of the copies of the objects that it names; "" while it is
	// undecided.
	hubNamespace string
	// named maps each object that the template names to whether Instances need it.
	named map[templates.DataObject]bool
	// differing are its objects whose content in a cell differs.
	differing differing
}

// object is an object that one or more deployments name.
type object struct {
	item
	// owners are references to the hub's deployments that name it.
	owners []metav1.OwnerReference
	// wanted: a deployment whose data is within the limits names it.
	wanted bool
	// unknown: the object could not be read in this reconcile.
	unknown bool
	// workloads are the UIDs of the Workloads that need it, if it is a snapshot, and present: it is on the hub as it should
	// be.
	workloads []types.UID
	present   bool
	// claimedBy is the policy of another party that propagates the copy; "": none does.
	claimedBy string
	finding
}

// namedBy maps each object that templates name to whether Instances need it.
func namedBy(all []*v1alpha.InstanceTemplateSpec) map[templates.DataObject]bool {
	named := map[templates.DataObject]bool{}
	for _, template := range all {
		needed, optional := templates.DataObjects(&template.Spec)
		for _, dataObject := range optional {
			if _, found := named[dataObject]; !found {
				named[dataObject] = false
			}
		}
		for _, dataObject := range needed {
			named[dataObject] = true
		}
	}
	return named
}

// collect returns the objects that deployments name, owned by the hub's deployments that name them.
func collect(deployments []*deployment) map[item]*object {
	objects := map[item]*object{}
	for _, d := range deployments {
		if d.hubNamespace == "" {
			continue
		}
		for dataObject := range d.named {
			key := item{d.hubNamespace, dataObject}
			if objects[key] == nil {
				objects[key] = &object{item: key}
			}
			if d.copied != nil {
				objects[key].owners = append(objects[key].owners, d.copied.OwnerReference())
			}
			objects[key].workloads = append(objects[key].workloads, types.UID(d.original.Labels[v1alpha.LabelWorkloadUID]))
		}
	}
	for _, o := range objects {
		slices.SortFunc(o.owners, func(a, b metav1.OwnerReference) int { return strings.Compare(a.Name, b.Name) })
	}
	return objects
}

// inOrder sorts objects by kind and name, so that every reconcile has the same order.
func inOrder(objects iter.Seq[*object]) []*object {
	return slices.SortedFunc(objects, func(a, b *object) int { return a.Compare(b.DataObject) })
}

// objectsIn returns the objects that a deployment names.
func (d *deployment) objectsIn(objects map[item]*object) iter.Seq[*object] {
	return func(yield func(*object) bool) {
		for dataObject := range d.named {
			if o := objects[item{d.hubNamespace, dataObject}]; o != nil && !yield(o) {
				return
			}
		}
	}
}

// fit leaves out the data that only the earlier template of a rollout names, if the data of both templates exceeds the
// limit: the earlier template must not block the data of the newest one. Its snapshots stay.
func (d *deployment) fit(objects map[item]*object) {
	if d.original.Spec.Partition == nil || d.together(objects) <= maxTogether {
		return
	}
	newest := d.newest()
	maps.DeleteFunc(d.named, func(dataObject templates.DataObject, _ bool) bool {
		_, isNewest := newest[dataObject]
		_, isSnapshot := templates.ParseSnapshot(dataObject)
		return !isNewest && !isSnapshot
	})
}

// newest maps the objects that the newest template names to whether Instances need them.
func (d *deployment) newest() map[templates.DataObject]bool {
	return namedBy([]*v1alpha.InstanceTemplateSpec{&d.original.Spec.Template})
}

// together returns the size in bytes of the objects that a deployment names. Snapshots of the earlier template do not
// count: the newest data may be as large as the earlier one.
func (d *deployment) together(objects map[item]*object) int {
	sum, newest := 0, d.newest()
	for o := range d.objectsIn(objects) {
		_, isNewest := newest[o.DataObject]
		if _, isSnapshot := templates.ParseSnapshot(o.DataObject); isNewest || !isSnapshot {
			sum += o.bytes
		}
	}
	return sum
}
