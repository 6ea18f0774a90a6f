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

// InstanceTypes says which instance types there are. It is safe for concurrent use.
type InstanceTypes interface {
	// Types are those that the hub has confirmed lately: before a refusal, ask FreshTypes. checked is false where there are none to
	// check against. An error says that the hub has given no answer for too long.
	Types(ctx context.Context) (types []v1alpha.InstanceType, checked bool, err error)
	// FreshTypes are those of now.
	FreshTypes(ctx context.Context) ([]v1alpha.InstanceType, bool, error)
	// Default is the type of Workloads that name none; "": they must name one.
	Default() string
	// Grace is how long after its deprecation a type may be named by new Workloads, and the time of now. 0: without end.
	Grace() (grace time.Duration, now time.Time)
}

// typesTimeout bounds how long a request waits for the types.
const typesTimeout = 3 * time.Second

// validateTypes returns the problems and warnings about the instance type of a Workload. A type is refused only by a fresh
// answer. An error says that the request needs an answer of the hub and there is none: a type that was disabled must not get
// Instances because the hub is away. A change that takes nothing of a type needs none.
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

// catalogue are the types with what the operator has set about them.
func (v *Workloads) catalogue(types []v1alpha.InstanceType) validation.Catalogue {
	grace, now := v.Types.Grace()
	return validation.Catalogue{Types: types, Default: v.Types.Default(), Grace: grace, Now: now}
}
