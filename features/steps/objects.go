// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cucumber/godog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Parts of sentences. An object is what kubectl calls it, with its name and where it is: `pod "web-0" in cell "dfw"`. Without
// a plane it is in the project. Its namespace is the scenario's; `secret "karmada-system/ca" on the hub` says another.
const (
	aPlane    = `(?:the project|project "[^"]*"|the hub|the host|cell "[^"]*"|Milo)`
	anObject  = `([a-z][a-z.]* "[^"]*"(?: (?:in|on|at) ` + aPlane + `)?)`
	someone   = `(the consumer|an operator|the add-on|user "[^"]*")`
	inlineDoc = `(\{.*\}|\[.*\])`
)

// everywhere is what Kubernetes puts into every namespace.
const everywhere = "kube-root-ca.crt"

var objectPattern = regexp.MustCompile(`^(?:every )?([a-z][a-z.]*)(?: "([^"]*)")?(?: (?:in|on|at) (` + aPlane + `))?$`)

// addObjectSteps are the sentences about any object of any plane.
func addObjectSteps(sc sentences) {
	sc.Step(`^`+anObject+` (exists|is gone|does not exist)$`, func(ctx context.Context, object, state string) error {
		return from(ctx).exists(ctx, object, state)
	})
	sc.Step(`^(`+aPlane+`) has (?:(no|\d+) ([a-z][a-z.]*)|exactly the ([a-z][a-z.]*) "([^"]*)")$`, func(ctx context.Context, plane, count, counted, resource, names string) error {
		return from(ctx).holds(ctx, plane, counted+resource, holding{count, names})
	})
	sc.Step(`^(`+aPlane+`) has exactly the ([a-z][a-z.]*)$`, func(ctx context.Context, plane, resource string, table *godog.Table) error {
		return from(ctx).holdsTable(ctx, plane, resource, table)
	})
	sc.Step(`^(`+aPlane+`) has nothing of the namespace$`, func(ctx context.Context, plane string) error {
		return from(ctx).isEmpty(ctx, plane)
	})
	sc.Step(`^`+someone+` creates(?: (?:in|on|at) (`+aPlane+`))?$`, func(ctx context.Context, who, plane string, doc *godog.DocString) error {
		return from(ctx).create(ctx, who, plane, doc.Content)
	})
	sc.Step(`^`+someone+` tries to create an object(?: (?:in|on|at) (`+aPlane+`))?$`, func(ctx context.Context, who, plane string, doc *godog.DocString) error {
		s := from(ctx)
		s.try(ctx, func(ctx context.Context) error { return s.create(ctx, who, plane, doc.Content) })
		return nil
	})
	sc.Step(`^`+someone+` (tries to patch|patches) `+anObject+` with `+inlineDoc+`$`, func(ctx context.Context, who, verb, object, patch string) error {
		s := from(ctx)
		if verb == "patches" {
			return s.patch(ctx, who, object, patch)
		}
		s.try(ctx, func(ctx context.Context) error { return s.patch(ctx, who, object, patch) })
		return nil
	})
	sc.Step(`^`+someone+` deletes `+anObject+`(?: with --cascade=(orphan|foreground))?$`, func(ctx context.Context, who, object, cascade string) error {
		var options []client.DeleteOption
		if cascade != "" {
			options = append(options, client.PropagationPolicy(strings.ToUpper(cascade[:1])+cascade[1:]))
		}
		return from(ctx).delete(ctx, who, object, options...)
	})
	sc.Step(`^`+anObject+` (was not replaced|was replaced|becomes another one)$`, func(ctx context.Context, object, state string) error {
		return from(ctx).wasReplaced(ctx, object, state)
	})
}

// user is who a sentence speaks of.
func user(words string) string {
	switch words {
	case "the consumer":
		return consumer
	case "the add-on":
		return addOnUser
	case "", "an operator":
		return admin
	}
	return strings.Trim(strings.TrimPrefix(words, "user "), `"`)
}

// plane is what a sentence calls a plane.
func (s *scenario) plane(words string) string {
	kind, name, _ := strings.Cut(words, " ")
	switch words {
	case "", "the project":
		return "project/" + s.project
	case "the hub":
		return "hub"
	case "the host":
		return "host"
	case "Milo":
		return "milo"
	}
	return kind + "/" + s.expand(strings.Trim(name, `"`))
}

// namespaceIn is what the scenario's namespace is called in a plane.
func (s *scenario) namespaceIn(plane string) string {
	if plane == "hub" || strings.HasPrefix(plane, "cell/") {
		return s.hubNamespace()
	}
	return s.namespace
}

// object is an object that a sentence speaks of, as nothing is known of it but its name.
func (s *scenario) object(words string) (string, *unstructured.Unstructured, error) {
	parts := objectPattern.FindStringSubmatch(words)
	if parts == nil {
		return "", nil, fmt.Errorf("%q is no object", words)
	}
	plane, name := s.plane(parts[3]), s.expand(parts[2])
	kind, err := s.kind(plane, parts[1])
	if err != nil {
		return "", nil, fmt.Errorf("%s serves no %s: %w", plane, parts[1], err)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	c := s.client(plane, admin)
	namespaced, err := c.IsObjectNamespaced(object)
	if err != nil {
		return "", nil, err
	}
	if namespaced {
		object.SetNamespace(s.namespaceIn(plane))
		if namespace, rest, found := strings.Cut(name, "/"); found {
			object.SetNamespace(namespace)
			name = rest
		}
	}
	object.SetName(name)
	return plane, object, nil
}

// get reads an object that a sentence speaks of.
func (s *scenario) get(ctx context.Context, words string) (*unstructured.Unstructured, error) {
	plane, object, err := s.object(words)
	if err != nil {
		return nil, err
	}
	c := s.client(plane, admin)
	return object, c.Get(ctx, client.ObjectKeyFromObject(object), object)
}

// list reads the objects of the scenario's namespace, by name. What Kubernetes puts into every namespace is left out.
func (s *scenario) list(ctx context.Context, plane, resource string) ([]unstructured.Unstructured, error) {
	kind, err := s.kind(plane, resource)
	if err != nil {
		return nil, fmt.Errorf("%s serves no %s: %w", plane, resource, err)
	}
	c := s.client(plane, admin)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := c.List(ctx, list, client.InNamespace(s.namespaceIn(plane))); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(object unstructured.Unstructured) bool {
		return object.GetName() == everywhere
	}), nil
}

// notFound is nil when err says that something does not exist, and an error when it does.
func notFound(err error, what string) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s is there", what)
}

func (s *scenario) exists(ctx context.Context, words, state string) error {
	check := func(ctx context.Context) error {
		_, err := s.get(ctx, words)
		if state == "exists" {
			return err
		}
		return notFound(err, s.expand(words))
	}
	if state == "does not exist" {
		return check(ctx)
	}
	return eventually(ctx, check)
}

// holding is how many objects of a kind there should be, and which.
type holding struct{ count, names string }

func (s *scenario) holds(ctx context.Context, plane, resource string, wanted holding) error {
	names := splitNames(s.expand(wanted.names))
	return eventually(ctx, func(ctx context.Context) error {
		objects, err := s.list(ctx, s.plane(plane), resource)
		if err != nil {
			return err
		}
		found := []string{}
		for i := range objects {
			found = append(found, objects[i].GetName())
		}
		if count, err := strconv.Atoi(wanted.count); err == nil {
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
func (s *scenario) holdsTable(ctx context.Context, plane, resource string, table *godog.Table) error {
	return eventually(ctx, func(ctx context.Context) error {
		objects, err := s.list(ctx, s.plane(plane), resource)
		if err != nil {
			return err
		}
		var found, wanted []string
		for i := range objects {
			line := []string{objects[i].GetName()}
			for _, column := range table.Rows[0].Cells[1:] {
				value, err := field(&objects[i], column.Value)
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
				line = append(line, s.expand(cell.Value))
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

// isEmpty waits until nothing of the scenario's namespace is left in a plane. In projects the namespace itself is the
// consumer's and stays.
func (s *scenario) isEmpty(ctx context.Context, words string) error {
	plane := s.plane(words)
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
		if err := s.holds(ctx, words, resource, holding{count: "no"}); err != nil {
			return err
		}
	}
	if plane == "hub" {
		return s.noWorks(ctx)
	}
	return nil
}
