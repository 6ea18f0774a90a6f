// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package owned finds the Instances that a WorkloadDeployment controls, and reads what is asked of each most often.
package owned

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// byController is the name of the cache's index of Instances by the UID of what controls them.
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

// Instances are all Instances that deployment controls, those being deleted too, in no order.
func Instances(ctx context.Context, reader client.Reader, deployment *v1alpha.WorkloadDeployment) ([]v1alpha.Instance, error) {
	var list v1alpha.InstanceList
	if err := reader.List(ctx, &list, client.InNamespace(deployment.Namespace),
		client.MatchingFields{byController: string(deployment.UID)}); err != nil {
		return nil, fmt.Errorf("list the Instances of WorkloadDeployment %s: %w", client.ObjectKeyFromObject(deployment), err)
	}
	return list.Items, nil
}

// Reference is the owner reference by which deployment controls an Instance.
func Reference(deployment *v1alpha.WorkloadDeployment) metav1.OwnerReference {
	return *metav1.NewControllerRef(deployment, v1alpha.GroupVersion.WithKind("WorkloadDeployment"))
}

// Deployment is the WorkloadDeployment that controls instance, or nil when there is none any more.
func Deployment(ctx context.Context, reader client.Reader, instance *v1alpha.Instance) (*v1alpha.WorkloadDeployment, error) {
	controller := metav1.GetControllerOfNoCopy(instance)
	if controller == nil || controller.Kind != "WorkloadDeployment" || controller.APIVersion != v1alpha.GroupVersion.String() {
		return nil, nil
	}
	deployment := &v1alpha.WorkloadDeployment{}
	key := client.ObjectKey{Namespace: instance.Namespace, Name: controller.Name}
	if err := reader.Get(ctx, key, deployment); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get the WorkloadDeployment of Instance %s: %w", client.ObjectKeyFromObject(instance), err)
	}
	if deployment.UID != controller.UID {
		return nil, nil
	}
	return deployment, nil
}

// Ready says whether an Instance serves: it is Ready and not being deleted.
func Ready(instance *v1alpha.Instance) bool {
	if !instance.DeletionTimestamp.IsZero() {
		return false
	}
	for i := range instance.Status.Conditions {
		if condition := &instance.Status.Conditions[i]; condition.Type == v1alpha.ConditionReady {
			return condition.Status == metav1.ConditionTrue
		}
	}
	return false
}

// TemplateHash is the hash of the template that an Instance was made from, or nothing when it does not say.
func TemplateHash(instance *v1alpha.Instance) string {
	if instance.Spec.Controller == nil {
		return ""
	}
	return instance.Spec.Controller.TemplateHash
}

// Gates are the scheduling gates that hold an Instance.
func Gates(instance *v1alpha.Instance) []v1alpha.SchedulingGate {
	if instance.Spec.Controller == nil {
		return nil
	}
	return instance.Spec.Controller.SchedulingGates
}
