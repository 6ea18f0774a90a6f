// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// doubtsFieldManager is the field manager of the annotation.
const doubtsFieldManager = client.FieldOwner("karmada-compute-abandoned")

// recordDoubt records the answers so far for the next process, until there are enough: then the withdrawal begins.
func (s *namespaceScope) recordDoubt(ctx context.Context) error {
	record, enough := s.patience.Record(s.namespace.Name)
	if enough {
		return nil
	}
	return s.annotate(ctx, record)
}

// dropDoubt drops the answers about the hub namespace, so that the questions begin again.
func (s *namespaceScope) dropDoubt(ctx context.Context) error {
	if _, recorded := s.namespace.Annotations[v1alpha.AnnotationAbsent]; recorded {
		s.patience.Drop(s.namespace.Name)
		return s.annotate(ctx, nil)
	}
	s.patience.Forget(s.namespace.Name)
	return nil
}

// annotate sets the annotation; nil removes it.
func (s *namespaceScope) annotate(ctx context.Context, value any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": s.namespace.UID, "annotations": map[string]any{v1alpha.AnnotationAbsent: value},
	}})
	if err != nil {
		return fmt.Errorf("encode the answers about a project: %w", err)
	}
	err = s.Hub.Patch(ctx, s.namespace, client.RawPatch(types.MergePatchType, patch), doubtsFieldManager)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("record the answers about the project of hub namespace %s: %w", s.namespace.Name, err)
	}
	return nil
}
