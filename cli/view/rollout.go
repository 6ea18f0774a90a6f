// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// Rollout holds the next steps of the planner of the hub, planned from the objects that the user may read.
type Rollout struct {
	Workload string `json:"workload"`
	// Phase of the rollout, and Message about what it waits for.
	Phase   string `json:"phase"`
	Message string `json:"message,omitempty"`
	// Change is the change that is rolled out; nil: it is not known, or all Instances have it.
	Change *Change `json:"change,omitempty"`
	// Budget is the disruption budget; nil: the Workload has none.
	Budget *RolloutBudget `json:"budget,omitempty"`
	// Cities in the order of the rollout.
	Cities []CityTurn `json:"cities"`
	// Unknown lists the objects that the user may not read, and the assumptions of the plan about them.
	Unknown []string `json:"unknown,omitempty"`
}

// RolloutBudget is a disruption budget over all cities.
type RolloutBudget struct {
	// MinAvailable is how many Instances must stay Available, and Available is how many count as Available.
	MinAvailable int32 `json:"minAvailable"`
	Available    int32 `json:"available"`
}

// CityTurn is the next step of a city, or the reason why it takes none.
type CityTurn struct {
	City       string `json:"city"`
	Deployment string `json:"deployment"`
	// Updated is how many of its Instances have the template that the rollout brings.
	Updated   int `json:"updatedInstances"`
	Instances int `json:"instances"`
	// Began is when the first of its Instances with the template started, and Ended since when all are Ready with it.
	Began   *metav1.Time `json:"began,omitempty"`
	Ended   *metav1.Time `json:"ended,omitempty"`
	Step    *CityStep    `json:"step,omitempty"`
	Reason  string       `json:"reason"`
	Message string       `json:"message"`
}

// CityStep is a step of a city.
type CityStep struct {
	// All Instances get the template; otherwise those from FromIndex on.
	All       bool `json:"allInstances,omitempty"`
	FromIndex *int `json:"fromIndex,omitempty"`
	// AdditionalInstances that the city has from now on.
	AdditionalInstances int `json:"additionalInstances,omitempty"`
	// OneAtATime: each cell takes down one Instance at a time.
	OneAtATime bool `json:"oneAtATime,omitempty"`
	// Held: no further Instance gets the template.
	Held bool `json:"held,omitempty"`
	// Override is the cell that gives its Instances the template that an override policy has changed.
	Override string `json:"override,omitempty"`
}

// Reasons of deployments that the planner does not decide about.
const (
	reasonNotCreated = "NotCreated"
	reasonRemoved    = "Removed"
)

// Rollout plans the rollout of the Workload. locations are the locations of the project; unread is the reason why they
// are unknown.
func (s *Snapshot) Rollout(locations []cities.Location, unread error) (*Rollout, error) {
	if s.Workload == nil {
		return nil, fmt.Errorf("workload %s is deleted", s.Name)
	}
	if err := s.Hidden["workloaddeployments"]; err != nil {
		return nil, fmt.Errorf("a plan needs the WorkloadDeployments of the Workload: %w", err)
	}
	facts, err := s.facts(locations, unread)
	if err != nil {
		return nil, err
	}
	next, err := plan.Make(facts)
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(next.Writes, func(w plan.Write) bool { return w.Kind == plan.Choose }); at >= 0 {
		// The hub has not recorded the choice yet: this is the plan after it.
		next.Writes[at].Into(&facts.Workload.Status)
		if next, err = plan.Make(facts); err != nil {
			return nil, err
		}
	}
	outlook := next.Outlook()
	steps := &outlook.Steps
	result := &Rollout{
		Workload: s.Name, Phase: string(steps.Phase), Message: steps.Message, Unknown: s.unknown(unread), Budget: budgetOf(outlook.Budget),
	}
	for i, turn := range steps.Turns {
		city := &outlook.State.Cities[i]
		result.Cities = append(result.Cities, CityTurn{
			City: city.Code, Deployment: city.Name, Step: stepOf(steps.Take, i), Reason: string(turn.Reason), Message: turn.Message,
		})
	}
	newcomer := "its deployment does not exist yet; it gets the new template"
	if outlook.Earlier {
		newcomer = "its deployment does not exist yet; it gets the earlier template, until its turn"
	}
	for _, place := range outlook.Created {
		result.Cities = append(result.Cities, CityTurn{
			City: place.City, Deployment: place.Deployment, Reason: reasonNotCreated, Message: newcomer,
		})
	}
	for _, place := range outlook.Removed {
		result.Cities = append(result.Cities, CityTurn{
			City: place.City, Deployment: place.Deployment, Reason: reasonRemoved, Message: "the Workload does not choose this city any more",
		})
	}
	for _, c := range candidatesOf(facts.Workload) {
		result.Cities = append(result.Cities, CityTurn{City: c.City, Reason: c.reason(), Message: c.message})
	}
	s.countUpdated(result.Cities, facts.Template.Target)
	if at := s.revisionOf(facts.Template.Target); at >= 0 {
		change := changeAt(s.history, at)
		result.Change = &change
	}
	return result, nil
}

// facts are the ones that the user may read. A network or an answer that the user cannot read does not hold the rollout.
func (s *Snapshot) facts(locations []cities.Location, unread error) (*plan.Facts, error) {
	facts := &plan.Facts{
		Now: s.Now, Workload: s.Workload.DeepCopy(), Deployments: plan.ByName(s.Deployments), Locations: locations, Unlocated: unread,
		Instance: s.instance,
		// The hub has told whether the instance type is usable.
		Type: plan.InstanceType{Unchecked: !meta.IsStatusConditionTrue(s.Workload.Status.Conditions, v1alpha.ConditionInstanceTypeDisabled)},
	}
	return facts, facts.ChooseTemplate(func(string) (*v1alpha.InstanceTemplateSpec, error) { return nil, nil })
}

// countUpdated counts the Instances of cities, and the ones with the template that the rollout brings.
func (s *Snapshot) countUpdated(turns []CityTurn, target string) {
	for i := range turns {
		at := slices.IndexFunc(s.Deployments, func(d v1alpha.WorkloadDeployment) bool { return d.Name == turns[i].Deployment })
		if at < 0 {
			continue
		}
		var updated []*v1alpha.Instance
		for _, instance := range s.InstancesOf(&s.Deployments[at]) {
			if instance.TemplateHash() == target {
				updated = append(updated, instance)
			}
		}
		// Additional Instances do not count, as in the messages of the hub.
		turns[i].Instances = int(s.Deployments[at].Status.DesiredReplicas)
		turns[i].Updated = min(len(updated), turns[i].Instances)
		turns[i].addTimes(updated, target)
	}
}

// addTimes adds when the city got the template. An Instance that has the template may still run with the one before.
func (t *CityTurn) addTimes(updated []*v1alpha.Instance, target string) {
	ready := 0
	var last *metav1.Time
	for _, instance := range updated {
		if running := instance.Status.Controller; running == nil || running.ObservedTemplateHash != target {
			continue
		}
		if began := instance.Status.StartTime; began != nil && (t.Began == nil || began.Before(t.Began)) {
			t.Began = began
		}
		condition := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionReady)
		if condition == nil || condition.Status != metav1.ConditionTrue {
			continue
		}
		ready++
		if last == nil || last.Before(&condition.LastTransitionTime) {
			last = &condition.LastTransitionTime
		}
	}
	if t.Instances > 0 && ready >= t.Instances && t.Updated == t.Instances {
		t.Ended = last
	}
}

func stepOf(steps []rollout.Step, city int) *CityStep {
	at := slices.IndexFunc(steps, func(step rollout.Step) bool { return step.City == city })
	if at < 0 {
		return nil
	}
	step := steps[at]
	if step.Override != nil {
		return &CityStep{Override: step.Override.Cell}
	}
	result := &CityStep{All: step.Released, AdditionalInstances: step.Surge, OneAtATime: step.Cautious, Held: step.Held}
	if !step.Released && !step.Held {
		result.FromIndex = &step.Index
	}
	return result
}

func budgetOf(known *rollout.Budget) *RolloutBudget {
	if known == nil {
		return nil
	}
	result := &RolloutBudget{MinAvailable: known.Minimum}
	for _, available := range known.Available {
		result.Available += available
	}
	return result
}

// instance returns an Instance; nil: the user does not see it.
func (s *Snapshot) instance(name string) (*v1alpha.Instance, error) {
	at := slices.IndexFunc(s.Instances, func(i v1alpha.Instance) bool { return i.Name == name })
	if at < 0 {
		return nil, nil
	}
	return &s.Instances[at], nil
}

// unknown lists the assumptions of the plan.
func (s *Snapshot) unknown(unread error) []string {
	var unknown []string
	if unread != nil {
		unknown = append(unknown, "the locations of the project; every city that has a deployment is taken for chosen: "+unread.Error())
	}
	if err := s.Hidden["instances"]; err != nil {
		unknown = append(unknown, "whether additional Instances wait for a node; they are taken for started: "+err.Error())
	}
	return unknown
}

// Table shows the plan.
func (r *Rollout) Table() [][]string {
	rows := [][]string{{"CITY", "DEPLOYMENT", "STEP", "REASON", "MESSAGE"}}
	for i := range r.Cities {
		c := &r.Cities[i]
		rows = append(rows, []string{cmp.Or(c.City, "-"), c.Deployment, c.Step.String(), c.Reason, c.Message})
	}
	return rows
}

// String describes a step. s may be nil.
func (s *CityStep) String() string {
	if s == nil {
		return "-"
	}
	text := "all Instances"
	switch {
	case s.Override != "":
		return "override of cell " + s.Override
	case s.Held:
		text = "no more Instances"
	case s.FromIndex != nil:
		text = fmt.Sprintf("from index %d", *s.FromIndex)
	}
	if s.AdditionalInstances > 0 {
		text += fmt.Sprintf(", %d more", s.AdditionalInstances)
	}
	return text
}
