// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// writeBuckets writes the available amount of each resource type.
func (l *Ledger) writeBuckets(ctx context.Context, accounts accounts) error {
	list, err := l.Objects.Resource(Buckets).Namespace(systemNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the buckets: %w", err)
	}
	existing := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		resourceType, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "resourceType")
		existing[resourceType] = &list.Items[i]
		accounts.of(resourceType)
	}
	for resourceType, held := range accounts {
		if err := l.writeBucket(ctx, existing[resourceType], resourceType, held); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) writeBucket(ctx context.Context, bucket *unstructured.Unstructured, resourceType string, held *account) error {
	if bucket == nil {
		hash := fnv.New32a()
		// Writing to a hash.Hash never returns an error.
		_, _ = hash.Write([]byte(resourceType))
		bucket = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": groupVersion.String(), "kind": "AllowanceBucket",
			"metadata": map[string]any{"name": fmt.Sprintf("project-%s-%08x", l.Project, hash.Sum32()), "namespace": systemNamespace},
			"spec": map[string]any{
				"consumerRef":  map[string]any{"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": l.Project},
				"resourceType": resourceType,
			},
		}}
		var err error
		if bucket, err = l.Objects.Resource(Buckets).Namespace(systemNamespace).Create(ctx, bucket,
			metav1.CreateOptions{FieldManager: fieldManager}); err != nil {
			return fmt.Errorf("create the bucket of %s: %w", resourceType, err)
		}
	}
	limit, known, _ := unstructured.NestedInt64(bucket.Object, "status", "limit")
	allocated, _, _ := unstructured.NestedInt64(bucket.Object, "status", "allocated")
	if known && limit == held.limit && allocated == held.allocated {
		return nil
	}
	return l.writeStatus(ctx, Buckets, systemNamespace, bucket.GetName(), string(bucket.GetUID()), map[string]any{
		"limit": held.limit, "allocated": held.allocated, "available": max(0, held.limit-held.allocated),
		"lastReconciliation": l.Clock.Now().UTC().Format(time.RFC3339),
	})
}
