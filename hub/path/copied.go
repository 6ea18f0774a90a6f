// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Copy is the copy of a project's deployment on the hub.
type Copy struct {
	// Object is the copy, even if it belongs to another deployment of the name or is being deleted; nil: none exists.
	Object *v1alpha.WorkloadDeployment
	// Reports are the reports of its cells, which are in the status of the copy, too; nil: the copy belongs to another deployment,
	// is being deleted, or does not exist.
	Reports *Reports
}

// LoadCopy reads the copy of a deployment from the hub, and gives it the status that its cells report in their Works. hub may be a
// cache, or an API server.
func LoadCopy(ctx context.Context, hub client.Reader, original *v1alpha.WorkloadDeployment) (Copy, error) {
	name := types.NamespacedName{Namespace: original.Annotations[v1alpha.AnnotationHubNamespace], Name: original.Name}
	copied := &v1alpha.WorkloadDeployment{}
	if err := hub.Get(ctx, name, copied); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return Copy{}, nil
		}
		return Copy{}, fmt.Errorf("get the hub's copy of deployment %s: %w", original.Name, err)
	}
	if !IsCopy(copied, original) || !copied.DeletionTimestamp.IsZero() {
		return Copy{Object: copied}, nil
	}
	reports, err := ReadReports(ctx, hub, copied)
	if err != nil {
		return Copy{}, err
	}
	copied.Status = reports.Status()
	return Copy{Object: copied, Reports: reports}, nil
}

// IsCopy reports whether an object of the hub is the copy of this very deployment, and not of an earlier one of its name.
func IsCopy(copied, original *v1alpha.WorkloadDeployment) bool {
	return copied.Labels[v1alpha.LabelDeploymentUID] == string(original.UID)
}
