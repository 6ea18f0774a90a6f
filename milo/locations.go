// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/citychoice"
)

// Locations reads which locations a project may use from its LocationBindings.
type Locations struct {
	// Kind reports whether Milo serves LocationBindings. Nil: Milo serves them.
	Kind *LocationKind
}

// Object is the watched kind, on which the result of List depends.
func (Locations) Object() client.Object { return &LocationBinding{} }

// List returns the project's locations, available or not, by name. It returns v1alpha.ErrLocationsNotServed while Milo does not serve
// LocationBindings: the project's cache is empty then, which does not mean that the project has no locations.
func (l Locations) List(ctx context.Context, project client.Reader) ([]citychoice.Location, error) {
	var bindings LocationBindingList
	if err := project.List(ctx, &bindings); err != nil {
		return nil, fmt.Errorf("list the project's LocationBindings: %w", err)
	}
	if len(bindings.Items) == 0 && l.Kind.IsMissing() {
		return nil, citychoice.ErrLocationsNotServed
	}
	return locationsOf(bindings.Items), nil
}

// CityCodes are the cities of the project's available LocationBindings: upper case, sorted, each once.
func (l Locations) CityCodes(ctx context.Context, project client.Reader) ([]string, error) {
	locations, err := l.List(ctx, project)
	return citychoice.AvailableCities(locations), err
}

// locationsOf are the locations of bindings, by name. A location whose binding is being deleted is not available.
func locationsOf(bindings []LocationBinding) []citychoice.Location {
	locations := make([]citychoice.Location, 0, len(bindings))
	for i := range bindings {
		binding := &bindings[i]
		locations = append(locations, citychoice.Location{
			Name: cmp.Or(binding.Spec.LocationRef.Name, binding.Name), City: binding.City(), Topology: binding.Spec.Topology,
			Available: meta.IsStatusConditionTrue(binding.Status.Conditions, ConditionAvailable) && binding.DeletionTimestamp.IsZero(),
		})
	}
	slices.SortStableFunc(locations, func(a, b citychoice.Location) int { return strings.Compare(a.Name, b.Name) })
	return locations
}
