// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// Hidden returns the kinds of a project that the user may not list, by the names that view.Read has for them, with the
// refusals. If the user may list none of them, it returns the refusal of the first as an error.
func Hidden(ctx context.Context, o Options) (map[string]error, error) {
	hidden, seen := map[string]error{}, false
	kinds := []struct {
		name string
		list client.ObjectList
	}{
		{"workloads", &v1alpha.WorkloadList{}},
		{"workloaddeployments", &v1alpha.WorkloadDeploymentList{}},
		{"instances", &v1alpha.InstanceList{}},
	}
	for _, kind := range kinds {
		err := o.Project.Client.List(ctx, kind.list, client.InNamespace(o.Key.Namespace), client.Limit(1))
		switch {
		case err == nil:
			seen = true
		case view.IsHidden(err):
			hidden[kind.name] = err
		default:
			return nil, fmt.Errorf("list %s: %w", kind.name, err)
		}
	}
	if !seen {
		return nil, hidden[kinds[0].name]
	}
	return hidden, nil
}
