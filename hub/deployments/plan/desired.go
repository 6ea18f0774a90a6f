// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/budget"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// keep adds the writes of a deployment that the Workload wants.
func (p *Plan) keep(i *intent) {
	existing := p.deployments[i.name]
	if existing == nil && p.isHeld() || existing != nil && !existing.DeletionTimestamp.IsZero() {
		// The event of the deletion is the next fact: the deployment is created again.
		return
	}
	scale := &i.placement.ScaleSettings
	if existing != nil && p.keepsScale(existing, scale) {
		scale = &existing.Spec.ScaleSettings
	}
	// Its records may have changed.
	existing = p.deployments[i.name]
	desired := p.desired(i, existing, scale)
	p.Writes = append(p.Writes, Write{Kind: Apply, Name: i.name, Desired: desired, Note: i.given.note})
	applied := desired
	if existing != nil {
		copied := *existing
		copied.Spec, applied = desired.Spec, &copied
	}
	p.deployments[i.name] = applied
}

// desired builds a deployment from the wishes of the Workload, the templates that the plan gives it, and the fields that stay of the
// existing one, which may be nil.
func (p *Plan) desired(
	i *intent, existing *v1alpha.WorkloadDeployment, scale *v1alpha.HorizontalScaleSettings,
) *v1alpha.WorkloadDeployment {
	d := i.object(p.Workload)
	d.Spec.ScaleSettings = *scale.DeepCopy()
	i.given.into(&d.Spec)
	p.serve(existing, &d.Spec)
	d.Spec.Floor = i.floor.DeepCopy()
	if existing == nil {
		return d
	}
	if i.floor != nil {
		// A stored floor that is newer comes from a later plan.
		d.Spec.Floor = budget.Newest(existing.Spec.Floor, i.floor).DeepCopy()
	}
	// Server-side apply removes the fields that its field manager does not set any more.
	if namespace := existing.Annotations[v1alpha.AnnotationHubNamespace]; namespace != "" {
		d.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: namespace}
	}
	if slices.Contains(existing.Finalizers, v1alpha.FinalizerPropagation) {
		d.Finalizers = []string{v1alpha.FinalizerPropagation}
	}
	return d
}

// object is the deployment of an intent as the Workload alone describes it, without scale and templates.
func (i *intent) object(workload *v1alpha.Workload) *v1alpha.WorkloadDeployment {
	d := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:      i.name,
			Namespace: workload.Namespace,
			Labels: map[string]string{
				v1alpha.LabelWorkloadUID:   string(workload.UID),
				v1alpha.LabelWorkloadName:  workload.Name,
				v1alpha.LabelPlacementName: i.placement.Name,
				v1alpha.LabelCityCode:      i.city,
			},
			OwnerReferences: []metav1.OwnerReference{workload.ControllerReference()},
		},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef:   v1alpha.WorkloadReference{Name: workload.Name, UID: workload.UID},
			PlacementName: i.placement.Name,
			CityCode:      i.city,
			Rollout:       workload.Spec.Rollout.ForDeployments(),
		},
	}
	if seconds := workload.Spec.MinReadySeconds; seconds != nil {
		d.Spec.MinReadySeconds = new(*seconds)
	}
	return d
}

// into sets the templates of a deployment, and what its cells must know of the rollout.
func (g *given) into(spec *v1alpha.WorkloadDeploymentSpec) {
	spec.Template, spec.InstanceTypeResources = *g.template.DeepCopy(), g.resources.DeepCopy()
	spec.Partition, spec.Surge, spec.Overrides = g.partition, g.surge, g.overrides
	if spec.Rollout == nil && (g.alone || g.paused) {
		spec.Rollout = &v1alpha.WorkloadRollout{}
	}
	if g.alone {
		spec.Rollout.MaxUnavailable = new(intstr.FromInt32(1))
	}
	if g.paused {
		spec.Rollout.Paused = true
	}
}

// serve sets the service of a deployment. The newest generation of the deployments of a cell decides about its Service: a change
// of other fields makes no newer one, and a new deployment of a Workload whose exposure ends gets 0, which never wins.
func (p *Plan) serve(existing *v1alpha.WorkloadDeployment, spec *v1alpha.WorkloadDeploymentSpec) {
	if p.withdrawing && existing != nil {
		spec.Service, spec.ServiceGeneration = existing.Spec.Service.DeepCopy(), existing.Spec.ServiceGeneration
		return
	}
	service := templates.CompleteService(p.Workload.Spec.Service)
	if service == nil {
		return
	}
	// hub/names reads the names and the probe from the Workload: a change of them changes no deployment, unless it is of a route.
	service.Hostnames, service.Probe = p.routes(), nil
	spec.Service, spec.ServiceGeneration = service, p.Workload.Generation
	switch {
	case p.withdrawing:
		spec.ServiceGeneration = 0
	case existing != nil && existing.Spec.ServiceGeneration > 0 && equality.Semantic.DeepEqual(existing.Spec.Service, service):
		spec.ServiceGeneration = existing.Spec.ServiceGeneration
	}
}
