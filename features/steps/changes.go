// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// documents reads YAML with variables.
func (s *scenario) documents(content string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(s.expand(content), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return nil, fmt.Errorf("read %q: %w", document, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// create creates objects in the scenario's namespace, unless they say another. A kind that is not served yet is waited for.
func (s *scenario) create(ctx context.Context, who, words, content string) error {
	plane := s.plane(words)
	c := s.client(plane, user(who))
	objects, err := s.documents(content)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := eventually(ctx, func(context.Context) error {
			namespaced, err := c.IsObjectNamespaced(object)
			if namespaced && object.GetNamespace() == "" {
				object.SetNamespace(s.namespaceIn(plane))
			}
			return err
		}); err != nil {
			return err
		}
		if err := c.Create(ctx, object); err != nil {
			return err
		}
		s.removeLater(plane, object)
	}
	return nil
}

// removeLater has an object go with the scenario.
func (s *scenario) removeLater(plane string, object client.Object) {
	s.made.add(fmt.Sprintf("%T %s in %s", object, client.ObjectKeyFromObject(object), plane), func(ctx context.Context) error {
		c := s.client(plane, admin)
		return client.IgnoreNotFound(c.Delete(ctx, object))
	})
}

// patch merges into an object, or changes it by JSON patch when the patch is a list. It reaches the status where the patch
// names nothing else.
func (s *scenario) patch(ctx context.Context, who, words, patch string) error {
	plane, object, err := s.object(words)
	if err != nil {
		return err
	}
	c := s.client(plane, user(who))
	patch = s.expand(patch)
	kind := types.MergePatchType
	if strings.HasPrefix(patch, "[") {
		kind = types.JSONPatchType
	}
	change := client.RawPatch(kind, []byte(patch))
	if strings.HasPrefix(patch, `{"status"`) || strings.Contains(patch, `"path":"/status`) {
		return c.Status().Patch(ctx, object, change, client.FieldOwner("features"))
	}
	return c.Patch(ctx, object, change, client.FieldOwner("features"))
}

// delete deletes an object, and remembers which it was.
func (s *scenario) delete(ctx context.Context, who, words string, options ...client.DeleteOption) error {
	object, err := s.get(ctx, words)
	if err != nil {
		return err
	}
	plane, _, err := s.object(words)
	if err != nil {
		return err
	}
	s.remember(plane, object)
	c := s.client(plane, user(who))
	return c.Delete(ctx, object, options...)
}

// memoryOf is under what an object is remembered.
func memoryOf(plane string, object client.Object, kind string) string {
	return strings.Join([]string{plane, kind, object.GetNamespace(), object.GetName()}, " ")
}

// remember notes which object it is, unless one of its name was seen before.
func (b *seenBefore) remember(plane string, object *unstructured.Unstructured) {
	key := memoryOf(plane, object, object.GetKind())
	if _, known := b.seen[key]; !known {
		b.seen[key] = object.GetUID()
	}
}

// wasReplaced compares an object with the one that was first remembered.
func (s *scenario) wasReplaced(ctx context.Context, words, state string) error {
	plane, _, err := s.object(words)
	if err != nil {
		return err
	}
	check := func(ctx context.Context) error {
		object, err := s.get(ctx, words)
		if err != nil {
			return err
		}
		before, seen := s.seen[memoryOf(plane, object, object.GetKind())]
		if !seen {
			return fmt.Errorf("%s was not seen before", words)
		}
		if same := object.GetUID() == before; same != (state == "was not replaced") {
			return fmt.Errorf("%s is the same: %t", words, same)
		}
		return nil
	}
	if state == "becomes another one" {
		return eventually(ctx, check)
	}
	// It may be on its way; which one it is must be right at once.
	if err := s.exists(ctx, words, "exists"); err != nil {
		return err
	}
	return check(ctx)
}
