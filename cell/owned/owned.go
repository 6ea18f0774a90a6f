// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package owned finds the Instances that a WorkloadDeployment controls and the WorkloadDeployment of an Instance, in
// the cache, and names the templates of a WorkloadDeployment.
package owned

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// byController is the name of the cache's index of Instances by the UID of their controller.
const byController = "controllerUID"

// Index adds the index that Instances reads to a cache. Call it once, before the cache starts.
func Index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &v1alpha.Instance{}, byController, func(obj client.Object) []string {
		controller := metav1.GetControllerOfNoCopy(obj)
		if controller == nil {
			return nil
		}
		return []string{string(controller.UID)}
	}); err != nil {
		return fmt.Errorf("index Instances by their controller: %w", err)
	}
	return nil
}

// Instances returns all Instances that deployment controls, including Instances that are being deleted, in no order.
// They are shared with the cache and must not be changed: each event of one of thousands lists them all.
func Instances(ctx context.Context, reader client.Reader, deployment *v1alpha.WorkloadDeployment) ([]v1alpha.Instance, error) {
	var found v1alpha.InstanceList
	if err := reader.List(ctx, &found, client.InNamespace(deployment.Namespace), client.MatchingFields{byController: string(deployment.UID)},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the Instances of WorkloadDeployment %s: %w", client.ObjectKeyFromObject(deployment), err)
	}
	return found.Items, nil
}

// SpecChanged drops updates of WorkloadDeployments that change neither the spec nor what the hub has written about the
// spec.
func SpecChanged() predicate.Predicate {
	about := []string{
		v1alpha.AnnotationRequires, v1alpha.AnnotationIntended, v1alpha.AnnotationIntendedQuota, v1alpha.AnnotationProjectGeneration,
	}
	return predicate.Or(watch.GenerationChanged(), predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return slices.ContainsFunc(about, func(key string) bool {
			return e.ObjectOld.GetAnnotations()[key] != e.ObjectNew.GetAnnotations()[key]
		})
	}})
}

// Requests maps a WorkloadDeployment to the Instances that it controls.
func Requests(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		deployment, ok := obj.(*v1alpha.WorkloadDeployment)
		if !ok {
			return nil
		}
		instances, err := Instances(ctx, reader, deployment)
		if err != nil {
			// They are listed from the cache, which fails only without the index.
			log.FromContext(ctx).Error(err, "Cannot find the Instances of a WorkloadDeployment that has changed")
			return nil
		}
		requests := make([]reconcile.Request, 0, len(instances))
		for i := range instances {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&instances[i])})
		}
		return requests
	}
}

// Deployment returns the WorkloadDeployment that controls instance, or nil if it does not exist.
func Deployment(ctx context.Context, reader client.Reader, instance *v1alpha.Instance) (*v1alpha.WorkloadDeployment, error) {
	controller := metav1.GetControllerOfNoCopy(instance)
	if controller == nil || controller.Kind != v1alpha.KindWorkloadDeployment || controller.APIVersion != v1alpha.GroupVersion.String() {
		return nil, nil
	}
	deployment := &v1alpha.WorkloadDeployment{}
	key := client.ObjectKey{Namespace: instance.Namespace, Name: controller.Name}
	if err := reader.Get(ctx, key, deployment); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get the WorkloadDeployment of Instance %s: %w", client.ObjectKeyFromObject(instance), err)
	}
	// The name may have passed on to another deployment.
	if deployment.UID != controller.UID {
		return nil, nil
	}
	return deployment, nil
}

// Floor is the number of Available Instances that voluntary disruptions in the cell of this deployment must leave; nil:
// its Workload has no budget, and disruptions are not limited. If the assignment has no floor for the cell, the floor
// of its city counts.
func Floor(deployment *v1alpha.WorkloadDeployment) *v1alpha.AvailabilityFloor {
	if deployment == nil {
		return nil
	}
	if assignment := deployment.Spec.Assignment; assignment != nil {
		cell := deployment.Cell()
		for i := range assignment.Cells {
			if own := &assignment.Cells[i]; own.Name == cell && own.Floor != nil {
				return own.Floor
			}
		}
	}
	return deployment.Spec.Floor
}

// RunsEarlier reports whether, by its status, the Pod of an Instance has the template that the Instance had before it
// was replaced in place.
func RunsEarlier(instance *v1alpha.Instance) bool {
	observed := instance.Status.Controller
	return observed != nil && observed.ObservedTemplateHash != "" && observed.ObservedTemplateHash != instance.TemplateHash()
}

// Superseded reports whether the status of an Instance was written before the Instance was replaced in place. Nothing
// in it is about the present template.
func Superseded(instance *v1alpha.Instance) bool {
	if !RunsEarlier(instance) {
		return false
	}
	ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionReady)
	return ready == nil || ready.ObservedGeneration != instance.Generation
}

// Conditions are the conditions of an Instance; none if they are about an earlier template.
func Conditions(instance *v1alpha.Instance) []metav1.Condition {
	if Superseded(instance) {
		return nil
	}
	return instance.Status.Conditions
}

// Ready reports whether an Instance is Ready, with its present template, and not being deleted.
func Ready(instance *v1alpha.Instance) bool {
	return instance.DeletionTimestamp.IsZero() && !Superseded(instance) &&
		meta.IsStatusConditionTrue(instance.Status.Conditions, v1alpha.ConditionReady)
}

// Available reports whether an Instance is Ready and Available: it has been Ready for long enough. An external runtime
// need not write Available.
func Available(instance *v1alpha.Instance) bool {
	return Ready(instance) && !meta.IsStatusConditionFalse(instance.Status.Conditions, v1alpha.ConditionAvailable)
}
