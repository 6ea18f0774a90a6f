// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instancetypes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// CatalogueManager is the field manager of the status of the hub's types.
const CatalogueManager apply.FieldManager = "karmada-compute-catalogue"

// recordDeprecations writes into the hub's types when they were deprecated. Every replica does: the first write wins,
// since each has the version that was read as precondition. A failure is logged if it differs from the previous one,
// and the next read of the types retries.
func (c *Catalogue) recordDeprecations(ctx context.Context, known []v1alpha.InstanceType) {
	if !slices.ContainsFunc(known, lacksDeprecation) {
		return
	}
	text := ""
	if err := c.writeDeprecations(ctx); err != nil {
		text = err.Error()
		if text != c.unrecorded {
			c.options.Log.Error(err, "Failed to record the time of a deprecation; the grace period of the type does not begin")
		}
	}
	c.unrecorded = text
	if _, err := c.Fresh(ctx); err != nil {
		c.options.Log.V(1).Info("The instance types are read again later", "error", err.Error())
	}
}

func (c *Catalogue) writeDeprecations(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var list v1alpha.InstanceTypeList
	if err := c.options.Hub.List(ctx, &list); err != nil {
		return fmt.Errorf("list the hub's instance types: %w", err)
	}
	var failures []error
	for i := range list.Items {
		kind := &list.Items[i]
		if !lacksDeprecation(*kind) {
			continue
		}
		kind.Status.DeprecatedAt = new(metav1.NewTime(c.options.Clock.Now()))
		err := apply.Status(ctx, c.options.Hub, CatalogueManager, kind)
		switch {
		case apierrors.IsConflict(err):
			// Another replica was first.
		case apierrors.IsNotFound(err):
			failures = append(failures, fmt.Errorf("instance type %s is gone, or the hub has an earlier CRD without its status; apply the CRD "+
				"instancetypes.compute.datumapis.com: %w", kind.Name, err))
		case err != nil:
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// lacksDeprecation reports whether a type is deprecated and the time is not recorded.
func lacksDeprecation(kind v1alpha.InstanceType) bool {
	return kind.Spec.Lifecycle.Phase == v1alpha.InstanceTypeDeprecated && kind.Status.DeprecatedAt == nil
}
