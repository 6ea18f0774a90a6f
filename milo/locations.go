// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Locations reads which cities a project may use from its LocationBindings.
type Locations struct{}

// Object is the kind to watch: CityCodes depends on it.
func (Locations) Object() client.Object { return &LocationBinding{} }

// CityCodes are the cities of the project's available LocationBindings: upper case, sorted, each once.
func (Locations) CityCodes(ctx context.Context, project client.Reader) ([]string, error) {
	var bindings LocationBindingList
	if err := project.List(ctx, &bindings); err != nil {
		return nil, fmt.Errorf("list the project's LocationBindings: %w", err)
	}
	return AvailableCityCodes(bindings.Items), nil
}

// AvailableCityCodes are the cities of the bindings that are available: upper case, sorted, each once.
func AvailableCityCodes(bindings []LocationBinding) []string {
	var codes []string
	for i := range bindings {
		binding := &bindings[i]
		available := meta.IsStatusConditionTrue(binding.Status.Conditions, ConditionAvailable)
		if available && binding.DeletionTimestamp.IsZero() && binding.City() != "" {
			codes = append(codes, binding.City())
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
