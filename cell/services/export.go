// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"fmt"
	"slices"
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
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// exportKind is the kind of the Multi-Cluster Services API that offers a Service to other clusters, and exportVersions are its
// versions, the newest first. All of them have the fields that the agent writes.
var (
	exportKind     = schema.GroupKind{Group: "multicluster.x-k8s.io", Kind: "ServiceExport"}
	exportVersions = []string{"v1", "v1beta1", "v1alpha1"}
)

// exportsInterval is the interval in which a cell is asked whether it serves the kind.
const exportsInterval = 10 * time.Minute

// Exports reports whether the cell serves optional kinds: ServiceExports, without Kinds. It is safe for concurrent use. Its
// methods accept a nil receiver: the cell does not.
type Exports struct {
	// Kinds are the kinds that the cell must serve. ServiceExports may have any of their versions.
	Kinds []schema.GroupVersionKind
	// Mapper knows the kinds of the cell.
	Mapper meta.RESTMapper
	// Clock determines when the cell is asked again.
	Clock clock.PassiveClock

	mu     sync.Mutex
	asked  time.Time
	served bool
	// export is the newest version of ServiceExport that the cell serves. dropped are newer ones that it does not serve any more.
	export  schema.GroupVersionKind
	dropped []schema.GroupVersionKind
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
		if !e.asked.IsZero() {
			e.dropped = nil
		}
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
	for _, kind := range e.Kinds {
		if served, err = e.serves(kind); !served || err != nil {
			return false, err
		}
	}
	if len(e.Kinds) > 0 {
		return true, nil
	}
	// The mapper learns the group without a version, and then asks the cell for each version that it has not found yet.
	for i, version := range append([]string{""}, exportVersions...) {
		kind := exportKind.WithVersion(version)
		switch served, err = e.serves(kind); {
		case err != nil, i == 0 && !served:
			return false, err
		case i > 0 && served && !slices.Contains(e.dropped, kind):
			e.export = kind
			return true, nil
		}
	}
	// A version that was not served for a moment is tried again.
	served, e.dropped = len(e.dropped) > 0, nil
	return served, nil
}

// drop records that the cell does not serve the version of ServiceExport that it has served: the mapper does not forget it.
func (e *Exports) drop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked, e.dropped = time.Time{}, append(e.dropped, e.export)
}

func (e *Exports) serves(kind schema.GroupVersionKind) (bool, error) {
	_, err := e.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

// newExport is a ServiceExport without its spec, which no version requires, in the version that the cell serves.
func (e *Exports) newExport(key client.ObjectKey) *unstructured.Unstructured {
	e.mu.Lock()
	defer e.mu.Unlock()
	return newObject(e.export, key)
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
	existing := s.Exports.newExport(s.key)
	err := s.APIReader.Get(ctx, s.key, existing)
	if wire.IsUnserved(err) {
		s.Exports.drop()
		s.RequeueAfter.AtMost(retryAfter)
		return nil
	}
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
	desired := s.Exports.newExport(s.key)
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
