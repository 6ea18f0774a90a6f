// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// forbidden is the field manager of the writes that only the add-on may send: what such a write changes is listed under
// this name in the object's managedFields.
const forbidden = client.FieldOwner("hostile-forbidden")

// trial is a write with the object before the write and in the answer.
type trial struct {
	Write
	// before is the object before a write that must fail; nil if it could not be read.
	before *unstructured.Unstructured
	// answer is the object of the answer.
	answer *unstructured.Unstructured
	err    error
}

// try sends a write. Another party may change the object between the read and the write.
func (w Write) try(ctx context.Context, c client.Client) *trial {
	t := &trial{Write: w}
	if w.MustFail && w.Verb == "patch" {
		before := w.object()
		if err := c.Get(ctx, client.ObjectKeyFromObject(before), before); err == nil {
			t.before = before
		}
	}
	t.answer, t.err = w.send(ctx, c)
	return t
}

func (w Write) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: fields{}}
	if w.Verb == "create" {
		object.Object = asFields(w.Body)
	}
	object.SetGroupVersionKind(w.Kind)
	object.SetNamespace(w.Namespace)
	object.SetName(w.Name)
	return object
}

// send sends the request, and returns the object of the answer.
func (w Write) send(ctx context.Context, c client.Client) (*unstructured.Unstructured, error) {
	object := w.object()
	switch w.Verb {
	case "create":
		return object, c.Create(ctx, object)
	case "update":
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return object, err
		}
		overlay(object.Object, asFields(w.Body))
		return object, c.Update(ctx, object)
	case "delete":
		return object, c.Delete(ctx, object, client.PropagationPolicy(w.Policy))
	}
	if w.Reported {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return object, err
		}
		if address, _, err := unstructured.NestedString(object.Object, "status", "podIP"); err != nil || address == "" {
			return object, errors.Join(errNotReported, err)
		}
		w.Body = maps.Clone(w.Body)
		w.Body["metadata"] = fields{"uid": object.GetUID()}
	}
	body, err := json.Marshal(w.Body)
	if err != nil {
		return object, fmt.Errorf("encode a patch: %w", err)
	}
	patch, manager := client.RawPatch(types.MergePatchType, body), client.FieldOwner("hostile")
	if w.MustFail {
		manager = forbidden
	}
	if w.Subresource == "" {
		return object, c.Patch(ctx, object, patch, manager)
	}
	return object, c.SubResource(w.Subresource).Patch(ctx, object, patch, manager)
}

var errNotReported = errors.New("the node of the Pod has not reported it yet")

// overlay replaces the fields of an object.
func overlay(object, with fields) {
	for name, value := range with {
		inner, isFields := value.(fields)
		if into, areFields := object[name].(fields); isFields && areFields {
			overlay(into, inner)
			continue
		}
		object[name] = value
	}
}

// harmless reports whether an accepted write has changed nothing. The API server drops the fields that the schema does
// not have, and admission does not review a patch of which nothing is left. The resourceVersion stays, unless another
// party has changed the object since it was read; then the answer's managedFields show whether this write has changed a
// field. A scale has none of these, and each of its writes is reviewed.
func (t *trial) harmless() bool {
	if t.err != nil || t.Verb != "patch" || t.before == nil || t.Subresource == "scale" {
		return false
	}
	if t.answer.GetResourceVersion() == t.before.GetResourceVersion() {
		return true
	}
	managed := t.answer.GetManagedFields()
	return len(managed) > 0 && !slices.ContainsFunc(managed, func(m metav1.ManagedFieldsEntry) bool { return m.Manager == string(forbidden) })
}

// evidence describes an accepted write that must fail in JSON: the request, the answer, and the object before the
// write.
func (t *trial) evidence() string {
	var before fields
	if t.before != nil {
		before = t.before.Object
	}
	content, err := json.Marshal(struct {
		Verb        string `json:"verb"`
		Kind        string `json:"kind"`
		Subresource string `json:"subresource,omitempty"`
		Namespace   string `json:"namespace,omitempty"`
		Name        string `json:"name"`
		Body        fields `json:"body"`
		Answer      fields `json:"answer"`
		Before      fields `json:"before,omitempty"`
	}{t.Verb, t.Kind.String(), t.Subresource, t.Namespace, t.Name, t.Body, t.answer.Object, before})
	if err != nil {
		return err.Error()
	}
	return string(content)
}
