// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// InstanceTypes returns the instance types. It is safe for concurrent use.
type InstanceTypes interface {
	// Types returns the types that the hub has confirmed recently: before a refusal, call FreshTypes. checked is false if
	// there are no types to check against. An error means that the hub has not answered for too long.
	Types(ctx context.Context) (types []v1alpha.InstanceType, checked bool, err error)
	// FreshTypes returns the current types.
	FreshTypes(ctx context.Context) ([]v1alpha.InstanceType, bool, error)
	// Default is the type of Workloads that name no type; "": they must name one.
	Default() string
	// Grace is the time after its deprecation for which new Workloads may name a type, and the current time. 0: no limit.
	Grace() (grace time.Duration, now time.Time)
}

// typesTimeout bounds how long a request waits for the types.
const typesTimeout = 3 * time.Second

// validateTypes returns the problems and warnings about the instance type of a Workload. Only a fresh answer refuses a
// type. An error means that the request needs an answer of the hub that is missing: a disabled type must not get
// Instances because the hub is unavailable. A change that adds no Instances of a type needs no answer.
func (v *Workloads) validateTypes(ctx context.Context, workload, before *v1alpha.Workload) (field.ErrorList, []string, error) {
	if v.Types == nil {
		return nil, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, typesTimeout)
	defer cancel()
	types, checked, err := v.Types.Types(ctx)
	if err == nil && checked {
		problems, warnings := validation.InstanceType(workload, before, v.catalogue(types))
		if len(problems) == 0 {
			return nil, warnings, nil
		}
		types, checked, err = v.Types.FreshTypes(ctx)
	}
	switch {
	case err != nil && !validation.TakesType(workload, before):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("spec.template.spec.runtime.resources.instanceType could not be looked up, try again: %w", err)
	case !checked:
		return nil, nil, nil
	}
	problems, warnings := validation.InstanceType(workload, before, v.catalogue(types))
	return problems, warnings, nil
}

// catalogue are the types with the settings of the operator.
func (v *Workloads) catalogue(types []v1alpha.InstanceType) validation.Catalogue {
	grace, now := v.Types.Grace()
	return validation.Catalogue{Types: types, Default: v.Types.Default(), Grace: grace, Now: now}
}
