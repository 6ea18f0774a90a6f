// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Objects are the objects of a project that a State is read from.
type Objects struct {
	Workload *v1alpha.Workload
	// Template of the Workload and its Target.
	Template
	// Blocked: the instance type of the template is not usable: no deployment gets the template.
	Blocked bool
	// Deployments that the Workload wants.
	Deployments []Deployment
	// Budget is the disruption budget of the Workload; nil: it has none.
	Budget *Budget
	// Instance returns an Instance by its name; nil: it does not exist.
	Instance func(name string) (*v1alpha.Instance, error)
	Now      time.Time
}

// Template is the template of a Workload and the one that its Instances get.
type Template struct {
	// Written is the hash of the template of the Workload, and Target the hash of the template that its Instances get: an
	// undone rollout returns to the last complete template.
	Written, Target string
}

// Deployment is a deployment that a Workload wants.
type Deployment struct {
	// Existing is the deployment; nil: it does not exist yet.
	Existing *v1alpha.WorkloadDeployment
	// Scale are the scale settings that it should have.
	Scale v1alpha.HorizontalScaleSettings
}

// Budget holds the known facts of a Workload's disruption budget.
type Budget struct {
	// Minimum is how many Instances must stay Available, and Available is how many are, by deployment.
	Minimum   int32
	Available map[string]int32
}

// Available is how many Instances of a deployment count as Available for the budget: the first count excludes Instances
// whose state is unknown, the second one Instances that a report counts too early.
func Available(existing *v1alpha.WorkloadDeployment) int32 {
	return min(existing.Status.AvailableReplicas, existing.Status.FloorAvailable)
}

// Desired is how many Instances of a deployment should exist, which an autoscaler in the cells may decide. existing may
// be nil.
func Desired(scale *v1alpha.HorizontalScaleSettings, existing *v1alpha.WorkloadDeployment) int32 {
	spec := v1alpha.WorkloadDeploymentSpec{ScaleSettings: *scale}
	if existing == nil || !spec.Autoscaled() {
		return spec.DesiredReplicas()
	}
	return max(spec.DesiredReplicas(), min(existing.Status.DesiredReplicas, scale.MostReplicas()))
}

// Reading is a State and the deployments that it was read from.
type Reading struct {
	State State
	// Deployments in the order of State.Cities.
	Deployments []*v1alpha.WorkloadDeployment
	// Again is after what time additional Instances that have not started are late; 0: none may become late.
	Again time.Duration
}

// TemplateOf returns the template of a Workload, with its data, and its target.
func TemplateOf(workload *v1alpha.Workload) (Template, error) {
	started, unread := templates.StartedWith(workload)
	if len(unread) > 0 {
		return unreadTemplate(workload.Status.Rollout), nil
	}
	hash, err := templates.Hash(started)
	result := Template{Written: hash, Target: hash}
	before := workload.Status.Rollout
	if err != nil || before == nil {
		return result, err
	}
	if before.FailedTemplateHash == hash && before.CompleteTemplateHash != "" {
		result.Target = before.CompleteTemplateHash
	}
	return result, nil
}

// unreadTemplate is the template of a Workload whose newest template names data that is not read yet: the earlier one, if
// there is one.
func unreadTemplate(before *v1alpha.WorkloadRolloutStatus) Template {
	if before == nil {
		return Template{}
	}
	result := Template{Written: before.TemplateHash, Target: before.TemplateHash}
	if before.FailedTemplateHash == before.TemplateHash && before.CompleteTemplateHash != "" {
		result.Target = before.CompleteTemplateHash
	}
	return result
}

// Read returns the state of the rollout as the deployments have it.
func Read(o *Objects) (Reading, error) {
	spec, r := o.Workload.Spec.Rollout, Reading{}
	total, byName := 0, map[string]*v1alpha.WorkloadDeployment{}
	for i := range o.Deployments {
		d := &o.Deployments[i]
		if d.Existing == nil || !d.Existing.DeletionTimestamp.IsZero() {
			continue
		}
		city, err := r.city(o, d)
		if err != nil {
			return r, err
		}
		total += city.Desired
		byName[city.Name] = d.Existing
		r.State.Cities = append(r.State.Cities, city)
	}

	r.State.readSpec(o, total)
	r.State.readBudget(o)
	var order []string
	if spec != nil {
		order = spec.CityOrder
	}
	Sort(r.State.Cities, order)
	for i := range r.State.Cities {
		r.Deployments = append(r.Deployments, byName[r.State.Cities[i].Name])
	}
	return r, nil
}

// readSpec reads the settings of the rollout, for total Instances.
func (s *State) readSpec(o *Objects, total int) {
	spec := o.Workload.Spec.Rollout
	s.Target, s.Paused, s.CitiesAtOnce, s.MaxSurge = o.Target, o.Blocked, 1, SurgeSingle
	if before := o.Workload.Status.Rollout; before != nil {
		s.Proven = before.CompleteTemplateHash == s.Target
	}
	s.MaxUnavailable, s.Batch = spec.Unavailable(total), spec.BatchOf(total)
	if limit, explicit := spec.Surge(total); explicit {
		s.MaxSurge = limit
	}
	s.PauseAfter, s.PauseAfterFirst = spec.PauseAfterOf(total)
	s.Resumed = o.Workload.Annotations[v1alpha.AnnotationRolloutResumed] == o.Written || o.Target != o.Written ||
		s.Proven // What ran in all cities is not tried again: an undo would keep Instances with the template that it undoes.
	if spec != nil {
		s.Paused = s.Paused || spec.Paused
		s.CitiesAtOnce = int(ptr.Deref(spec.CitiesAtOnce, 1))
	}
}

// readBudget reads how many Available Instances the disruption budget lets be replaced.
func (s *State) readBudget(o *Objects) {
	if o.Budget == nil {
		return
	}
	available := int32(0)
	for _, count := range o.Budget.Available {
		available += count
	}
	s.NoSlack, s.Slack = available <= o.Budget.Minimum, int(max(0, available-o.Budget.Minimum))
	for i := range s.Cities {
		city := &s.Cities[i]
		if floor := o.Workload.Status.Disruption.FloorOf(city.Name); floor != nil {
			city.Slack = int(max(0, o.Budget.Available[city.Name]-floor.MinAvailable))
		}
	}
}

// city returns the state of a city from its deployment.
func (r *Reading) city(o *Objects, d *Deployment) (City, error) {
	existing, status := d.Existing, &d.Existing.Status
	version, err := templates.VersionOf(&existing.Spec.Template)
	if err != nil {
		return City{}, err
	}
	desired := v1alpha.WorkloadDeploymentSpec{ScaleSettings: d.Scale}
	city := City{
		Name: existing.Name, Code: cmp.Or(existing.Spec.CityCode, naming.CityLabel(existing.Spec.CityCode)), Template: version.Hash,
		Observed: status.ObservedGeneration == existing.Generation,
		Desired:  int(max(desired.DesiredReplicas(), ReportedDesired(existing))), Cells: len(status.Indices),
		Ordered:    d.Scale.InstanceManagementPolicy != v1alpha.Parallel,
		Autoscaled: desired.Autoscaled(),
		Unserved:   isUnserved(existing), Unreachable: meta.IsStatusConditionFalse(status.Conditions, v1alpha.ConditionStatusCurrent),
	}
	if p := existing.Spec.Partition; p != nil {
		stable, err := templates.Hash(&p.Template)
		if err != nil {
			return city, err
		}
		city.Partition = &Partition{Index: int(p.Index), Indices: naming.Format(naming.OfRanges(p.Indices)), Template: stable}
	}
	for i := range status.Indices {
		city.addCell(o.Workload.Spec.Rollout, &status.Indices[i], version.Is(status.Indices[i].TemplateHash))
	}
	city.addOverrides(existing, version)
	slices.SortFunc(city.Instances, func(a, b Instance) int { return cmp.Compare(a.Index, b.Index) })
	city.Missing = max(0, int(status.AssignedReplicas)-len(city.Instances))
	return city, r.addSurge(o, &city, d)
}

// addCell adds the Instances of a cell. newest: it reports on the newest template of the deployment. An index that
// another cell reports for the same Instance is not in the status: hub/projection leaves it out.
func (c *City) addCell(spec *v1alpha.WorkloadRollout, cell *v1alpha.CellIndices, newest bool) {
	existing, available, held := naming.Parse(cell.Existing), naming.Parse(cell.AvailableIndices), naming.Parse(cell.Held)
	var current []int
	if newest {
		current = naming.Parse(cell.Current)
	}
	in := func(indices []int, index int) bool {
		_, found := slices.BinarySearch(indices, index)
		return found
	}
	for _, index := range existing {
		c.Instances = append(c.Instances, Instance{
			Index: index, Updated: in(current, index), Available: in(available, index), Held: in(held, index),
		})
	}
	switch {
	case len(existing) == 0:
	case c.Ordered:
		c.Room++
	default:
		c.Room += spec.Unavailable(len(existing))
	}
}

// ReportedDesired returns the number of Instances that an autoscaler wants.
func ReportedDesired(existing *v1alpha.WorkloadDeployment) int32 {
	if !existing.Spec.Autoscaled() {
		return 0
	}
	return existing.Status.AssignedReplicas
}

// isUnserved reports whether no cell serves the city of a deployment, and none has reported Instances.
func isUnserved(existing *v1alpha.WorkloadDeployment) bool {
	available := meta.FindStatusCondition(existing.Status.Conditions, v1alpha.ConditionAvailable)
	return len(existing.Status.Indices) == 0 && available != nil && available.Reason == v1alpha.ReasonNoMatchingLocation
}
