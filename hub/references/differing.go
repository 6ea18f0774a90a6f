// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// differing are objects whose content in a cell is another one than the hub has sent.
type differing struct {
	// kept are the objects that a party keeps at their content, and overridden the objects that an override policy has
	// changed, which is honoured.
	kept, overridden []string
}

// inCell is an object in a cell.
type inCell struct {
	cell string
	item
}

// compareCells finds the objects of each deployment whose content in a cell differs, as the cells report. Only the hub
// sees the usual cause, an override policy.
func (s *scope) compareCells(ctx context.Context) error {
	known := map[inCell][]string{}
	var failed []error
	for _, d := range s.deployments {
		for _, cell := range d.reportedToDiffer(s.objects) {
			policies, found := known[cell]
			if !found {
				var err error
				if policies, err = s.overridesOf(ctx, cell); err != nil {
					failed = append(failed, err)
					continue
				}
				known[cell] = policies
			}
			text := fmt.Sprintf("%s %s in cell %s", cell.Kind, cell.Name, cell.cell)
			if len(policies) > 0 {
				d.differing.overridden = append(d.differing.overridden, text+" by "+strings.Join(policies, ", "))
				continue
			}
			d.differing.kept = append(d.differing.kept, text)
			failed = append(failed, s.applyAgain(ctx, cell))
		}
	}
	return errors.Join(failed...)
}

// reportedToDiffer returns the objects that the deployment names and that its cells name in their reports.
func (d *deployment) reportedToDiffer(objects map[item]*object) []inCell {
	var found []inCell
	for _, indices := range reportOf(d.copied).differing {
		for _, o := range inOrder(d.objectsIn(objects)) {
			if templates.DiffersIn(indices.DataDiffers, o.DataObject) {
				found = append(found, inCell{indices.Cell, o.item})
			}
		}
	}
	return found
}

// applyAgain triggers Karmada to apply an object again: it does not by itself when a customization that has retained the
// content is gone.
func (s *scope) applyAgain(ctx context.Context, cell inCell) error {
	again, err := s.Repairer.ApplyAgain(ctx, s.APIReader, repairs.Repair{
		Reason: v1alpha.ReasonReferencedDataDiffers, Object: &workv1alpha1.Work{ObjectMeta: workOf(cell)}, Cell: cell.cell,
		Message: fmt.Sprintf("the cell keeps another content of %s %s", cell.Kind, cell.Name),
	}, client.FieldOwner(FieldManager))
	s.requeueAfter.AtMost(cmp.Or(again, differsRetry))
	return err
}

// workOf returns the namespace and the name of the Work that carries an object to a cell.
func workOf(cell inCell) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: karmadanames.GenerateExecutionSpaceName(cell.cell),
		Name:      karmadanames.GenerateWorkName(cell.Kind, cell.Name, cell.hubNamespace),
	}
}

// overridesOf returns the override policies that have changed an object for a cell. They are in the metadata of its Work.
func (s *scope) overridesOf(ctx context.Context, cell inCell) ([]string, error) {
	work := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: workv1alpha1.GroupVersion.String(), Kind: "Work"}}
	key := client.ObjectKeyFromObject(&workv1alpha1.Work{ObjectMeta: workOf(cell)})
	if err := s.APIReader.Get(ctx, key, work); err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("get Work %s: %w", key, err)
	}
	return path.OverridesOf(&workv1alpha1.Work{ObjectMeta: work.ObjectMeta}), nil
}

// message describes the objects that are kept; "": none is.
func (d *differing) message() string {
	if len(d.kept) == 0 {
		return ""
	}
	return bounded(append([]string{"the cell keeps another content than the project has, which a customization of Karmada or a party " +
		"in the cell retains: " + d.kept[0]}, d.kept[1:]...))
}
