// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// rolling is the state of the rollout.
type rolling struct {
	// state and result are the input and the result of the decision, and cities the deployments of state in its order.
	state  rollout.State
	result rollout.Steps
	cities []*v1alpha.WorkloadDeployment
	// leaving are the deployments whose last Available Instance is replaced, and draining the ones whose step waits until
	// traffic has left.
	leaving, draining map[string]bool
}

// given are the templates that a deployment has or gets now.
type given struct {
	template  *v1alpha.InstanceTemplateSpec
	resources corev1.ResourceList
	partition *v1alpha.WorkloadDeploymentPartition
	surge     int32
	overrides []v1alpha.OverrideTurn
	// alone: the cells take down one Instance at a time. paused: the rollout waits for a user, so that the cells level the slack of
	// the disruption budget.
	alone, paused bool
	// note is the message of the Event of its step.
	note string
}

// roll decides which deployments get the template now.
func (p *Plan) roll() error {
	if err := p.decide(); err != nil {
		return err
	}
	p.TakesStep = len(p.rolling.result.Take) > 0 && !p.isHeld()
	p.drainBeforeSteps()
	newcomer := rollout.Newcomer(&p.rolling.state)
	for _, i := range p.intents {
		if err := p.give(i, newcomer); err != nil {
			return err
		}
	}
	return nil
}

// decide reads the state of the rollout from the deployments, and takes the next steps.
func (p *Plan) decide() error {
	blocked, err := p.isBlocked()
	if err != nil {
		return err
	}
	objects := &rollout.Objects{
		Workload: p.Workload, Template: p.Template, Blocked: blocked, Budget: p.knownBudget(), Now: p.Now, Instance: p.Instance,
	}
	for _, i := range p.intents {
		if existing := p.deployments[i.name]; existing != nil && !i.isReplaced() {
			objects.Deployments = append(objects.Deployments, rollout.Deployment{Existing: existing, Scale: i.placement.ScaleSettings})
		}
	}
	read, err := rollout.Read(objects)
	if err != nil {
		return err
	}
	p.rolling.state, p.rolling.cities, p.rolling.result = read.State, read.Deployments, rollout.Plan(&read.State)
	if read.Again > 0 {
		p.Again.AtMost(read.Again)
	}
	return nil
}

// isBlocked reports whether no deployment gets the template: its data is not read, or its instance type is not usable and a
// deployment stays at another one.
func (p *Plan) isBlocked() (bool, error) {
	for _, i := range p.intents {
		if i.isReplaced() {
			continue
		}
		if i.template == &p.Workload.Spec.Template {
			if p.NoData {
				return true, nil
			}
			continue
		}
		if hash, err := templates.Hash(i.template); err != nil || hash != p.Template.Target {
			return true, err
		}
	}
	return false, nil
}

// give decides which templates a deployment has now.
func (p *Plan) give(i *intent, newcomer string) error {
	i.given = given{template: i.template, resources: i.resources}
	if i.existing == nil {
		p.giveEarlier(&i.given, newcomer)
		return nil
	}
	i.given.overrides = i.existing.Spec.DeepCopy().Overrides
	step, found := p.stepOf(i)
	if p.isHeld() || !found || p.rolling.draining[i.name] {
		i.given.keep(i.existing)
	} else if err := i.given.take(step, i.existing); err != nil {
		return err
	} else {
		i.given.note = p.describeStep(step, i.existing)
	}
	// Only a deployment that the rollout has begun and that has a budget is written for a pause.
	i.given.paused = p.rolling.result.Phase == rollout.Paused && p.Workload.Spec.Disruption != nil &&
		(i.given.partition != nil || i.given.surge > 0)
	return nil
}

// stepOf returns the step of a deployment.
func (p *Plan) stepOf(i *intent) (rollout.Step, bool) {
	for _, step := range p.rolling.result.Take {
		if p.rolling.cities[step.City].Name == i.name {
			return step, true
		}
	}
	return rollout.Step{}, false
}

// giveEarlier gives a new deployment the template of the others while that differs from the target.
func (p *Plan) giveEarlier(g *given, hash string) {
	if hash == p.Template.Target {
		return
	}
	for _, other := range p.rolling.cities {
		if template, resources := templates.WithHash(&other.Spec, hash); template != nil {
			g.template, g.resources = template, resources
			return
		}
	}
}

// keep leaves a deployment the templates that it has, and the limit of its step.
func (g *given) keep(existing *v1alpha.WorkloadDeployment) {
	kept := existing.Spec.DeepCopy()
	if len(kept.InstanceTypeResources) > 0 || !templates.Equalities.DeepEqual(kept.Template, *g.template) {
		g.resources = kept.InstanceTypeResources
	}
	g.template, g.partition, g.surge = &kept.Template, kept.Partition, kept.Surge
	g.alone = kept.Partition != nil && isCautious(kept.Rollout)
}

// take changes the templates of a deployment according to a step.
func (g *given) take(step rollout.Step, existing *v1alpha.WorkloadDeployment) error {
	switch {
	case step.Override != nil:
		g.keep(existing)
		g.overrides = withTurn(existing, step)
		return nil
	case step.Held:
		g.keep(existing)
		g.partition.Index, g.partition.Indices = int32(step.Index), nil //nolint:gosec // at most 10000
		return nil
	}
	g.surge = int32(step.Surge) //nolint:gosec // at most as many as Instances
	if step.Released {
		return nil
	}
	template, resources := templates.WithHash(&existing.Spec, step.Stable)
	if template == nil {
		return errors.New("the deployment does not have the template that its Instances keep; it is read again")
	}
	g.partition = &v1alpha.WorkloadDeploymentPartition{
		Index: int32(step.Index), Indices: naming.Ranges(naming.Parse(step.Indices)), //nolint:gosec // at most 10000
		Template: *template.DeepCopy(), InstanceTypeResources: resources.DeepCopy(),
	}
	g.alone = step.Cautious
	return nil
}

// withTurn returns the turns of the cells of a deployment with the turn of a step. Turns stay until the next one of their
// cell; cells that do not report any more have none.
func withTurn(existing *v1alpha.WorkloadDeployment, step rollout.Step) []v1alpha.OverrideTurn {
	turns := slices.DeleteFunc(slices.Clone(existing.Spec.Overrides), func(turn v1alpha.OverrideTurn) bool {
		return turn.Cell == step.Override.Cell || !slices.ContainsFunc(existing.Status.Indices, func(indices v1alpha.CellIndices) bool {
			return indices.Cell == turn.Cell
		})
	})
	return append(turns, v1alpha.OverrideTurn{
		Cell: step.Override.Cell, TemplateHash: step.Override.Template, AtOnce: int32(step.AtOnce), //nolint:gosec // at most 5000
	})
}

func isCautious(r *v1alpha.WorkloadRollout) bool {
	return r != nil && r.MaxUnavailable != nil && *r.MaxUnavailable == intstr.FromInt32(1)
}

// describeStep is the note of the Event of a step.
func (p *Plan) describeStep(step rollout.Step, deployment *v1alpha.WorkloadDeployment) string {
	template := "template " + p.Template.Target
	if p.Revision > 0 && p.Template.Target == p.Template.Written {
		template = fmt.Sprintf("revision %d", p.Revision)
	}
	name := fmt.Sprintf("deployment %s", deployment.Name)
	switch more := step.Surge - int(deployment.Spec.Surge); {
	case step.Override != nil:
		return fmt.Sprintf("%s: cell %s gives the Instances of %s the template that %s",
			deployment.Spec.CityCode, step.Override.Cell, name, step.Override.Cause())
	case step.Held:
		return fmt.Sprintf("%s: new Instances of %s get the earlier template until their turn", deployment.Spec.CityCode, name)
	case more > 0:
		return fmt.Sprintf("%s: %s gets %s with %s", deployment.Spec.CityCode, name,
			reasons.Count(more, "additional Instance", "additional Instances"), template)
	case more < 0 && !step.Released:
		return fmt.Sprintf("%s: the cells cannot start an additional Instance of %s; its Instances are replaced without one",
			deployment.Spec.CityCode, name)
	case more < 0:
		return fmt.Sprintf("%s: the additional Instances of %s are removed", deployment.Spec.CityCode, name)
	case step.Released:
		return fmt.Sprintf("%s: all Instances of %s get %s", deployment.Spec.CityCode, name, template)
	}
	return fmt.Sprintf("%s: Instances of %s from index %d on get %s", deployment.Spec.CityCode, name, step.Index, template)
}
