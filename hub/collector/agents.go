// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/path"
)

// agentFault is a fault of the Work of an object of the agents.
type agentFault struct {
	binding, cell string
	fault         path.Fault
}

// repairAgents repairs the Works of the agents' objects in the cells of this replica, as the audit repairs the Works of deployments:
// Karmada recreates no Work until its binding is reconciled, and does not try a Work again that it has seen.
func (i *Inventory) repairAgents(ctx context.Context, v *view) error {
	var bindings workv1alpha2.ResourceBindingList
	if err := i.Hub.List(ctx, &bindings, client.InNamespace(cells.Binding.Namespace)); err != nil {
		return fmt.Errorf("list the ResourceBindings of the agents: %w", err)
	}
	faults := map[agentFault]time.Time{}
	var failed []error
	for n := range bindings.Items {
		binding := &bindings.Items[n]
		for _, target := range binding.Spec.Clusters {
			if c := v.cells[target.Name]; c == nil || !c.ready || !i.owns(c.name) || !binding.DeletionTimestamp.IsZero() {
				continue
			}
			work, err := cells.AgentWork(ctx, i.Hub, binding, target.Name)
			if err != nil {
				return err
			}
			key := agentFault{binding.Name, target.Name, faultOf(work)}
			if key.fault == "" {
				continue
			}
			since, known := i.agents[key]
			if !known {
				since = i.Clock.Now()
			}
			faults[key] = since
			if i.Clock.Since(since) >= i.After {
				failed = append(failed, i.repairAgent(ctx, binding, work, key))
			}
		}
	}
	i.agents = faults
	return errors.Join(failed...)
}

// faultOf returns the fault of the Work of an object of the agents; "": it has none. work is nil if it does not exist, or
// carries another object.
func faultOf(work *workv1alpha1.Work) path.Fault {
	switch {
	case work == nil:
		return path.WorkMissing
	case work.DeletionTimestamp.IsZero() && !meta.IsStatusConditionTrue(work.Status.Conditions, workv1alpha1.WorkApplied):
		return path.WorkNotApplied
	}
	return ""
}

func (i *Inventory) repairAgent(
	ctx context.Context, binding *workv1alpha2.ResourceBinding, work *workv1alpha1.Work, of agentFault,
) error {
	repair := Repair{
		Reason: string(of.fault), Object: binding, Cell: of.cell, Message: "the Work of an object of the agent is not in the cell's namespace",
	}
	if work != nil {
		repair.Object, repair.Message = work, "Karmada has not applied the Work of an object of the agent"
		_, err := i.Repairer.ApplyAgain(ctx, i.APIReader, repair, repairFieldManager)
		return err
	}
	_, err := i.Repairer.Do(ctx, repair, func(ctx context.Context) error {
		live := &workv1alpha2.ResourceBinding{}
		if err := i.APIReader.Get(ctx, client.ObjectKeyFromObject(binding), live); err != nil {
			return err
		}
		// As refreshBinding.
		version := "0"
		if live.Spec.Resource.ResourceVersion == version {
			version = "1"
		}
		patch, err := repairPatch(live, map[string]any{"resource": map[string]any{"resourceVersion": version}}, i.Clock.Now())
		if err != nil {
			return err
		}
		return i.Hub.Patch(ctx, live, patch, repairFieldManager)
	})
	return err
}
