// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ByLabel is an index, in the caches of projects, of the objects of a kind by the value of a label. A list by the label
// selector itself reads every object of the namespace.
type ByLabel struct {
	// Object is an empty object of the kind.
	Object client.Object
	// Label is the key of the label.
	Label string
}

// AddTo adds the index to every project that is engaged from now on. It is an error to add it later, or twice.
func (i ByLabel) AddTo(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, i.Object, i.field(), func(obj client.Object) []string {
		if value, labelled := obj.GetLabels()[i.Label]; labelled {
			return []string{value}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index %T by label %s: %w", i.Object, i.Label, err)
	}
	return nil
}

// Value selects the objects whose label has this value, in a cache with the index.
func (i ByLabel) Value(value string) client.MatchingFields {
	return client.MatchingFields{i.field(): value}
}

func (i ByLabel) field() string { return "label " + i.Label }
