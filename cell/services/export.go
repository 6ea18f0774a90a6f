// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// exportKind is the kind of the Multi-Cluster Services API that offers a Service to other clusters.
var exportKind = schema.GroupVersionKind{Group: "multicluster.x-k8s.io", Version: "v1alpha1", Kind: "ServiceExport"}

// exportsInterval is the interval in which a cell is asked whether it serves the kind.
const exportsInterval = 10 * time.Minute

// Exports reports whether the cell serves optional kinds: ServiceExports, without Kinds. It is safe for concurrent use. Its
// methods accept a nil receiver: the cell does not.
type Exports struct {
	// Kinds are the kinds that the cell must serve.
	Kinds []schema.GroupVersionKind
	// Mapper knows the kinds of the cell.
	Mapper meta.RESTMapper
	// Clock determines when the cell is asked again.
	Clock clock.PassiveClock

	mu     sync.Mutex
	asked  time.Time
	served bool
}

// Served reports whether the cell serves the kinds, as of at most exportsInterval ago: each answer "no" is a
// request for the kinds of the cell.
func (e *Exports) Served() bool { return e.servedWithin(exportsInterval) }

// awaited is Served for a Workload that waits for the kinds: the answer is at most retryAfter old.
func (e *Exports) awaited() bool { return e.servedWithin(retryAfter) }

func (e *Exports) servedWithin(age time.Duration) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := e.Clock.Now(); e.asked.IsZero() || now.Sub(e.asked) >= age {
		served, err := e.ask()
		if err != nil {
			// No answer: what was known before counts, and the next reconcile asks again.
			return e.served
		}
		e.asked, e.served = now, served
	}
	return e.served
}

func (e *Exports) ask() (served bool, err error) {
	kinds := e.Kinds
	if len(kinds) == 0 {
		kinds = []schema.GroupVersionKind{exportKind}
	}
	for _, kind := range kinds {
		_, err := e.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if meta.IsNoMatchError(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// newExport is a ServiceExport without its spec: the kind has none that must be set.
func newExport(key client.ObjectKey) *unstructured.Unstructured {
	export := &unstructured.Unstructured{}
	export.SetGroupVersionKind(exportKind)
	export.SetNamespace(key.Namespace)
	export.SetName(key.Name)
	return export
}

// exporting has the owners that the ServiceExport must have. It is left alone until it is known whether the agent has the
// Service.
type exporting struct {
	known bool
	// owners are the owners of the Service; nil: there is no Service to export.
	owners []metav1.OwnerReference
}

// export keeps a ServiceExport beside the Service of the agent, with the same owners, where the cell serves the kind. A
// ServiceExport of others stays as it is: it exports the Service, too.
func (s *scope) export(ctx context.Context) error {
	if !s.exporting.known || !s.Exports.Served() {
		return nil
	}
	existing := newExport(s.key)
	err := s.APIReader.Get(ctx, s.key, existing)
	if client.IgnoreNotFound(err) != nil {
		return wrapped(err, "get", s.key)
	}
	owners, exists := s.exporting.owners, err == nil
	if owners != nil {
		owners = ownersOf(existing, owners)
	}
	switch {
	case exists && (!isOwn(existing) || existing.GetDeletionTimestamp() != nil), !exists && owners == nil:
		return nil
	case exists && owners == nil:
		uid := existing.GetUID()
		return wrapped(client.IgnoreNotFound(s.Client.Delete(ctx, existing, client.Preconditions{UID: &uid})), "delete", s.key)
	case exists && equality.Semantic.DeepEqual(existing.GetOwnerReferences(), owners):
		return nil
	case exists:
		return apply.Replace(ctx, s.Client, FieldManager, existing, map[string]any{
			"/metadata/resourceVersion": existing.GetResourceVersion(), "/metadata/ownerReferences": owners,
		})
	}
	desired := newExport(s.key)
	desired.SetLabels(ownLabel())
	desired.SetOwnerReferences(owners)
	return wrapped(client.IgnoreAlreadyExists(s.Client.Create(ctx, desired, client.FieldOwner(FieldManager))), "create", s.key)
}

func wrapped(err error, verb string, key client.ObjectKey) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s ServiceExport %s: %w", verb, key, err)
}
