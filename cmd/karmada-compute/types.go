// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/instancetypes"
)

func newCatalogue(hub *rest.Config, scheme *runtime.Scheme, grace time.Duration) (*instancetypes.Catalogue, error) {
	reader, err := client.New(hub, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client for the hub: %w", err)
	}
	return instancetypes.NewCatalogue(instancetypes.CatalogueOptions{
		Hub: reader, Clock: clock.RealClock{}, Registerer: metrics.Registry, Log: ctrl.Log.WithName("instancetypes"), Grace: grace,
	}), nil
}

// admissionTypes implements webhook.InstanceTypes with a Catalogue.
type admissionTypes struct {
	catalogue *instancetypes.Catalogue
	byDefault string
}

// Types are the types that the hub has confirmed lately.
func (t *admissionTypes) Types(ctx context.Context) ([]v1alpha.InstanceType, bool, error) {
	return checkable(t.catalogue.Confirmed(ctx, instancetypes.ConfirmedWithin))
}

// FreshTypes are the types of now.
func (t *admissionTypes) FreshTypes(ctx context.Context) ([]v1alpha.InstanceType, bool, error) {
	return checkable(t.catalogue.Fresh(ctx))
}

// Default is the type of Workloads that name none.
func (t *admissionTypes) Default() string { return t.byDefault }

// Grace is how long after its deprecation a type may be named by new Workloads, and the time of now.
func (t *admissionTypes) Grace() (time.Duration, time.Time) { return t.catalogue.Grace() }

// checkable reports that nothing is checked if the hub does not serve the kind.
func checkable(types []v1alpha.InstanceType, err error) ([]v1alpha.InstanceType, bool, error) {
	if errors.Is(err, instancetypes.ErrNotServed) {
		return nil, false, nil
	}
	return types, err == nil, err
}
