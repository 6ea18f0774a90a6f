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
	// Types are those that were known last; they may be a little old: before a refusal, ask FreshTypes. checked is false where
	// there are none to check against. An error says that the hub gave no answer.
	Types(ctx context.Context) (types []v1alpha.InstanceType, checked bool, err error)
	// FreshTypes are those of now.
	FreshTypes(ctx context.Context) ([]v1alpha.InstanceType, bool, error)
	// Default is the type of Workloads that name none; "": they must name one.
	Default() string
}

// typesTimeout bounds how long a request waits for the types.
const typesTimeout = time.Second

// validateTypes returns the problems and warnings about the instance type of a Workload. A type is refused only by a fresh
// answer. When the hub gives none, the Workload passes with a warning: the controllers start nothing of a type that does not
// exist, and admission must not depend on the hub.
func (v *Workloads) validateTypes(ctx context.Context, workload, before *v1alpha.Workload) (field.ErrorList, []string) {
	if v.Types == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, typesTimeout)
	defer cancel()
	types, checked, err := v.Types.Types(ctx)
	if err == nil && checked {
		problems, warnings := validation.InstanceType(workload, before, validation.Catalogue{Types: types, Default: v.Types.Default()})
		if len(problems) == 0 {
			return nil, warnings
		}
		types, checked, err = v.Types.FreshTypes(ctx)
	}
	switch {
	case err != nil:
		return nil, []string{fmt.Sprintf("spec.template.spec.runtime.resources.instanceType: the instance types cannot be looked up now; "+
			"a Workload of a type that does not exist gets no Instances: %v", err)}
	case !checked:
		return nil, nil
	}
	return validation.InstanceType(workload, before, validation.Catalogue{Types: types, Default: v.Types.Default()})
}
