// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// decision is about a deployment or a hub namespace that should not be in a cell.
type decision int

const (
	// undecided: a question failed.
	undecided decision = iota
	// keep: it is needed, or Karmada is processing it.
	keep
	// unwanted: the project does not have it, or it runs elsewhere.
	unwanted
)

// lookAtUnexpected removes objects from the cell that the projects of this replica have twice reported as unwanted
// there.
func (i *Inventory) lookAtUnexpected(ctx context.Context, c *cell, state *cellState) error {
	now := i.Clock.Now()
	var failed []error
	for entry, s := range state.unexpected {
		if now.Before(s.next) || i.left == 0 || entry.Project == "" || !i.Existence.Owns(naming.ProjectKey(entry.Project)) {
			continue
		}
		i.left--
		s.next = now.Add(i.After)
		found, err := i.decide(ctx, c, &entry)
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("%s is not expected in the cell: %w", describe(entry.Key()), err))
		case found == keep:
			s.unwantedSince = time.Time{}
		case s.unwantedSince.IsZero():
			s.unwantedSince = now
		default:
			failed = append(failed, i.remove(ctx, c.name, &entry))
		}
	}
	return errors.Join(failed...)
}

// decide decides whether a deployment or a hub namespace remains in a cell. It reads only API servers.
func (i *Inventory) decide(ctx context.Context, c *cell, entry *v1alpha.InventoryEntry) (decision, error) {
	work := &workv1alpha1.Work{}
	key := client.ObjectKey{Namespace: karmadanames.GenerateExecutionSpaceName(c.name), Name: workName(entry.Key())}
	if err := i.APIReader.Get(ctx, key, work); err == nil {
		// Karmada keeps the object up to date there, or is removing it.
		return keep, nil
	} else if !apierrors.IsNotFound(err) {
		return undecided, fmt.Errorf("get its Work: %w", err)
	}
	if entry.IsNamespace() {
		if used, err := i.isUsed(ctx, c, entry); err != nil || used {
			return keep, err
		}
	}
	answer, err := i.Owners.Verdict(ctx, ownership.Key{
		Project: entry.Project, ProjectUID: entry.ProjectUID, HubNamespace: entry.Namespace, UID: entry.DeploymentUID,
		Deployment: types.NamespacedName{Namespace: entry.ProjectNamespace, Name: entry.Name}, City: c.city,
	})
	switch {
	case answer.Held != "":
		log.FromContext(ctx).Info("An object without an original stays in its cell", "object", entry.Key(), "project",
			entry.Project, "reason", answer.Held)
		return keep, nil
	case answer.Verdict == ownership.Unknown:
		return undecided, err
	case answer.Verdict == ownership.Gone:
		return unwanted, nil
	case entry.IsNamespace():
		return keep, nil
	}
	elsewhere, err := i.runsElsewhere(ctx, c.name, entry.Key())
	if err != nil || !elsewhere {
		return keep, err
	}
	return unwanted, nil
}

// isUsed reports whether the cell or the hub has an object in a hub namespace that is for the cell's city.
func (i *Inventory) isUsed(ctx context.Context, c *cell, entry *v1alpha.InventoryEntry) (bool, error) {
	if !entry.Empty {
		return true, nil
	}
	var copies v1alpha.WorkloadDeploymentList
	if err := i.APIReader.List(ctx, &copies, client.InNamespace(entry.Namespace)); err != nil {
		return true, fmt.Errorf("list the copies in hub namespace %s: %w", entry.Namespace, err)
	}
	return slices.ContainsFunc(copies.Items, func(copied v1alpha.WorkloadDeployment) bool {
		return naming.CityLabel(copied.Spec.CityCode) == c.city
	}), nil
}

// runsElsewhere reports whether an existing deployment does not need the cell: it is not assigned to the cell, and
// runs in full in others.
func (i *Inventory) runsElsewhere(ctx context.Context, cell string, key types.NamespacedName) (bool, error) {
	copied := &v1alpha.WorkloadDeployment{}
	if err := i.APIReader.Get(ctx, key, copied); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	binding, err := path.GetBinding(ctx, i.APIReader, key)
	if err != nil || binding == nil || len(binding.Spec.Clusters) == 0 {
		return false, err
	}
	for n := range binding.Spec.Clusters {
		if binding.Spec.Clusters[n].Name == cell {
			return false, nil
		}
	}
	// A cell that must release indices waits for this.
	assigned := copied.Spec.Assignment != nil && len(naming.Assigned(copied.Spec.Assignment, cell)) > 0
	reports, err := path.ReadReports(ctx, i.APIReader, copied)
	if err != nil {
		return false, err
	}
	status := reports.Status()
	return copied.DeletionTimestamp.IsZero() && !assigned && status.ObservedGeneration == copied.Generation &&
		status.ReadyReplicas >= copied.Spec.DesiredReplicas(), nil
}

// remove deletes a deployment or a hub namespace in a cell through Karmada: when a Work is deleted, Karmada deletes its
// objects in the cell.
func (i *Inventory) remove(ctx context.Context, cell string, entry *v1alpha.InventoryEntry) error {
	work, err := removalWork(cell, entry)
	if err != nil {
		return err
	}
	message := fmt.Sprintf("project %s has no WorkloadDeployment %s/%s with UID %s any more, but cell %s has it", entry.Project,
		entry.ProjectNamespace, entry.Name, entry.DeploymentUID, cell)
	if entry.IsNamespace() {
		message = fmt.Sprintf("project %s has nothing in namespace %s for cell %s any more, but the cell has hub namespace %s", entry.Project,
			entry.ProjectNamespace, cell, entry.Namespace)
	}
	fault := repairs.Repair{Reason: "UnexpectedInCell", Object: work, Cell: cell, Message: message}
	_, err = i.Repairer.Do(ctx, fault, func(ctx context.Context) error {
		if err := i.Hub.Create(ctx, work, client.FieldOwner(InventoryFieldManager)); err != nil {
			if apierrors.IsAlreadyExists(err) {
				log.FromContext(ctx).Info("Karmada has created a Work for an object in removal; the Work stays", "work", work.Name)
				return nil
			}
			return fmt.Errorf("create the removal Work: %w", err)
		}
		return i.deleteWork(ctx, client.ObjectKeyFromObject(work), work.UID)
	})
	return err
}

// lookAtMissing triggers a Karmada reconcile of deployments that the cell lacks, and of hub namespaces that Karmada has not written
// into the cell: it tries no Work again that it has seen, such as one whose status a restored backup has set back.
func (i *Inventory) lookAtMissing(ctx context.Context, c *cell, state *cellState) error {
	if !i.owns(c.name) {
		return nil
	}
	now := i.Clock.Now()
	var failed []error
	again := func(suspects map[types.NamespacedName]*suspect, fault repairs.Repair) {
		for key, s := range suspects {
			if now.Sub(s.since) < i.After || now.Before(s.next) || i.left == 0 {
				continue
			}
			i.left--
			s.next = now.Add(i.After)
			failed = append(failed, i.resend(ctx, fault, key))
		}
	}
	again(state.missing, repairs.Repair{Reason: "MissingInCell", Cell: c.name, Message: "the cell does not have"})
	again(state.unapplied, repairs.Repair{Reason: string(path.WorkNotApplied), Cell: c.name, Message: "Karmada has not written into the cell"})
	return errors.Join(failed...)
}

// resend triggers Karmada to apply the Work of a deployment or a hub namespace again. It ignores objects without a
// Work: the inventory does not repair them.
func (i *Inventory) resend(ctx context.Context, fault repairs.Repair, object types.NamespacedName) error {
	fault.Object = &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: karmadanames.GenerateExecutionSpaceName(fault.Cell), Name: workName(object),
	}}
	fault.Message = fmt.Sprintf("%s %s", fault.Message, describe(object))
	_, err := i.Repairer.ApplyAgain(ctx, i.APIReader, fault, client.FieldOwner(InventoryFieldManager))
	return err
}
