// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	hubcells "github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// States of a Step, in addition to the states of a Node.
const (
	StateOK      = "ok"
	StateMissing = "missing"
)

// Planes of a Step.
const (
	planeProject = "project"
	planeHub     = "hub"
)

// Step is one object on the path from the project to a Pod.
type Step struct {
	// Plane is project, hub, or cell and its name.
	Plane string `json:"plane"`
	Kind  string `json:"kind"`
	// Namespace is "" for cluster-scoped objects.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// State is ok, missing, or a state of a Node.
	State   string   `json:"state"`
	Finding *Finding `json:"finding,omitempty"`
	// warnings are the other conditions that report a fault.
	warnings []*Finding
}

// endsWay reports whether the way ends here.
func (s *Step) endsWay() bool { return s.Finding != nil && !s.Finding.Warning }

// Object returns the step as kubectl names it.
func (s *Step) Object() string { return s.Kind + " " + s.Name }

// Way is the path to one Instance, or to a deployment without Instances.
type Way struct {
	// Kind and Name of the object at the end of the path.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Steps in the order of the path, without objects that the user may not read.
	Steps []*Step `json:"steps"`
	// Stop is the step at which the way ends; nil if it reaches a Pod that is ready, or another city runs the Instances.
	Stop *Step `json:"stop,omitempty"`
	// next is the next event for an object without an Instance and without a condition that reports a fault.
	next *Finding
	// now is the time of the read.
	now time.Time
}

// Ways returns the ways of all Instances, of each deployment that lacks Instances or whose template a cell refuses, and
// of a Workload without deployments. While nothing else is wrong, a Workload that is being deleted, or whose progress deadline has passed,
// has a way, too.
func (s *Snapshot) Ways() []*Way {
	var ways []*Way
	for i := range s.Deployments {
		d := &s.Deployments[i]
		instances := s.InstancesOf(d)
		held, first := false, len(ways)
		for _, instance := range instances {
			way := s.wayTo(d, instance)
			held = held || way.Stop != nil
			ways = append(ways, way)
		}
		switch refused := refusalOf(d, s.Now); {
		case held:
		case len(instances) == 0, len(instances) < int(d.Spec.DesiredReplicas()):
			ways = append(ways, s.wayTo(d, nil))
		case refused != nil:
			ways = append(ways, stopsAt(refused, s.Now))
		}
		s.excuse(d, ways[first:])
	}
	if len(ways) == 0 {
		way := &Way{Kind: v1alpha.KindWorkload, Name: s.Name, Steps: s.workloadSteps(""), now: s.Now}
		if s.Workload != nil {
			way.next = s.awaiting(v1alpha.KindWorkload, s.Workload.CreationTimestamp, "")
			for _, placement := range s.Workload.Status.Placements {
				way.Steps = append(way.Steps, s.placementStep(&placement))
			}
		}
		way.stop(nil)
		ways = append(ways, way)
	}
	if step := s.faultOfAll(); step != nil && !slices.ContainsFunc(ways, func(w *Way) bool { return w.Stop != nil }) {
		ways = append(ways, stopsAt(step, s.Now))
	}
	return ways
}

// WayTo returns an Instance's Way, or nil if no Instance has that name.
func (s *Snapshot) WayTo(instance string) *Way {
	for i := range s.Deployments {
		for _, found := range s.InstancesOf(&s.Deployments[i]) {
			if found.Name == instance {
				return s.wayTo(&s.Deployments[i], found)
			}
		}
	}
	for _, found := range s.Strays() {
		if found.Name == instance {
			way := &Way{Kind: v1alpha.KindInstance, Name: instance, Steps: append(s.workloadSteps(""), s.instanceStep(found, "its city"))}
			way.stop(way.Steps[len(way.Steps)-1])
			return way
		}
	}
	return nil
}

// wayTo returns an Instance's Way, or the deployment's if instance is nil.
func (s *Snapshot) wayTo(d *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) *Way {
	way := &Way{
		Kind: v1alpha.KindWorkloadDeployment, Name: d.Name, Steps: s.workloadSteps(d.Spec.PlacementName),
		next: s.awaiting(v1alpha.KindWorkloadDeployment, d.CreationTimestamp, d.Spec.CityCode), now: s.Now,
	}
	step := &Step{Plane: planeProject, Kind: v1alpha.KindWorkloadDeployment, Namespace: d.Namespace, Name: d.Name}
	way.Steps = append(way.Steps, step.withStateOf(deploymentNode(d, s.Now)))
	name := ""
	var last *Step
	if instance != nil {
		way.Kind, way.Name, name = v1alpha.KindInstance, instance.Name, instance.Name
		last = s.instanceStep(instance, d.Spec.CityCode)
	}
	if s.Hub != nil {
		way.Steps = append(way.Steps, s.hubSteps(d, name)...)
	}
	if last != nil {
		way.Steps = append(way.Steps, last)
	}
	way.stop(last)
	return way
}

// stop finds the end of the way. last is the Instance, which has the most specific conditions; nil without an Instance.
func (w *Way) stop(last *Step) {
	if last != nil && last.endsWay() && last.Finding.urgent() && w.causeOf(last) == nil {
		w.Stop = last
		return
	}
	w.Stop = w.deepest(last)
	if cause := w.causeOf(last); cause != nil {
		w.Stop = cause
	}
	if w.Stop != nil || last != nil || w.next == nil {
		return
	}
	// No condition reports a fault, and there is no Instance.
	for _, step := range slices.Backward(w.Steps) {
		if step.Plane == planeProject {
			step.Finding, w.Stop = w.next, step
			return
		}
	}
}

// causeOf returns the step that has the cause of an Instance's condition: an object above it has the same condition
// with a more specific reason. The cell knows only that data is not there, and the project that it is too large.
func (w *Way) causeOf(last *Step) *Step {
	if last == nil || !last.endsWay() {
		return nil
	}
	for _, step := range w.Steps {
		if step != last && step.endsWay() && step.Finding.Condition == last.Finding.Condition && step.Finding.rank > last.Finding.rank &&
			step.Finding.Condition == v1alpha.ConditionReferencedDataReady {
			return step
		}
	}
	return nil
}

// deepest returns the last held step that requires an action, or else the last held step.
func (w *Way) deepest(last *Step) *Step {
	var found *Step
	for _, step := range slices.Backward(w.Steps) {
		// The lines above summarize faults of other Instances.
		summary := step.Plane == planeProject && last != nil && step != last
		if summary || !step.endsWay() {
			continue
		}
		if found == nil || step.Finding.urgent() && !found.Finding.urgent() {
			found = step
		}
	}
	return found
}

// awaiting returns the finding of an object without conditions: the next event after its creation.
func (s *Snapshot) awaiting(kind string, created metav1.Time, city string) *Finding {
	next := map[string]string{
		v1alpha.KindWorkload:           "the add-on creates its deployments",
		v1alpha.KindWorkloadDeployment: "the cells of " + city + " report their Instances",
		v1alpha.KindInstance:           "the cell of " + city + " reports its state",
	}[kind]
	age := ""
	if !s.Now.IsZero() && !created.IsZero() {
		age = fmt.Sprintf(" %s ago", duration.HumanDuration(max(0, s.Now.Sub(created.Time))))
	}
	found := known(v1alpha.ReasonAwaitingReport, fmt.Sprintf("created%s; next, %s", age, next), moment{s.Now, created.Time})
	found.Since = since(created)
	return found
}

func (s *Snapshot) workloadSteps(placement string) []*Step {
	node := s.workloadNode()
	if node.State == StateHidden || s.Workload == nil {
		return nil
	}
	step := &Step{Plane: planeProject, Kind: v1alpha.KindWorkload, Namespace: s.Namespace, Name: s.Name}
	steps := []*Step{step.withStateOf(node)}
	for i := range s.Workload.Status.Placements {
		if found := &s.Workload.Status.Placements[i]; found.Name == placement {
			steps = append(steps, s.placementStep(found))
		}
	}
	return steps
}

func (s *Snapshot) placementStep(placement *v1alpha.WorkloadPlacementStatus) *Step {
	node := &Node{}
	node.count(&metav1.ObjectMeta{}, placement.ReplicaCounts)
	node.setReason(placement.Conditions, workloadConditions, s.Now)
	node.warnings = append(node.warnings, s.candidateWarnings(placement.Name)...)
	step := &Step{Plane: planeProject, Kind: "Placement", Namespace: s.Namespace, Name: placement.Name}
	return step.withStateOf(node)
}

func (s *Snapshot) instanceStep(instance *v1alpha.Instance, city string) *Step {
	node := instanceNode(instance, s.Now)
	step := &Step{Plane: planeProject, Kind: v1alpha.KindInstance, Namespace: instance.Namespace, Name: instance.Name}
	step.withStateOf(node)
	if step.Finding == nil && node.State != StateReady {
		step.Finding = s.awaiting(v1alpha.KindInstance, instance.CreationTimestamp, city)
	}
	return step
}

// hubSteps returns the copy, its binding, the Works and the cells: of the Instance's cell, or of all cells.
func (s *Snapshot) hubSteps(d *v1alpha.WorkloadDeployment, instance string) []*Step {
	onHub := s.Hub[d.Name]
	if onHub == nil {
		return nil
	}
	steps := []*Step{s.copyStep(d, onHub)}
	if onHub.Copy == nil {
		return steps
	}
	steps = append(steps, s.bindingStep(onHub, d.Name))
	cells := onHub.Cells()
	if cell := onHub.Cell(instance); cell != "" {
		cells = []string{cell}
	}
	for _, cell := range cells {
		step := &Step{
			Plane: planeHub, Kind: "Work", Namespace: names.GenerateExecutionSpaceName(cell), Name: d.Name, State: StateOK,
			Finding: s.workFinding(onHub, cell),
		}
		if work := onHub.Works[cell]; work != nil {
			step.Name = work.Name
		} else {
			step.State = StateMissing
		}
		step.markHeld().override(onHub.Works[cell])
		steps = append(steps, step, s.clusterStep(cell))
	}
	return steps
}

// markHeld sets the state of a held step to not ready.
func (s *Step) markHeld() *Step {
	if s.State == StateOK && s.endsWay() {
		s.State = StateNotReady
	}
	return s
}

// override names the override policies that have changed a Work that is ok.
func (s *Step) override(work *workv1alpha1.Work) {
	if work == nil || s.State != StateOK {
		return
	}
	if policies := path.OverridesOf(work); len(policies) > 0 {
		s.State = "overridden by " + strings.Join(policies, ", ")
	}
}

func (s *Snapshot) copyStep(d *v1alpha.WorkloadDeployment, onHub *OnHub) *Step {
	step := &Step{Plane: planeHub, Kind: v1alpha.KindWorkloadDeployment, Namespace: onHub.Namespace, Name: d.Name, State: StateOK}
	if onHub.Copy == nil && s.Hidden["v1alpha.WorkloadDeployment of the hub"] == nil {
		step.State = StateMissing
		step.Finding = known(v1alpha.ReasonNotPropagated, "the hub has no copy of the deployment", moment{now: s.Now})
	}
	return step
}

func (s *Snapshot) bindingStep(onHub *OnHub, name string) *Step {
	step := &Step{
		Plane: planeHub, Kind: "ResourceBinding", Namespace: onHub.Namespace, Name: strings.ToLower(name + "-" + v1alpha.KindWorkloadDeployment),
		State: StateOK, Finding: s.faults(onHub)[""],
	}
	if onHub.Binding == nil {
		step.State = StateMissing
		return step
	}
	condition := meta.FindStatusCondition(onHub.Binding.Status.Conditions, workv1alpha2.Scheduled)
	if condition != nil && condition.Status == metav1.ConditionFalse {
		step.Finding = findingOf(condition, moment{now: s.Now})
		step.Finding.Actor, step.Finding.rank = reasons.ActorOperator, reasons.RankCause
		step.Finding.Do = "Add capacity to the cells of the city. Or the consumer asks for fewer or smaller Instances."
		if path.TakeNone(condition.Message) {
			step.Finding.Do = "Remove the taint of the Cluster, for example with `karmadactl uncordon CLUSTER`. " +
				"`kubectl describe cluster CLUSTER` lists its taints."
		}
	}
	return step.markHeld()
}

// workFinding returns the fault that keeps Karmada from writing a deployment into a cell.
func (s *Snapshot) workFinding(onHub *OnHub, cell string) *Finding {
	if onHub == nil || onHub.Works == nil || onHub.Copy == nil {
		return nil
	}
	if found := s.faults(onHub)[cell]; found != nil || onHub.Works[cell] != nil {
		return found
	}
	// The collector does not judge the Work of a cell that is not Ready.
	return known(v1alpha.ReasonNotApplied, "Karmada has no Work for the cell "+cell, moment{now: s.Now})
}

// faults returns the faults of the ResourceBinding, with key "", and of the Works of a deployment, by cell. The
// collector repairs the same faults: it uses the same judge. Faults of reports are not included, because most of them
// are transient: condition StatusCurrent has the lasting ones.
func (s *Snapshot) faults(onHub *OnHub) map[string]*Finding {
	if s.Hidden["v1alpha2.ResourceBinding of the hub"] != nil || s.Hidden["v1alpha1.Work of the hub"] != nil {
		return nil
	}
	row := &path.Row{
		Subject: path.Subject{Name: client.ObjectKeyFromObject(onHub.Copy), Copied: onHub.Copy}, Binding: onHub.Binding, Works: onHub.Works,
	}
	for _, cluster := range s.Clusters {
		row.Cells = append(row.Cells, hubcells.NewCell(cluster))
	}
	judged := path.Judge(row)
	faults := map[string]*Finding{}
	for i := range judged {
		m, reason := moment{now: s.Now}, judged[i].Fault.Reason()
		if reason == v1alpha.ReasonNotBound {
			m.since = onHub.Copy.CreationTimestamp.Time
		} else if reason != v1alpha.ReasonNotApplied {
			continue
		}
		if faults[judged[i].Cell] == nil {
			faults[judged[i].Cell] = known(reason, judged[i].Message, m)
			if !judged[i].Since.IsZero() {
				faults[judged[i].Cell].Since = &metav1.Time{Time: judged[i].Since}
			}
		}
	}
	return faults
}

func (s *Snapshot) clusterStep(cell string) *Step {
	step := &Step{Plane: planeHub, Kind: "Cluster", Name: cell, State: StateOK}
	if cluster := s.Clusters[cell]; cluster != nil {
		step.Finding = clusterFinding(cluster, s.Now)
	} else if _, hidden := s.Hidden["clusters"]; !hidden {
		step.State = StateMissing
		step.Finding = s.cellNode(cell, "").Finding
	}
	return step.markHeld()
}

// known returns a finding with the remedy of a reason of condition StatusCurrent, which reports interruptions of the
// path.
func known(reason, message string, m moment) *Finding {
	return findingOf(&metav1.Condition{Type: v1alpha.ConditionStatusCurrent, Reason: reason, Message: message}, m)
}
