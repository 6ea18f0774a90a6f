// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// behindCache is how long a reconcile waits for a cache that is behind the API server.
const behindCache = time.Second

// eventRollout is the reason of the Event of a step.
const eventRollout = "RolloutStep"

// rolling is the state of the rollout in one reconcile.
type rolling struct {
	rollout.Template
	// revision is the number of the Workload's template; 0: unknown.
	revision int64
	// first: the template is the Workload's first one, and is not recorded yet.
	first bool
	// blocked: the instance type of the template is not usable: no deployment gets the template.
	blocked bool
	// state and result are the input and the result of the decision, and cities the deployments of state in its order.
	state  rollout.State
	result rollout.Steps
	cities []*v1alpha.WorkloadDeployment
	// leaving are the deployments whose last Available Instance is replaced, and draining the ones whose step waits until
	// traffic has left.
	leaving, draining map[string]bool
	// steps are messages about the steps of deployments, by their names.
	steps map[string]string
}

// chooseTemplate replaces in memory the template of a Workload by the one that its Instances get: with the snapshots of
// its data, the earlier one while its data is not read yet, and the last complete one after a rollout that is undone.
func (s *scope) chooseTemplate(ctx context.Context) error {
	chosen, err := rollout.TemplateOf(s.workload)
	if err != nil {
		return err
	}
	s.rolling = rolling{Template: chosen, steps: map[string]string{}}
	started, unread := templates.StartedWith(s.workload)
	if s.unread = unread; len(unread) > 0 {
		return s.chooseEarlier(ctx)
	}
	s.workload.Spec.Template = *started.DeepCopy()
	if chosen.Target == chosen.Written {
		return nil
	}
	template, err := s.templateWithHash(ctx, chosen.Target)
	if err != nil || template == nil {
		s.rolling.Target = chosen.Written
		return err
	}
	s.workload.Spec.Template = *template.DeepCopy()
	s.rolling.Target, err = templates.Hash(template)
	return err
}

// chooseEarlier lets the earlier template continue while the data of the newest one is not read yet. Without an earlier
// one no deployment is created.
func (s *scope) chooseEarlier(ctx context.Context) error {
	template, err := s.templateWithHash(ctx, s.rolling.Target)
	if s.noData = template == nil; err != nil || s.noData {
		return err
	}
	s.workload.Spec.Template = *template.DeepCopy()
	s.rolling.Target, err = templates.Hash(template)
	return err
}

// templateWithHash returns the template of a deployment or of a revision; nil without one.
func (s *scope) templateWithHash(ctx context.Context, hash string) (*v1alpha.InstanceTemplateSpec, error) {
	for _, deployment := range s.existing {
		if template, _ := templates.WithHash(&deployment.Spec, hash); template != nil {
			return template, nil
		}
	}
	return s.revisionWithHash(ctx, hash)
}

// rollOut decides which deployments get the template now. The cache suffices to decide that none does. Before a step it
// reads the API server: a step that was taken already must not be taken in another city as well.
func (s *scope) rollOut(ctx context.Context) error {
	for _, desired := range s.plan.deployments {
		hash, err := templates.Hash(&desired.Spec.Template)
		if err != nil {
			return err
		}
		s.rolling.blocked = s.rolling.blocked || hash != s.rolling.Target
	}
	if err := s.decide(ctx); err != nil {
		return err
	}
	if len(s.rolling.result.Take) > 0 && !s.isHeld() {
		if err := s.refresh(ctx); err != nil {
			return err
		}
		if s.rewritten {
			return nil
		}
		if err := s.decide(ctx); err != nil {
			return err
		}
	}
	if err := s.drainBeforeSteps(ctx); err != nil {
		return err
	}
	return s.assignTemplates()
}

// decide reads the state of the rollout from the deployments, and takes the next steps.
func (s *scope) decide(ctx context.Context) error {
	objects := &rollout.Objects{
		Workload: s.workload, Template: s.rolling.Template, Blocked: s.rolling.blocked, Budget: s.knownBudget(), Now: s.Clock.Now(),
		Instance: func(name string) (*v1alpha.Instance, error) { return s.instance(ctx, name) },
	}
	for _, desired := range s.plan.deployments {
		if existing := s.existing[desired.Name]; existing != nil && sameDeployment(existing, desired) {
			objects.Deployments = append(objects.Deployments, rollout.Deployment{Existing: existing, Scale: desired.Spec.ScaleSettings})
		}
	}
	read, err := rollout.Read(objects)
	if err != nil {
		return err
	}
	s.rolling.state, s.rolling.cities, s.rolling.result = read.State, read.Deployments, rollout.Plan(&read.State)
	if read.Again > 0 {
		s.requeueAfter.AtMost(read.Again)
	}
	return nil
}

// instance returns an Instance of the Workload that is not Available; nil: it does not exist.
func (s *scope) instance(ctx context.Context, name string) (*v1alpha.Instance, error) {
	instance := &v1alpha.Instance{}
	err := s.client.Get(ctx, client.ObjectKey{Namespace: s.workload.Namespace, Name: name}, instance)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Instance %s, which is not Available: %w", name, err)
	}
	return instance, nil
}

// refresh reads the Workload and its deployments from the API server. A Workload that has changed is reconciled again.
func (s *scope) refresh(ctx context.Context) error {
	reader := s.project.GetAPIReader()
	workload := &v1alpha.Workload{}
	if err := reader.Get(ctx, s.request.NamespacedName, workload); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the Workload before a step of its rollout: %w", err)
	}
	if workload.UID != s.workload.UID || workload.Generation != s.workload.Generation ||
		!equality.Semantic.DeepEqual(workload.Status.Data, s.workload.Status.Data) {
		s.rewritten = true
		s.requeueAfter.AtMost(behindCache)
		return nil
	}
	var list v1alpha.WorkloadDeploymentList
	err := reader.List(ctx, &list, client.InNamespace(s.request.Namespace),
		client.MatchingLabels{v1alpha.LabelWorkloadUID: string(s.workload.UID)})
	if err != nil {
		return fmt.Errorf("list the Workload's deployments before a step of its rollout: %w", err)
	}
	clear(s.existing)
	for i := range list.Items {
		s.existing[list.Items[i].Name] = &list.Items[i]
	}
	return nil
}

// assignTemplates gives every planned deployment the template that it should have now.
func (s *scope) assignTemplates() error {
	newcomer := rollout.Newcomer(&s.rolling.state)
	for _, desired := range s.plan.deployments {
		existing := s.existing[desired.Name]
		if existing == nil || !sameDeployment(existing, desired) {
			s.giveEarlier(desired, newcomer)
			continue
		}
		desired.Spec.Overrides = existing.DeepCopy().Spec.Overrides
		step, found := s.stepOf(desired)
		if s.isHeld() || !found || s.rolling.draining[desired.Name] {
			keepTemplates(existing, desired)
		} else if err := s.take(step, existing, desired); err != nil {
			return err
		}
		s.pause(desired)
	}
	return nil
}

// stepOf returns the step of a deployment.
func (s *scope) stepOf(desired *v1alpha.WorkloadDeployment) (rollout.Step, bool) {
	for _, step := range s.rolling.result.Take {
		if s.rolling.cities[step.City].Name == desired.Name {
			return step, true
		}
	}
	return rollout.Step{}, false
}

// giveEarlier gives a new deployment the template of the others while that differs from the target.
func (s *scope) giveEarlier(desired *v1alpha.WorkloadDeployment, hash string) {
	if hash == s.rolling.Target {
		return
	}
	for _, other := range s.rolling.cities {
		if template, resources := templates.WithHash(&other.Spec, hash); template != nil {
			desired.Spec.Template, desired.Spec.InstanceTypeResources = *template.DeepCopy(), resources.DeepCopy()
			return
		}
	}
}

// keepTemplates leaves a deployment the templates that it has, and the limit of its step.
func keepTemplates(existing, desired *v1alpha.WorkloadDeployment) {
	kept := existing.Spec.DeepCopy()
	if len(kept.InstanceTypeResources) > 0 || !templates.Equalities.DeepEqual(kept.Template, desired.Spec.Template) {
		desired.Spec.InstanceTypeResources = kept.InstanceTypeResources
	}
	desired.Spec.Template, desired.Spec.Partition, desired.Spec.Surge = kept.Template, kept.Partition, kept.Surge
	if kept.Partition != nil && isCautious(kept.Rollout) {
		limitToOne(desired)
	}
}

// pause tells hub/propagation that the rollout of a deployment waits for a user, so that its cells level the slack of
// the disruption budget. Only a deployment that the rollout has begun and has a budget is written for that.
func (s *scope) pause(desired *v1alpha.WorkloadDeployment) {
	if s.rolling.result.Phase != rollout.Paused || s.workload.Spec.Disruption == nil ||
		desired.Spec.Partition == nil && desired.Spec.Surge == 0 {
		return
	}
	if desired.Spec.Rollout == nil {
		desired.Spec.Rollout = &v1alpha.WorkloadRollout{}
	}
	desired.Spec.Rollout.Paused = true
}

// take changes the templates of a deployment according to a step.
func (s *scope) take(step rollout.Step, existing, desired *v1alpha.WorkloadDeployment) error {
	s.rolling.steps[desired.Name] = s.describeStep(step, existing)
	if step.Override != nil {
		keepTemplates(existing, desired)
		desired.Spec.Overrides = withTurn(existing, step)
		return nil
	}
	if step.Held {
		keepTemplates(existing, desired)
		desired.Spec.Partition.Index = int32(step.Index) //nolint:gosec // at most 10000
		return nil
	}
	desired.Spec.Surge = int32(step.Surge) //nolint:gosec // at most as many as Instances
	if step.Released {
		return nil
	}
	template, resources := templates.WithHash(&existing.Spec, step.Stable)
	if template == nil {
		return errors.New("the deployment does not have the template that its Instances keep; it is read again")
	}
	desired.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{
		Index: int32(step.Index), Template: *template.DeepCopy(), InstanceTypeResources: resources.DeepCopy(), //nolint:gosec // at most 10000
	}
	if step.Cautious {
		limitToOne(desired)
	}
	return nil
}

// withTurn returns the turns of the cells of a deployment with the turn of a step. Turns stay until the next one of their
// cell; cells that do not report any more have none.
func withTurn(existing *v1alpha.WorkloadDeployment, step rollout.Step) []v1alpha.OverrideTurn {
	turns := slices.DeleteFunc(slices.Clone(existing.Spec.Overrides), func(turn v1alpha.OverrideTurn) bool {
		return turn.Cell == step.Override.Cell || !slices.ContainsFunc(existing.Status.Indices, func(of v1alpha.CellIndices) bool {
			return of.Cell == turn.Cell
		})
	})
	return append(turns, v1alpha.OverrideTurn{
		Cell: step.Override.Cell, TemplateHash: step.Override.Template, AtOnce: int32(step.AtOnce), //nolint:gosec // at most 5000
	})
}

// limitToOne lets the cells of a deployment take down one Instance at a time.
func limitToOne(desired *v1alpha.WorkloadDeployment) {
	if desired.Spec.Rollout == nil {
		desired.Spec.Rollout = &v1alpha.WorkloadRollout{}
	}
	desired.Spec.Rollout.MaxUnavailable = new(intstr.FromInt32(1))
}

func isCautious(r *v1alpha.WorkloadRollout) bool {
	return r != nil && r.MaxUnavailable != nil && *r.MaxUnavailable == intstr.FromInt32(1)
}

// describeStep is the note of the Event of a step.
func (s *scope) describeStep(step rollout.Step, of *v1alpha.WorkloadDeployment) string {
	template := "template " + s.rolling.Target
	if s.rolling.revision > 0 && s.rolling.Target == s.rolling.Written {
		template = fmt.Sprintf("revision %d", s.rolling.revision)
	}
	deployment := fmt.Sprintf("deployment %s", of.Name)
	switch more := step.Surge - int(of.Spec.Surge); {
	case step.Override != nil:
		return fmt.Sprintf("%s: cell %s gives the Instances of %s the template that %s",
			of.Spec.CityCode, step.Override.Cell, deployment, step.Override.Cause())
	case step.Held:
		return fmt.Sprintf("%s: new Instances of %s get the earlier template until their turn", of.Spec.CityCode, deployment)
	case more > 0:
		return fmt.Sprintf("%s: %s gets %s with %s", of.Spec.CityCode, deployment,
			reasons.Count(more, "additional Instance", "additional Instances"), template)
	case more < 0 && !step.Released:
		return fmt.Sprintf("%s: the cells cannot start an additional Instance of %s; its Instances are replaced without one",
			of.Spec.CityCode, deployment)
	case more < 0:
		return fmt.Sprintf("%s: the additional Instances of %s are removed", of.Spec.CityCode, deployment)
	case step.Released:
		return fmt.Sprintf("%s: all Instances of %s get %s", of.Spec.CityCode, deployment, template)
	}
	return fmt.Sprintf("%s: Instances of %s from index %d on get %s", of.Spec.CityCode, deployment, step.Index, template)
}
