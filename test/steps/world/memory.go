// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RemoveLater deletes an object at the end of the scenario.
func (s *Scenario) RemoveLater(plane string, object client.Object) {
	s.Made.Add(fmt.Sprintf("%T %s in %s", object, client.ObjectKeyFromObject(object), plane), func(ctx context.Context) error {
		c := s.Client(plane, Admin)
		return client.IgnoreNotFound(c.Delete(ctx, object))
	})
}

// MemoryOf returns the key under which an object is remembered.
func MemoryOf(plane string, object client.Object, kind string) string {
	return strings.Join([]string{plane, kind, object.GetNamespace(), object.GetName()}, " ")
}

// Remember stores the identity of an object, unless an object with its name was seen before.
func (b *seenBefore) Remember(plane string, object *unstructured.Unstructured) {
	key := MemoryOf(plane, object, object.GetKind())
	if _, known := b.Seen[key]; !known {
		b.Seen[key] = Identity(object)
	}
}

// Identity is the UID of an object. An Instance that gets another template in its place is another one, too.
func Identity(object *unstructured.Unstructured) string {
	hash, _, _ := unstructured.NestedString(object.Object, "spec", "controller", "templateHash")
	return string(object.GetUID()) + " " + hash
}

// UpdateWhenFree updates an object that other clients write, too.
func UpdateWhenFree[T client.Object](ctx context.Context, c client.Client, object T, change func(T)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change(object)
		return c.Update(ctx, object)
	})
}

// Buffer collects output that is read while it grows. It is safe for concurrent use.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the output.
func (b *Buffer) Write(content []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(content)
}

// String returns the output so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
