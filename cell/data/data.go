// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package data watches the ConfigMaps and Secrets that Instances need to start, in the cell.
package data

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/predicates"
)

// Missing are those of the needed objects that are not in the cell. An object that the hub did not send does not count: it
// may hold anything. The reader is a cache of metadata that has no others.
func Missing(ctx context.Context, reader client.Reader, namespace string, needed []v1alpha.DataObject) ([]v1alpha.DataObject, error) {
	var missing []v1alpha.DataObject
	for _, object := range needed {
		switch err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: object.Name}, metadataOf(object.Kind)); {
		case apierrors.IsNotFound(err):
			missing = append(missing, object)
		case err != nil:
			return nil, fmt.Errorf("get %s %s: %w", object.Kind, object.Name, err)
		}
	}
	return missing, nil
}

// Specs lists the objects in a namespace that a controller reconciles, with what each of them runs.
type Specs func(ctx context.Context, namespace string) (map[types.NamespacedName]*v1alpha.InstanceSpec, error)

// Watch enqueues the objects of specs that need a ConfigMap or Secret when it is created or deleted. Its content does not
// matter to them.
func Watch(b *builder.Builder, specs Specs) *builder.Builder {
	for _, kind := range []string{v1alpha.KindConfigMap, v1alpha.KindSecret} {
		b = b.WatchesMetadata(metadataOf(kind), handler.EnqueueRequestsFromMapFunc(needing(kind, specs)),
			builder.WithPredicates(predicates.IgnoreUpdates()))
	}
	return b
}

func needing(kind string, specs Specs) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		all, err := specs(ctx, obj.GetNamespace())
		if err != nil {
			// They are listed from the cache, which has them all.
			log.FromContext(ctx).Error(err, "Cannot find what needs an object", "kind", kind, "name", obj.GetName())
			return nil
		}
		var requests []reconcile.Request
		for key, spec := range all {
			if needed, _ := v1alpha.DataObjects(spec); slices.Contains(needed, v1alpha.DataObject{Kind: kind, Name: obj.GetName()}) {
				requests = append(requests, reconcile.Request{NamespacedName: key})
			}
		}
		return requests
	}
}

func metadataOf(kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}
}
