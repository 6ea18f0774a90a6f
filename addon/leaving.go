// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// errStopped is about objects that only the replicas can remove, which do not run.
var errStopped = errors.New("only the replicas can remove them, and they do not run: enable karmada-compute again, and then " +
	"repeat this command")

// held is an error that describes objects which are left at a plane and which only the replicas can remove, if no replica
// is installed: WorkloadDeployments, and Workloads with their finalizer.
func (s *session) held(ctx context.Context, p *plane, objects []unstructured.Unstructured) error {
	objects = slices.DeleteFunc(slices.Clone(objects), func(candidate unstructured.Unstructured) bool {
		return candidate.GetKind() == v1alpha.KindWorkload && !slices.Contains(candidate.GetFinalizers(), v1alpha.FinalizerWorkload)
	})
	if len(objects) == 0 {
		return nil
	}
	running, err := s.host.exists(ctx, reference{"apps/v1", "Deployment", s.options.karmada.namespace, Name})
	if err != nil || running {
		return err
	}
	return fmt.Errorf("%s: %w", leftAt(p, objects), errStopped)
}

// leftAt describes objects of one kind that are left at a plane: their number, and what the first of them waits for.
func leftAt(p *plane, objects []unstructured.Unstructured) string {
	first := &objects[0]
	text := fmt.Sprintf("%d %ss are left at %s, the first is %s/%s", len(objects), first.GetKind(), p.name,
		first.GetNamespace(), first.GetName())
	if finalizers := first.GetFinalizers(); len(finalizers) > 0 {
		text += ", which waits for " + strings.Join(finalizers, ", ")
	}
	return text
}

// checkMeanwhile finds what consumers have created since the first check, when the replicas have stopped: the kinds are
// deleted next, and what has finalizers of the replicas would never be deleted.
func (s *session) checkMeanwhile(ctx context.Context) error {
	if s.options.workloads == workloadsKeep {
		return nil
	}
	planes, err := s.marked(ctx)
	if err != nil {
		return err
	}
	if !isWithoutMilo(s.values) {
		planes = append(planes, s.hub)
	}
	for _, p := range planes {
		for _, kind := range []string{v1alpha.KindWorkload, v1alpha.KindWorkloadDeployment} {
			found, err := p.list(ctx, v1alpha.GroupVersion.String(), kind)
			if err == nil {
				err = s.held(ctx, p, found)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// waitingCells names the cells in which Karmada has not deleted yet what the add-on has withdrawn; "": none.
func (s *session) waitingCells(ctx context.Context) (string, error) {
	works := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "work.karmada.io/v1alpha1", Kind: "WorkList"}}
	if err := s.hub.List(ctx, works); err != nil {
		return "", fmt.Errorf("list the Works at %s: %w", s.hub.name, err)
	}
	var cells []string
	for i := range works.Items {
		work := &works.Items[i]
		cell, isCell := strings.CutPrefix(work.GetNamespace(), executionSpace)
		if isCell && work.GetDeletionTimestamp() != nil && len(work.GetFinalizers()) > 0 &&
			(naming.IsHubNamespace(work.GetAnnotations()[bindingNamespace]) || work.GetLabels()[v1alpha.LabelProject] != "") {
			cells = append(cells, cell)
		}
	}
	slices.Sort(cells)
	if cells = slices.Compact(cells); len(cells) == 0 {
		return "", nil
	}
	return fmt.Sprintf("Karmada has not deleted everything in cells %s yet; a cell that does not answer holds the deletion, "+
		"see docs/runbooks/leaving.md", strings.Join(cells, ", ")), nil
}

const (
	// executionSpace begins the namespace of a cell's Works.
	executionSpace = "karmada-es-"
	// bindingNamespace is Karmada's annotation of a Work that has the namespace of its ResourceBinding.
	bindingNamespace = "resourcebinding.karmada.io/namespace"
)

// cellsInterval is the interval between reads of the Works of all cells.
const cellsInterval = 5 * time.Second

// awaitDeleted waits until a kind has no object at a plane, which the replicas bring about. It prints the cells that it waits
// for whenever they change.
func (s *session) awaitDeleted(ctx context.Context, p *plane, kind string) error {
	var (
		left       []unstructured.Unstructured
		unanswered error
	)
	said, asked := "", time.Now()
	err := wait.PollUntilContextTimeout(ctx, pollInterval, s.options.karmada.timeout, true, func(ctx context.Context) (bool, error) {
		found, err := p.list(ctx, v1alpha.GroupVersion.String(), kind)
		if unanswered = err; err != nil {
			return false, nil //nolint:nilerr // it is asked again until the timeout
		}
		if left = found; len(left) == 0 {
			return true, nil
		}
		if err := s.held(ctx, p, left); err != nil {
			return false, err
		}
		if time.Since(asked) < cellsInterval {
			return false, nil
		}
		waiting, err := s.waitingCells(ctx)
		if err == nil && waiting != "" && waiting != said {
			s.say("%s", waiting)
		}
		if asked = time.Now(); err == nil {
			said = waiting
		}
		return false, nil
	})
	if err == nil || errors.Is(err, errStopped) || ctx.Err() != nil {
		return err
	}
	if len(left) == 0 {
		return errors.Join(err, unanswered)
	}
	waiting, failed := s.waitingCells(ctx)
	if waiting == "" {
		waiting = "the add-on must run to remove them"
	}
	return errors.Join(fmt.Errorf("%s; %s: %w", leftAt(p, left), waiting, err), failed)
}
