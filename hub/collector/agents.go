// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
)

// agentFault is a fault of the Work of an object of the agents.
type agentFault struct {
	binding client.ObjectKey
	cell    string
	fault   path.Fault
}

// repairAgents repairs the Works of the agents' objects in the cells of this replica, as the audit repairs the Works of deployments:
// Karmada recreates no Work until its binding is reconciled, and does not try a Work again that it has seen.
func (i *Inventory) repairAgents(ctx context.Context, v *view) error {
	bindings, err := cells.AgentBindings(ctx, i.Hub)
	if err != nil {
		return err
	}
	faults := map[agentFault]time.Time{}
	var failed []error
	for _, binding := range bindings {
		for _, target := range cells.SpecOf(binding).Clusters {
			if c := v.cells[target.Name]; c == nil || !c.ready || !i.owns(c.name) || binding.GetDeletionTimestamp() != nil {
				continue
			}
			work, err := cells.AgentWork(ctx, i.Hub, binding, target.Name)
			if err != nil {
				return err
			}
			key := agentFault{client.ObjectKeyFromObject(binding), target.Name, faultOf(work)}
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

func (i *Inventory) repairAgent(ctx context.Context, binding client.Object, work *workv1alpha1.Work, fault agentFault) error {
	repair := repairs.Repair{
		Reason: string(fault.fault), Object: binding, Cell: fault.cell,
		Message: "the Work of an object of the agent is not in the cell's namespace",
	}
	if work != nil {
		repair.Object, repair.Message = work, "Karmada has not applied the Work of an object of the agent"
		_, err := i.Repairer.ApplyAgain(ctx, i.APIReader, repair, repairFieldManager)
		return err
	}
	_, err := i.Repairer.Do(ctx, repair, func(ctx context.Context) error {
		live, _ := binding.DeepCopyObject().(client.Object)
		if err := i.APIReader.Get(ctx, client.ObjectKeyFromObject(binding), live); err != nil {
			return err
		}
		// As refreshBinding.
		version := "0"
		if cells.SpecOf(live).Resource.ResourceVersion == version {
			version = "1"
		}
		patch, err := repairs.Patch(live, map[string]any{"resource": map[string]any{"resourceVersion": version}}, i.Clock.Now())
		if err != nil {
			return err
		}
		return i.Hub.Patch(ctx, live, patch, repairFieldManager)
	})
	return err
}
