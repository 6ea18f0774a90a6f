// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// documents reads YAML with variables.
func (s Steps) documents(content string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(s.Expand(content), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return nil, fmt.Errorf("read %q: %w", document, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// create creates objects in the scenario's namespace, unless they name another one. It waits for a kind that is not
// served yet.
func (s Steps) create(ctx context.Context, who, words, content string) error {
	plane := s.Plane(words)
	c := s.Client(plane, world.User(who))
	objects, err := s.documents(content)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := world.Eventually(ctx, func(context.Context) error {
			namespaced, err := c.IsObjectNamespaced(object)
			if namespaced && object.GetNamespace() == "" {
				object.SetNamespace(s.NamespaceIn(plane))
			}
			return err
		}); err != nil {
			return err
		}
		if err := c.Create(ctx, object); err != nil {
			return err
		}
		s.RemoveLater(plane, object)
	}
	return nil
}

// Patch sends a merge patch, or a JSON patch if the patch is a list. A patch with only a status goes to the status
// subresource.
func (s Steps) Patch(ctx context.Context, who, words, patch string) error {
	plane, object, err := s.Object(words)
	if err != nil {
		return err
	}
	c := s.Client(plane, world.User(who))
	patch = s.Expand(patch)
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

// Delete deletes an object, and remembers its identity.
func (s Steps) Delete(ctx context.Context, who, words string, options ...client.DeleteOption) error {
	object, err := s.Get(ctx, words)
	if err != nil {
		return err
	}
	plane, _, err := s.Object(words)
	if err != nil {
		return err
	}
	s.Remember(plane, object)
	c := s.Client(plane, world.User(who))
	return c.Delete(ctx, object, options...)
}

// remember has later steps compare an object with its present state.
func (s Steps) remember(ctx context.Context, words string) error {
	plane, _, err := s.Object(words)
	if err != nil {
		return err
	}
	object, err := s.Get(ctx, words)
	if err != nil {
		return err
	}
	s.Remember(plane, object)
	return nil
}

// wasReplaced compares an object with the first one that was remembered.
func (s Steps) wasReplaced(ctx context.Context, words, state string) error {
	plane, _, err := s.Object(words)
	if err != nil {
		return err
	}
	check := func(ctx context.Context) error {
		object, err := s.Get(ctx, words)
		if err != nil {
			return err
		}
		before, seen := s.Seen[world.MemoryOf(plane, object, object.GetKind())]
		if !seen {
			return fmt.Errorf("%s was not seen before", words)
		}
		if same := world.Identity(object) == before; same != (state == "was not replaced") {
			return fmt.Errorf("%s is the same: %t", words, same)
		}
		return nil
	}
	if state == "becomes another one" {
		return world.Eventually(ctx, check)
	}
	// The object may not exist yet; once it exists, it must be the right one at once.
	if err := s.exists(ctx, words, "exists"); err != nil {
		return err
	}
	return check(ctx)
}
