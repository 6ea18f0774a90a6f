// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Disagreement is an object that differs from the object that it follows from.
type Disagreement struct {
	// Plane of the object, for example "project/east", "hub" or "cell/dfw".
	Plane string
	// Object is the kind and the name.
	Object string
	// Problem stays the same while the object has the same fault.
	Problem string
	// Detail may change meanwhile.
	Detail string
	// Of is the version of the Workload, or the object, that the disagreement is about: a later version gives another
	// disagreement.
	Of string
}

// String returns the plane, the object and the fault.
func (d Disagreement) String() string {
	text := fmt.Sprintf("%s: %s %s", d.Plane, d.Object, d.Problem)
	if d.Detail != "" {
		text += " (" + d.Detail + ")"
	}
	return text
}

func (d Disagreement) compare(other Disagreement) int {
	return cmp.Or(cmp.Compare(d.Plane, other.Plane), cmp.Compare(d.Object, other.Object), cmp.Compare(d.Problem, other.Problem))
}

// Problems that are common to several kinds of objects.
const (
	missing  = "does not exist"
	deleting = "is being deleted, and should exist"
	leftover = "should not exist"
	leaving  = "is being deleted, and is still there"
)

// expectation is a deployment that follows from a Workload of the project.
type expectation struct {
	workload *v1alpha.Workload
	// of is the version of the Workload.
	of       string
	name     string
	city     string
	replicas int
	hash     string

	// The objects of the deployment; nil if an object does not exist or has another UID than expected.
	deployment *v1alpha.WorkloadDeployment
	copied     *v1alpha.WorkloadDeployment
	// cells are the cells that the binding names.
	cells []string
}

// instances returns the names of its Instances: the indices that the hub assigns to cells, which need not be the lowest
// in a city with several cells. While the hub assigns no indices or another number of them, instances returns the
// lowest indices.
func (e *expectation) instances() []string {
	if indices := e.assigned(); len(indices) == e.replicas {
		return e.names(indices)
	}
	indices := make([]int, e.replicas)
	for i := range indices {
		indices[i] = i
	}
	return e.names(indices)
}

// assigned returns the indices that the hub assigns to cells.
func (e *expectation) assigned() []int {
	var indices []int
	if e.copied == nil || e.copied.Spec.Assignment == nil {
		return nil
	}
	for i := range e.copied.Spec.Assignment.Cells {
		indices = append(indices, naming.Assigned(e.copied.Spec.Assignment, e.copied.Spec.Assignment.Cells[i].Name)...)
	}
	return indices
}

func (e *expectation) names(indices []int) []string {
	names := make([]string, len(indices))
	for i, index := range indices {
		names[i] = naming.InstanceName(e.name, index)
	}
	return names
}

// comparison is one comparison of a view.
type comparison struct {
	*View
	wanted   map[string]*Wanted
	expected []*expectation
	found    []Disagreement
}

// Compare returns the disagreements in a view: it compares the project with its consumer's wanted Workloads, by their
// names, and each plane with the previous one. The result is empty when all planes are settled.
func Compare(view *View, wanted map[string]*Wanted) ([]Disagreement, error) {
	c := &comparison{View: view, wanted: wanted}
	if err := c.expect(); err != nil {
		return nil, err
	}
	c.workloads()
	c.deployments()
	c.hub()
	c.instances()
	c.works()
	for _, cell := range c.cells() {
		c.cell(cell)
	}
	c.running()
	slices.SortFunc(c.found, Disagreement.compare)
	return c.found, nil
}

// add records a disagreement in a plane. The object is given as kind and name.
func (c *comparison) add(plane, object, of, problem string) {
	c.found = append(c.found, Disagreement{Plane: plane, Object: object, Problem: problem, Of: of})
}

func (c *comparison) inProject() string { return "project/" + c.Project }

// present reports whether an object exists and is not being deleted; if not, it records a disagreement.
func (c *comparison) present(plane, object, of string, there bool, deletion *metav1.Time) bool {
	switch {
	case !there:
		c.add(plane, object, of, missing)
	case deletion != nil:
		c.add(plane, object, of, deleting)
	default:
		return true
	}
	return false
}

// surplus records an object that should not exist.
func (c *comparison) surplus(plane, object string, found metav1.Object) {
	problem := leftover
	if found.GetDeletionTimestamp() != nil {
		problem = leaving
	}
	c.add(plane, object, string(found.GetUID()), problem)
}

// part is the comparison of a kind of objects in a plane.
type part struct {
	*comparison
	plane, kind string
}

// pairs records the expected objects that do not exist or are being deleted, and the objects that should not exist. It
// returns the others.
func pairs[T client.Object](c part, found map[string]T, expected map[string]*expectation) iter.Seq2[*expectation, T] {
	return func(yield func(*expectation, T) bool) {
		for name, e := range expected {
			object, there := found[name]
			var deletion *metav1.Time
			if there {
				deletion = object.GetDeletionTimestamp()
			}
			if c.present(c.plane, c.kind+" "+name, e.of, there, deletion) && !yield(e, object) {
				return
			}
		}
		for name, object := range found {
			if expected[name] == nil {
				c.surplus(c.plane, c.kind+" "+name, object)
			}
		}
	}
}

// byObject returns the expectations by the name of an object.
func (c *comparison) byObject(name func(*expectation) string) map[string]*expectation {
	expected := map[string]*expectation{}
	for _, e := range c.expected {
		expected[name(e)] = e
	}
	return expected
}

func ownName(e *expectation) string { return e.name }

// byInstance returns the expectations by the names of their Instances.
func (c *comparison) byInstance() map[string]*expectation {
	expected := map[string]*expectation{}
	for _, e := range c.expected {
		for _, name := range e.instances() {
			expected[name] = e
		}
	}
	return expected
}

// expect derives the deployments from the Workloads of the project.
func (c *comparison) expect() error {
	deployments := byName(c.Deployments)
	for i := range c.Workloads {
		w := &c.Workloads[i]
		if w.DeletionTimestamp != nil || c.wanted[w.Name] == nil {
			continue
		}
		hash, err := templates.Hash(&w.Spec.Template)
		if err != nil {
			return err
		}
		for _, placement := range w.Spec.Placements {
			for _, city := range placement.CityCodes {
				e := &expectation{
					workload: w, of: fmt.Sprintf("%s/%d", w.UID, w.Generation), name: naming.DeploymentName(w.Name, placement.Name, city),
					city: strings.ToUpper(city), replicas: int(placement.ScaleSettings.MinReplicas), hash: hash,
				}
				if d := deployments[e.name]; d != nil && d.DeletionTimestamp == nil && d.Spec.WorkloadRef.UID == w.UID {
					e.deployment = d
					if rollsOutData(w) {
						// Its template names snapshots of the data.
						if e.hash, err = templates.Hash(&d.Spec.Template); err != nil {
							return err
						}
					}
				}
				c.expected = append(c.expected, e)
			}
		}
	}
	return nil
}

func rollsOutData(w *v1alpha.Workload) bool {
	return w.Spec.Rollout != nil && w.Spec.Rollout.OnDataChange != nil && w.Spec.Rollout.OnDataChange.Policy == v1alpha.DataRollout
}

// workloads compares the Workloads with the ones that their consumer wants.
func (c *comparison) workloads() {
	workloads := byName(c.Workloads)
	for _, name := range slices.Sorted(maps.Keys(c.wanted)) {
		object, w := "Workload "+name, workloads[name]
		if c.wanted[name] == nil {
			continue
		}
		if w == nil {
			c.add(c.inProject(), object, "", missing)
			continue
		}
		of := fmt.Sprintf("%s/%d", w.UID, w.Generation)
		if !c.present(c.inProject(), object, of, true, w.DeletionTimestamp) {
			continue
		}
		if !c.wanted[name].matches(w) {
			c.add(c.inProject(), object, of, "is not what its consumer wants")
		}
		c.workloadStatus(w, of)
	}
	for name, w := range workloads {
		if c.wanted[name] == nil {
			c.surplus(c.inProject(), "Workload "+name, w)
		}
	}
}

// workloadStatus compares the status of a Workload with its spec.
func (c *comparison) workloadStatus(w *v1alpha.Workload, of string) {
	object, all, deployments := "Workload "+w.Name, int32(0), int32(0)
	for _, placement := range w.Spec.Placements {
		deployments += int32(len(placement.CityCodes))                               //nolint:gosec // at most 48
		all += int32(len(placement.CityCodes)) * placement.ScaleSettings.MinReplicas //nolint:gosec // at most 48
	}
	if w.Status.ObservedGeneration != w.Generation {
		c.add(c.inProject(), object, of, "has a status of an earlier generation")
	}
	if w.Status.Deployments != deployments || w.Status.ReplicaCounts != counts(all) {
		c.add(c.inProject(), object, of, "does not count all of its Instances as Ready and up to date")
	}
	if !meta.IsStatusConditionTrue(w.Status.Conditions, v1alpha.ConditionAvailable) {
		c.add(c.inProject(), object, of, "is not Available")
	}
	progressing := meta.FindStatusCondition(w.Status.Conditions, v1alpha.ConditionProgressing)
	if progressing != nil && (progressing.Status == metav1.ConditionTrue || progressing.Reason == v1alpha.ReasonProgressDeadlineExceeded) {
		c.add(c.inProject(), object, of, "is Progressing")
	}
}

// counts returns the counts of a settled deployment or Workload.
func counts(all int32) v1alpha.ReplicaCounts {
	return v1alpha.ReplicaCounts{
		Replicas: all, CurrentReplicas: all, DesiredReplicas: all, ReadyReplicas: all, AvailableReplicas: all,
		UpdatedReplicas: all, UpdatedAvailableReplicas: all,
	}
}

// deployments compares the project's deployments with the Workloads.
func (c *comparison) deployments() {
	for e, d := range pairs(part{c, c.inProject(), "WorkloadDeployment"}, byName(c.Deployments), c.byObject(ownName)) {
		object := "WorkloadDeployment " + e.name
		if e.deployment == nil {
			c.add(c.inProject(), object, e.of, "belongs to another Workload")
			continue
		}
		c.sameSpec(c.inProject(), e, d)
		if d.Status.ObservedGeneration != d.Generation {
			c.add(c.inProject(), object, e.of, "has a status of an earlier generation")
		}
		if d.Status.ReplicaCounts != counts(int32(e.replicas)) { //nolint:gosec // at most 1000
			c.add(c.inProject(), object, e.of, "does not count all of its Instances as Ready and up to date")
		}
		// An add-on that does not report whether a status is current has no such condition.
		if current := meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionStatusCurrent); current != nil &&
			current.Status != metav1.ConditionTrue {
			c.found = append(c.found, Disagreement{
				Plane: c.inProject(), Object: object, Of: e.of, Problem: "says that its status is not current",
				Detail: current.Reason + ": " + current.Message,
			})
		}
	}
}

// sameSpec compares the spec of a deployment or its copy with the wanted Workload.
func (c *comparison) sameSpec(plane string, e *expectation, d *v1alpha.WorkloadDeployment) {
	object := "WorkloadDeployment " + e.name
	if int(d.Spec.ScaleSettings.MinReplicas) != e.replicas {
		c.add(plane, object, e.of, "has another scale than its Workload")
	}
	// An object that cannot be encoded was not decoded from an API server.
	if hash, err := templates.Hash(&d.Spec.Template); err != nil || hash != e.hash {
		c.add(plane, object, e.of, "has another template than its Workload")
	}
}

// instances compares the project's Instances with the deployments.
func (c *comparison) instances() {
	for e, i := range pairs(part{c, c.inProject(), "Instance"}, byName(c.Instances), c.byInstance()) {
		if e.deployment != nil && !ownedBy(i.OwnerReferences, string(e.deployment.UID)) {
			c.add(c.inProject(), "Instance "+i.Name, e.of, "is owned by another deployment")
		}
		c.instance(c.inProject(), e, i)
	}
}

// instance compares an Instance, of the project or of a cell, with the wanted Workload.
func (c *comparison) instance(plane string, e *expectation, i *v1alpha.Instance) {
	object := "Instance " + i.Name
	if ready := meta.FindStatusCondition(i.Status.Conditions, v1alpha.ConditionReady); ready == nil || ready.Status != metav1.ConditionTrue {
		d := Disagreement{Plane: plane, Object: object, Of: e.of, Problem: "is not Ready"}
		if ready != nil {
			d.Detail = fmt.Sprintf("%s, %s: %s", ready.Status, ready.Reason, ready.Message)
		}
		c.found = append(c.found, d)
	}
	if i.Spec.Controller == nil || i.Spec.Controller.TemplateHash != e.hash {
		c.add(plane, object, e.of, "has another template than its Workload")
	}
	if i.Status.Controller == nil || i.Status.Controller.ObservedTemplateHash != e.hash {
		c.add(plane, object, e.of, "runs another template than its Workload's")
	}
}

func ownedBy(owners []metav1.OwnerReference, uid string) bool {
	return slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return string(o.UID) == uid })
}
