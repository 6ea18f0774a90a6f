// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apply writes typed objects by server-side apply, and only when they differ from the stored objects. It gives
// conditions the generation and the transition time with which they are written.
package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// FieldManager is the field manager of one controller.
type FieldManager string

// Object applies every field that is set in desired, except the status, and takes over fields of other field managers.
// Fields that the manager applied before and desired does not set are removed. It returns the object as stored.
func Object[T client.Object](ctx context.Context, c client.Client, manager FieldManager, desired T) (T, error) {
	return object(ctx, c, manager, desired, "")
}

// object is Object that fails with a conflict when the stored object has another resource version than version, unless
// that is "".
func object[T client.Object](ctx context.Context, c client.Client, manager FieldManager, desired T, version string) (T, error) {
	var stored T
	content, err := content(c, desired)
	if err != nil {
		return stored, err
	}
	unstructured.RemoveNestedField(content, "status")
	applied := &unstructured.Unstructured{Object: content}
	applied.SetResourceVersion(version)
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(manager), client.ForceOwnership); err != nil {
		return stored, fmt.Errorf("apply %s %s: %w", applied.GetKind(), client.ObjectKeyFromObject(desired), err)
	}
	stored = newLike(desired)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(applied.Object, stored); err != nil {
		return stored, fmt.Errorf("decode applied %s %s: %w", applied.GetKind(), client.ObjectKeyFromObject(desired), err)
	}
	return stored, nil
}

// Exact gives existing the metadata and the spec of desired and returns it as stored. Unlike Object, it also removes
// fields of the spec that other field managers set, and it writes nothing when nothing differs, or when admission of the
// API server has undone the same write before. existing is an empty object if none is stored yet. It is for kinds whose
// spec has one author: where an absent field is a value, as in kinds of ours, or where another value would admit more.
//
// leave are parts of the spec that belong to other field managers: each copies its part from the stored to the wanted
// object.
func Exact[T client.Object](
	ctx context.Context, c client.Client, manager FieldManager, existing, desired T, leave ...func(stored, wanted T),
) (T, error) {
	return exact(ctx, c, manager, pair[T]{existing: existing, desired: desired, leave: leave})
}

// ExactVersion is Exact, and fails with a conflict if the stored object has another version than existing: for
// decisions that depend on existing and must not overwrite a later decision.
func ExactVersion[T client.Object](
	ctx context.Context, c client.Client, manager FieldManager, existing, desired T, leave ...func(stored, wanted T),
) (T, error) {
	return exact(ctx, c, manager, pair[T]{existing: existing, desired: desired, leave: leave, version: existing.GetResourceVersion()})
}

// Shared is Exact that leaves the fields of the spec that only others set. Fields that the manager has set before and
// that desired does not set are removed, as by Object.
func Shared[T client.Object](ctx context.Context, c client.Client, manager FieldManager, existing, desired T) (T, error) {
	return exact(ctx, c, manager, pair[T]{existing: existing, desired: desired, shared: true})
}

// pair is the stored and the wanted object. version is the resource version to replace; "": any version.
type pair[T client.Object] struct {
	existing, desired T
	leave             []func(stored, wanted T)
	version           string
	shared            bool
}

// wanted is the spec that a stored object must have.
func (p *pair[T]) wanted(stored T) any {
	wanted := newLike(p.desired)
	for _, part := range p.leave {
		part(stored, wanted)
	}
	return specOf(wanted)
}

func (p *pair[T]) differs(stored T) bool {
	return MetadataDiffers(stored, p.desired) || !templates.Equalities.DeepEqual(specOf(stored), p.wanted(stored))
}

func exact[T client.Object](ctx context.Context, c client.Client, manager FieldManager, wish pair[T]) (T, error) {
	if wish.existing.GetUID() != "" && (!wish.differs(wish.existing) || isFutile(wish.existing, wish.desired)) {
		return wish.existing, nil
	}
	stored, err := object(ctx, c, manager, wish.desired, wish.version)
	if err != nil {
		return stored, err
	}
	if wanted := wish.wanted(stored); !wish.shared && !templates.Equalities.DeepEqual(specOf(stored), wanted) {
		values := map[string]any{"/spec": wanted}
		if len(wish.leave) > 0 || wish.version != "" {
			// The parts of other field managers may have changed since: that is a conflict then.
			values["/metadata/resourceVersion"] = stored.GetResourceVersion()
		}
		if err := Replace(ctx, c, manager, stored, values); err != nil {
			return stored, err
		}
	}
	if wish.differs(stored) {
		recordFutile(stored, wish.desired)
	}
	return stored, nil
}

// specOf is the spec of an object, or nil when its kind has none.
func specOf(obj client.Object) any {
	if untyped, ok := obj.(*unstructured.Unstructured); ok {
		return untyped.Object["spec"]
	}
	spec := reflect.Indirect(reflect.ValueOf(obj)).FieldByName("Spec")
	if !spec.IsValid() {
		return nil
	}
	return spec.Interface()
}

// Replace sets fields of the stored object, given by their JSON paths, to exactly these values. Server-side apply
// cannot do this: it never removes what another field manager added. Replace fails when stored was deleted or recreated
// meanwhile. It writes nothing when the same change has changed nothing before.
func Replace(ctx context.Context, c client.Client, manager FieldManager, stored client.Object, values map[string]any) error {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	change := maps.Clone(values)
	delete(change, "/metadata/resourceVersion")
	if isFutile(stored, change) {
		return nil
	}
	before, version := newLike(stored), stored.GetResourceVersion()
	operations := []operation{{Op: "test", Path: "/metadata/uid", Value: stored.GetUID()}}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		// "add" sets a field whether it exists or not; "replace" fails on one that does not.
		operations = append(operations, operation{Op: "add", Path: path, Value: values[path]})
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return fmt.Errorf("encode the fields of %s: %w", client.ObjectKeyFromObject(stored), err)
	}
	if err := c.Patch(ctx, stored, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(manager)); err != nil {
		return fmt.Errorf("replace fields of %s: %w", client.ObjectKeyFromObject(stored), err)
	}
	if stored.GetResourceVersion() == version {
		recordFutile(before, change)
	}
	return nil
}

// content is obj as JSON, with its kind and without the metadata that only an API server sets.
func content(c client.Client, obj client.Object) (map[string]any, error) {
	gvk, err := apiutil.GVKForObject(obj, c.Scheme())
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", gvk.Kind, client.ObjectKeyFromObject(obj), err)
	}
	result := &unstructured.Unstructured{Object: content}
	result.SetGroupVersionKind(gvk)
	for _, field := range []string{"creationTimestamp", "managedFields", "resourceVersion", "generation"} {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
	return content, nil
}

func newLike[T client.Object](obj T) T {
	copied, _ := obj.DeepCopyObject().(T)
	return copied
}
