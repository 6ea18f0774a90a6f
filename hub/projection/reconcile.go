// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"fmt"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/hub/origin"
)

// pass is one look at one deployment.
type pass struct {
	*Reconciler
	project    client.Client
	deployment *v1alpha.WorkloadDeployment
	// copied is the deployment on the hub.
	copied *v1alpha.WorkloadDeployment
	// existing are the projected Instances of the deployment, by name.
	existing map[string]*v1alpha.Instance
}

// Reconcile looks at one WorkloadDeployment of one project.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := r.Projects.Get(ctx, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	p := &pass{Reconciler: r, project: project.GetClient(), deployment: &v1alpha.WorkloadDeployment{}, copied: &v1alpha.WorkloadDeployment{}}
	found, err := p.load(ctx, request.NamespacedName)
	if err != nil || !found {
		return reconcile.Result{}, err
	}
	for _, step := range []func(context.Context) error{p.applyInstances, p.deleteSurplus, p.writeStatus} {
		if err := step(ctx); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, nil
}

// load reads the original, the copy and the Instances. It is false when there is nothing to project: no original, one
// that is being deleted (its Instances go with it), or no copy of this very original.
func (p *pass) load(ctx context.Context, name types.NamespacedName) (bool, error) {
	if err := p.project.Get(ctx, name, p.deployment); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	hubNamespace := p.deployment.Annotations[v1alpha.AnnotationFederationNamespace]
	if hubNamespace == "" || !p.deployment.DeletionTimestamp.IsZero() {
		return false, nil
	}
	if err := p.Hub.Get(ctx, types.NamespacedName{Namespace: hubNamespace, Name: name.Name}, p.copied); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if p.copied.Labels[v1alpha.LabelDeploymentUID] != string(p.deployment.UID) {
		return false, nil
	}
	var instances v1alpha.InstanceList
	if err := p.project.List(ctx, &instances, client.InNamespace(name.Namespace),
		client.MatchingLabels{v1alpha.LabelDeploymentUID: string(p.deployment.UID)}); err != nil {
		return false, fmt.Errorf("list the projected Instances: %w", err)
	}
	p.existing = make(map[string]*v1alpha.Instance, len(instances.Items))
	for i := range instances.Items {
		p.existing[instances.Items[i].Name] = &instances.Items[i]
	}
	return true, nil
}

func (p *pass) applyInstances(ctx context.Context) error {
	hash, err := v1alpha.TemplateHash(&p.deployment.Spec.Template)
	if err != nil {
		return err
	}
	for i := range p.copied.Status.Instances {
		reported := &p.copied.Status.Instances[i]
		if _, ok := v1alpha.InstanceIndex(p.deployment.Name, reported.Name); !ok {
			// A cell can speak only of what was sent to it.
			log.FromContext(ctx).Info("Reported Instance does not belong to the deployment and is not projected", "instance", reported.Name)
			continue
		}
		if err := p.applyInstance(ctx, reported, hash); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) applyInstance(ctx context.Context, reported *v1alpha.ReportedInstance, hash string) error {
	existing := p.existing[reported.Name]
	if existing != nil && !existing.DeletionTimestamp.IsZero() {
		// It is projected anew when it is gone; its end brings the deployment back here.
		return nil
	}
	desired := p.desiredInstance(reported, existing, hash)
	stored := existing
	if existing == nil || apply.MetadataDiffers(existing, desired) || !equality.Semantic.DeepEqual(existing.Spec, desired.Spec) {
		var err error
		if stored, err = apply.Object(ctx, p.project, Owner, desired); err != nil {
			return err
		}
		if !equality.Semantic.DeepEqual(stored.Spec, desired.Spec) {
			if err := apply.ReplaceSpec(ctx, p.project, Owner, stored, desired.Spec); err != nil {
				return err
			}
		}
	}
	status := desiredInstanceStatus(reported, stored.Generation)
	if equality.Semantic.DeepEqual(stored.Status, status) {
		return nil
	}
	stored.Status = status
	return apply.Status(ctx, p.project, Owner, stored)
}

// deleteSurplus removes projections of Instances that no cell reports any more.
func (p *pass) deleteSurplus(ctx context.Context) error {
	reported := make(map[string]bool, len(p.copied.Status.Instances))
	for i := range p.copied.Status.Instances {
		reported[p.copied.Status.Instances[i].Name] = true
	}
	for name, existing := range p.existing {
		if reported[name] || !existing.DeletionTimestamp.IsZero() {
			continue
		}
		if err := p.project.Delete(ctx, existing, client.Preconditions{UID: &existing.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete the projection of Instance %s: %w", name, err)
		}
	}
	return nil
}

func (p *pass) writeStatus(ctx context.Context) error {
	served, err := p.cityHasCell(ctx)
	if err != nil {
		return err
	}
	binding, err := origin.Binding(ctx, p.Hub, client.ObjectKeyFromObject(p.copied))
	if err != nil {
		return err
	}
	status := p.desiredStatus(served, refusal(binding))
	written := *p.deployment.Status.DeepCopy()
	written.Conditions = withoutForeign(written.Conditions)
	if equality.Semantic.DeepEqual(written, status) {
		return nil
	}
	p.deployment.Status = status
	return apply.Status(ctx, p.project, Owner, p.deployment)
}

func (p *pass) cityHasCell(ctx context.Context) (bool, error) {
	var clusters clusterv1alpha1.ClusterList
	if err := p.Hub.List(ctx, &clusters); err != nil {
		return false, fmt.Errorf("list the hub's Clusters: %w", err)
	}
	for i := range clusters.Items {
		if v1alpha.CityLabel(clusters.Items[i].Labels[v1alpha.LabelTopologyCity]) == v1alpha.CityLabel(p.deployment.Spec.CityCode) {
			return true, nil
		}
	}
	return false, nil
}
