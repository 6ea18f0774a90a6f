// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func namesOf(list client.ObjectList) ([]string, error) {
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, fmt.Errorf("read %T: %w", list, err)
	}
	names := make([]string, 0, len(items))
	for _, item := range items {
		accessor, err := meta.Accessor(item)
		if err != nil {
			return nil, fmt.Errorf("read %T: %w", item, err)
		}
		names = append(names, accessor.GetName())
	}
	slices.Sort(names)
	return names, nil
}

// exactly waits until the objects of a kind have these names and no others.
func exactly(ctx context.Context, c client.Reader, list client.ObjectList, wanted string, options ...client.ListOption) error {
	names := splitNames(wanted)
	return eventually(ctx, func(ctx context.Context) error {
		if err := c.List(ctx, list, options...); err != nil {
			return err
		}
		found, err := namesOf(list)
		if err != nil {
			return err
		}
		if !slices.Equal(found, names) {
			return fmt.Errorf("%T holds %v, not %v", list, found, names)
		}
		return nil
	})
}

// splitNames reads "a, b" into sorted names.
func splitNames(text string) []string {
	names := []string{}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (s *scenario) printList(where string, list client.ObjectList) {
	items, err := meta.ExtractList(list)
	if err != nil {
		fmt.Fprintf(s.out, "%s: %v\n", where, err)
		return
	}
	for _, item := range items {
		accessor, err := meta.Accessor(item)
		if err != nil {
			continue
		}
		accessor.SetManagedFields(nil)
		text, err := yaml.Marshal(item)
		if err != nil {
			continue
		}
		fmt.Fprintf(s.out, "--- %s %T\n%s", where, item, text)
	}
}
