// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/budget"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Rollout holds the next steps of the planner of the hub, planned from the objects that the user may read.
type Rollout struct {
	Workload string `json:"workload"`
	// Phase of the rollout, and Message about what it waits for.
	Phase   string `json:"phase"`
	Message string `json:"message,omitempty"`
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
	Updated   int       `json:"updatedInstances"`
	Instances int       `json:"instances"`
	Step      *CityStep `json:"step,omitempty"`
	Reason    string    `json:"reason"`
	Message   string    `json:"message"`
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
	template, err := rollout.TemplateOf(s.Workload)
	if err != nil {
		return nil, err
	}

	chosen := s.choose(locations, unread)
	objects := &rollout.Objects{
		Workload: s.Workload, Template: template, Deployments: chosen.deployments, Blocked: s.isBlocked(),
		Budget: s.budget(chosen.deployments), Instance: s.instance, Now: s.Now,
	}
	read, err := rollout.Read(objects)
	if err != nil {
		return nil, err
	}
	steps := rollout.Plan(&read.State)
	result := &Rollout{
		Workload: s.Name, Phase: string(steps.Phase), Message: steps.Message, Unknown: s.unknown(unread), Budget: budgetOf(objects.Budget),
	}
	for i, turn := range steps.Turns {
		city := &read.State.Cities[i]
		result.Cities = append(result.Cities, CityTurn{
			City: city.Code, Deployment: city.Name, Step: stepOf(steps.Take, i), Reason: string(turn.Reason), Message: turn.Message,
		})
	}
	newcomer := "the new template"
	if rollout.Newcomer(&read.State) != template.Target {
		newcomer = "the earlier template, until its turn"
	}
	for i := range chosen.others {
		if chosen.others[i].Reason == reasonNotCreated {
			chosen.others[i].Message += newcomer
		}
	}
	result.Cities = append(result.Cities, chosen.others...)
	s.countUpdated(result.Cities, template.Target)
	return result, nil
}

// countUpdated counts the Instances of cities, and the ones with the template that the rollout brings.
func (s *Snapshot) countUpdated(turns []CityTurn, target string) {
	for i := range turns {
		at := slices.IndexFunc(s.Deployments, func(d v1alpha.WorkloadDeployment) bool { return d.Name == turns[i].Deployment })
		if at < 0 {
			continue
		}
		for _, instance := range s.InstancesOf(&s.Deployments[at]) {
			turns[i].Instances++
			if instance.TemplateHash() == target {
				turns[i].Updated++
			}
		}
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

// chosen are the deployments that a Workload wants, and turns of cities without one or whose deployment is not wanted
// any more.
type chosen struct {
	deployments []rollout.Deployment
	others      []CityTurn
}

// choose finds out which deployments the Workload wants. While the locations are unknown, it wants all that it has.
func (s *Snapshot) choose(locations []cities.Location, unread error) chosen {
	result, wanted := chosen{}, map[string]bool{}
	for i := range s.Workload.Spec.Placements {
		placement := &s.Workload.Spec.Placements[i]
		choice := cities.Choose(placement, locations)
		keeps := unread != nil || choice.Unresolved
		for j := range s.Deployments {
			d := &s.Deployments[j]
			city := strings.ToUpper(d.Spec.CityCode)
			named := slices.Contains(choice.Cities, city) || slices.Contains(choice.Held, city)
			if d.Spec.WorkloadRef.UID == s.Workload.UID && d.Spec.PlacementName == placement.Name && (named || keeps) {
				wanted[d.Name] = true
				result.deployments = append(result.deployments, rollout.Deployment{Existing: d, Scale: placement.ScaleSettings})
			}
		}
		for _, city := range choice.Cities {
			if name := naming.DeploymentName(s.Name, placement.Name, city); !wanted[name] {
				result.deployments = append(result.deployments, rollout.Deployment{Scale: placement.ScaleSettings})
				result.others = append(result.others, CityTurn{
					City: city, Deployment: name, Reason: reasonNotCreated, Message: "its deployment does not exist yet; it gets ",
				})
			}
		}
	}
	for i := range s.Deployments {
		if d := &s.Deployments[i]; !wanted[d.Name] {
			result.others = append(result.others, CityTurn{
				City: d.Spec.CityCode, Deployment: d.Name, Reason: reasonRemoved, Message: "the Workload does not choose this city any more",
			})
		}
	}
	return result
}

// budget returns the disruption budget as the objects show it; nil: the Workload has none.
func (s *Snapshot) budget(deployments []rollout.Deployment) *rollout.Budget {
	if s.Workload.Spec.Disruption == nil {
		return nil
	}
	known, desired := &rollout.Budget{Available: map[string]int32{}}, int32(0)
	for i := range deployments {
		desired += rollout.Desired(&deployments[i].Scale, deployments[i].Existing)
	}
	for i := range s.Deployments {
		if d := &s.Deployments[i]; d.DeletionTimestamp.IsZero() {
			known.Available[d.Name] = rollout.Available(d)
		}
	}
	known.Minimum = budget.Minimum(s.Workload.Spec.Disruption, desired)
	return known
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

// isBlocked reports whether the template names an instance type that is not usable, and deployments keep an earlier one
// for it.
func (s *Snapshot) isBlocked() bool {
	if !meta.IsStatusConditionTrue(s.Workload.Status.Conditions, v1alpha.ConditionInstanceTypeDisabled) {
		return false
	}
	typeOf := func(t *v1alpha.InstanceTemplateSpec) string {
		return v1alpha.InstanceTypeName(t.Spec.Runtime.Resources.InstanceType)
	}
	return slices.ContainsFunc(s.Deployments, func(d v1alpha.WorkloadDeployment) bool {
		return typeOf(&d.Spec.Template) != typeOf(&s.Workload.Spec.Template)
	})
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

// ErrLocationsUnread is the reason why a project without Milo does not tell its locations.
var ErrLocationsUnread = errors.New("the project has no LocationBindings")
