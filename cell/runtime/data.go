// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// MissingData are the objects that Instances of a deployment with this spec wait for. An object that the hub did not send
// does not count: it may hold anything. Nor does an object of another project, which an earlier project of the name may
// have left: an Instance waits until such an object is gone, even if it is optional. The reader is a cache of metadata
// that contains only objects that the hub sent.
func MissingData(
	ctx context.Context, reader client.Reader, deployment *v1alpha.WorkloadDeployment, spec *v1alpha.InstanceSpec,
) ([]templates.DataObject, error) {
	needed, optional := templates.DataObjects(spec)
	var missing []templates.DataObject
	for i, object := range slices.Concat(needed, optional) {
		found := metadataOf(object.Kind)
		err := reader.Get(ctx, client.ObjectKey{Namespace: deployment.Namespace, Name: object.Name}, found)
		exists := err == nil
		switch {
		case client.IgnoreNotFound(err) != nil:
			return nil, fmt.Errorf("get %s %s: %w", object.Kind, object.Name, err)
		case !exists && i < len(needed), exists && found.Labels[v1alpha.LabelProjectUID] != deployment.Labels[v1alpha.LabelProjectUID]:
			missing = append(missing, object)
		}
	}
	return missing, nil
}

// DataSpecs lists the objects in a namespace that a controller reconciles, with the spec of each.
type DataSpecs func(ctx context.Context, namespace string) (map[types.NamespacedName]*v1alpha.InstanceSpec, error)

// WatchData enqueues the objects of specs that name a ConfigMap or Secret when it is created or deleted, and after the
// updates that a predicate lets pass.
func WatchData(b *builder.Builder, specs DataSpecs, updates predicate.Predicate) *builder.Builder {
	for _, kind := range []string{templates.KindConfigMap, templates.KindSecret} {
		b = b.WatchesMetadata(metadataOf(kind), handler.EnqueueRequestsFromMapFunc(needing(kind, specs)),
			builder.WithPredicates(predicate.Or(watch.IgnoreUpdates(), updates)))
	}
	return b
}

func needing(kind string, specs DataSpecs) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		all, err := specs(ctx, obj.GetNamespace())
		if err != nil {
			// They are listed from the cache, which has them all.
			log.FromContext(ctx).Error(err, "Cannot find what needs an object", "kind", kind, "name", obj.GetName())
			return nil
		}
		var requests []reconcile.Request
		for key, spec := range all {
			needed, optional := templates.DataObjects(spec)
			if slices.Contains(slices.Concat(needed, optional), templates.DataObject{Kind: kind, Name: obj.GetName()}) {
				requests = append(requests, reconcile.Request{NamespacedName: key})
			}
		}
		return requests
	}
}

func metadataOf(kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}
}
