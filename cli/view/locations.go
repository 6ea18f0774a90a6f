// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// LocationBindings is the kind in which a project of Milo has its locations.
var LocationBindings = schema.GroupVersionKind{Group: "networking.datumapis.com", Version: "v1alpha", Kind: "LocationBinding"}

// ErrLocationsUnread is the reason why a project without Milo does not tell its locations.
var ErrLocationsUnread = errors.New("the project has no LocationBindings")

// locationBinding has the fields of a LocationBinding that decide about the cities of a project.
type locationBinding struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		LocationRef struct {
			Name string `json:"name"`
		} `json:"locationRef"`
		Topology map[string]string `json:"topology"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// ReadLocations returns the locations of a project, or why they are unknown.
func ReadLocations(ctx context.Context, project client.Reader) ([]cities.Location, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(LocationBindings.GroupVersion().WithKind(LocationBindings.Kind + "List"))
	if err := project.List(ctx, list); err != nil {
		return nil, err
	}
	var locations []cities.Location
	for i := range list.Items {
		binding := &locationBinding{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, binding); err != nil {
			return nil, fmt.Errorf("read LocationBinding %s: %w", list.Items[i].GetName(), err)
		}
		available := meta.IsStatusConditionTrue(binding.Status.Conditions, v1alpha.ConditionAvailable)
		locations = append(locations, cities.Location{
			Name: cmp.Or(binding.Spec.LocationRef.Name, binding.Metadata.Name), Topology: binding.Spec.Topology,
			City:      strings.ToUpper(binding.Spec.Topology[v1alpha.LabelTopologyCity]),
			Available: available && binding.Metadata.DeletionTimestamp.IsZero(),
		})
	}
	if len(locations) == 0 {
		return nil, ErrLocationsUnread
	}
	return locations, nil
}
