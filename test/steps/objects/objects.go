// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cucumber/godog"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/test/steps/attempts"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addObjectSteps adds the sentences about any object of any plane.
func addObjectSteps(sc world.Sentences) {
	sc.Step(`^`+world.AnObject+` (exists|is gone|does not exist)$`, func(ctx context.Context, object, state string) error {
		s := from(ctx)
		if err := s.exists(ctx, object, state); err != nil || state != "exists" {
			return err
		}
		return s.remember(ctx, object)
	})
	sc.Step(`^(`+world.APlane+`) has (?:(no|\d+) ([a-z][a-z.]*)|exactly the ([a-z][a-z.]*) "([^"]*)")$`,
		func(ctx context.Context, plane, count, counted, resource, names string) error {
			return from(ctx).Holds(ctx, plane, counted+resource, Holding{count, names})
		})
	sc.Step(`^(`+world.APlane+`) has exactly the ([a-z][a-z.]*)$`,
		func(ctx context.Context, plane, resource string, table *godog.Table) error {
			return from(ctx).holdsTable(ctx, plane, resource, table)
		})
	sc.Step(`^(`+world.APlane+`) has nothing of the namespace$`, func(ctx context.Context, plane string) error {
		return from(ctx).isEmpty(ctx, plane)
	})
	sc.Step(`^`+world.Someone+` creates(?: (?:in|on|at) (`+world.APlane+`))?$`,
		func(ctx context.Context, who, plane string, doc *godog.DocString) error {
			return from(ctx).create(ctx, who, plane, doc.Content)
		})
	sc.Step(`^`+world.Someone+` tries to create an object(?: (?:in|on|at) (`+world.APlane+`))?$`,
		func(ctx context.Context, who, plane string, doc *godog.DocString) error {
			s := from(ctx)
			attempts.In(s.Scenario).Try(ctx, func(ctx context.Context) error { return s.create(ctx, who, plane, doc.Content) })
			return nil
		})
	sc.Step(`^`+world.Someone+` (tries to patch|patches) `+world.AnObject+` with `+world.InlineDoc+`$`,
		func(ctx context.Context, who, verb, object, patch string) error {
			s := from(ctx)
			if verb == "patches" {
				return s.Patch(ctx, who, object, patch)
			}
			attempts.In(s.Scenario).Try(ctx, func(ctx context.Context) error { return s.Patch(ctx, who, object, patch) })
			return nil
		})
	sc.Step(`^`+world.Someone+` deletes `+world.AnObject+`(?: with --cascade=(orphan|foreground))?$`,
		func(ctx context.Context, who, object, cascade string) error {
			var options []client.DeleteOption
			if cascade != "" {
				options = append(options, client.PropagationPolicy(strings.ToUpper(cascade[:1])+cascade[1:]))
			}
			return from(ctx).Delete(ctx, who, object, options...)
		})
	sc.Step(`^`+world.AnObject+` (was not replaced|was replaced|becomes another one)$`, func(ctx context.Context, object, state string) error {
		return from(ctx).wasReplaced(ctx, object, state)
	})
}

func (s Steps) exists(ctx context.Context, words, state string) error {
	check := func(ctx context.Context) error {
		_, err := s.Get(ctx, words)
		if state == "exists" {
			return err
		}
		return world.NotFound(err, s.Expand(words))
	}
	if state == "does not exist" {
		return check(ctx)
	}
	return world.Eventually(ctx, check)
}

// Holding is the expected number of objects of a kind, and their names.
type Holding struct{ Count, names string }

// Holds waits until a plane has the wanted objects of a kind in the namespace.
func (s Steps) Holds(ctx context.Context, plane, resource string, wanted Holding) error {
	names := world.SplitNames(s.Expand(wanted.names))
	return world.Eventually(ctx, func(ctx context.Context) error {
		objects, err := s.List(ctx, s.Plane(plane), resource)
		if err != nil {
			return err
		}
		found := []string{}
		for i := range objects {
			found = append(found, objects[i].GetName())
		}
		if count, err := strconv.Atoi(wanted.Count); err == nil {
			if len(found) != count {
				return fmt.Errorf("%s has %d %s: %v", plane, len(found), resource, found)
			}
			return nil
		}
		if !slices.Equal(found, names) {
			return fmt.Errorf("%s has the %s %v", plane, resource, found)
		}
		return nil
	})
}

// holdsTable compares every object of a kind with a row: the first column is its name, the others are fields.
func (s Steps) holdsTable(ctx context.Context, plane, resource string, table *godog.Table) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		objects, err := s.List(ctx, s.Plane(plane), resource)
		if err != nil {
			return err
		}
		var found, wanted []string
		for i := range objects {
			line := []string{objects[i].GetName()}
			for _, column := range table.Rows[0].Cells[1:] {
				value, err := world.Field(&objects[i], column.Value)
				if err != nil {
					return err
				}
				line = append(line, value)
			}
			found = append(found, strings.Join(line, " | "))
		}
		for _, row := range table.Rows[1:] {
			var line []string
			for _, cell := range row.Cells {
				line = append(line, s.Expand(cell.Value))
			}
			wanted = append(wanted, strings.Join(line, " | "))
		}
		slices.Sort(found)
		slices.Sort(wanted)
		if !slices.Equal(found, wanted) {
			return fmt.Errorf("%s has the %s %q", plane, resource, found)
		}
		return nil
	})
}

// isEmpty waits until no object of the scenario's namespace is left in a plane. In projects the namespace itself is the
// consumer's and stays.
func (s Steps) isEmpty(ctx context.Context, words string) error {
	plane := s.Plane(words)
	resources := []string{"workloads", "workloaddeployments", "instances"}
	if !strings.HasPrefix(plane, "project/") {
		if err := s.exists(ctx, `namespace "${hubNamespace}" on `+words, "is gone"); err != nil {
			return err
		}
		resources = nil
	}
	if plane == "hub" {
		resources = []string{"workloaddeployments", "instanceslices", "propagationpolicies", "resourcebindings"}
	}
	for _, resource := range resources {
		if err := s.Holds(ctx, words, resource, Holding{Count: "no"}); err != nil {
			return err
		}
	}
	if plane == "hub" {
		return s.noWorks(ctx)
	}
	return nil
}

// noWorks waits until no Work contains an object of the scenario's namespace.
func (s Steps) noWorks(ctx context.Context) error {
	c := s.Client("hub", world.Admin)
	return world.Eventually(ctx, func(ctx context.Context) error {
		var works workv1alpha1.WorkList
		if err := c.List(ctx, &works); err != nil {
			return err
		}
		for i := range works.Items {
			for _, manifest := range works.Items[i].Spec.Workload.Manifests {
				if strings.Contains(string(manifest.Raw), s.HubNamespace()) {
					return fmt.Errorf("Work %s/%s holds something of %s", works.Items[i].Namespace, works.Items[i].Name, s.HubNamespace())
				}
			}
		}
		return nil
	})
}
