// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// cellTimeout is how long the Cell in one cell may take to go.
const cellTimeout = 30 * time.Second

// removeCells deletes the Works that carry a Cell to every cell, and waits until Karmada has removed the Cell there: for that, the hub
// must still have the kind. An unreachable cell does not block the removal elsewhere.
func (s *session) removeCells(ctx context.Context) error {
	if s.options.workloads == workloadsKeep {
		return nil // The agents stay, and report to whoever enables the add-on again.
	}
	works := &unstructured.UnstructuredList{}
	works.SetAPIVersion("work.karmada.io/v1alpha1")
	works.SetKind("WorkList")
	if err := s.hub.List(ctx, works, client.HasLabels{v1alpha.LabelInventory}); err != nil {
		return fmt.Errorf("list the Works of the cells' inventories: %w", err)
	}
	for i := range works.Items {
		if err := s.hub.remove(ctx, referenceOf(&works.Items[i])); err != nil {
			return err
		}
	}
	for i := range works.Items {
		if err := s.hub.waitGone(ctx, referenceOf(&works.Items[i]), cellTimeout); err != nil {
			if ctx.Err() != nil {
				return err
			}
			s.say("%s stays on the hub, since Karmada does not reach the cell; when the cell is gone for good, remove the finalizer",
				describe(&works.Items[i]))
		}
	}
	return nil
}
