// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/cucumber/godog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// objects matches one object or every one of a kind: `every instance in the project`.
const objects = `((?:every )?[a-z][a-z.]*(?: "[^"]*")?(?: (?:in|on|at) ` + world.APlane + `)?)`

// addFieldSteps adds the sentences about the fields of an object. "has" waits, "still has" checks once.
func addFieldSteps(sc world.Sentences) {
	sc.Step(`^`+objects+` (has|still has) (no |another )?"([^"]*)"(?: (matching |than )?"(.*)")?$`,
		func(ctx context.Context, words, has, no, path, how, value string) error {
			wanted := fieldWanted{path: path, absent: no == "no ", other: no == "another ", matching: how == "matching ", value: value}
			return from(ctx).each(ctx, words, has, wanted.check)
		})
	sc.Step(`^`+objects+` (has|still has)$`, func(ctx context.Context, words, has string, table *godog.Table) error {
		s := from(ctx)
		return s.each(ctx, words, has, func(s *world.Scenario, object *unstructured.Unstructured) error {
			var problems []error
			for _, row := range table.Rows {
				wanted := fieldWanted{path: row.Cells[0].Value, value: row.Cells[1].Value, absent: row.Cells[1].Value == ""}
				problems = append(problems, wanted.check(s, object))
			}
			return errors.Join(problems...)
		})
	})
	sc.Step(`^"([^"]*)" of `+world.AnObject+` is remembered as "([^"]*)"$`, func(ctx context.Context, path, object, name string) error {
		return from(ctx).each(ctx, object, "still has", func(s *world.Scenario, object *unstructured.Unstructured) error {
			value, err := world.Field(object, path)
			if err == nil && value == "" {
				err = fmt.Errorf("%s is empty", path)
			}
			s.Values[name] = value
			return err
		})
	})
	sc.Step(`^`+objects+` (has|has no|still has) (condition|current condition) (.+)$`,
		func(ctx context.Context, words, has, kind, text string) error {
			wanted, err := readCondition(text)
			wanted.absent, wanted.current = has == "has no", kind == "current condition"
			if err != nil {
				return err
			}
			return from(ctx).each(ctx, words, has, wanted.check)
		})
	sc.Step(`^`+objects+` has only current conditions$`, func(ctx context.Context, words string) error {
		return from(ctx).each(ctx, words, "has", onlyCurrent)
	})
	sc.Step(`^`+world.AnObject+` has the same "([^"]*)" as in (`+world.APlane+`)(?:, but for "([^"]*)")?$`,
		func(ctx context.Context, words, path, plane, but string) error {
			return from(ctx).isLike(ctx, words, comparison{path, plane, but})
		})
}

// each checks one object or every one of a kind, of which there must be at least one. An error names the object.
func (s Steps) each(ctx context.Context, words, has string, check func(*world.Scenario, *unstructured.Unstructured) error) error {
	once := func(ctx context.Context) error {
		objects, err := s.Named(ctx, words)
		if err != nil {
			return err
		}
		var problems []error
		for i := range objects {
			if err := check(s.Scenario, &objects[i]); err != nil {
				problems = append(problems, fmt.Errorf("%s %s: %w", strings.ToLower(objects[i].GetKind()), objects[i].GetName(), err))
			}
		}
		return errors.Join(problems...)
	}
	if has == "still has" {
		return once(ctx)
	}
	return world.Eventually(ctx, once)
}

// fieldWanted is the expected value at a path.
type fieldWanted struct {
	path                    string
	absent, matching, other bool
	// value is "" for any value.
	value string
}

func (w fieldWanted) check(s *world.Scenario, object *unstructured.Unstructured) error {
	found, err := world.Field(object, s.Expand(w.path))
	if err != nil {
		return err
	}
	wanted := s.Expand(w.value)
	right := found == wanted
	switch {
	case w.absent:
		right = found == ""
	case w.other:
		right = found != "" && found != wanted
	case w.matching:
		right, err = regexp.MatchString(wanted, found)
	case wanted == "":
		right = found != ""
	}
	if err != nil {
		return fmt.Errorf("compare with %q: %w", wanted, err)
	}
	if !right {
		return fmt.Errorf("%s is %q", w.path, world.Shorten(found))
	}
	return nil
}

// conditionWanted is an expected condition.
type conditionWanted struct {
	kind, status, reason, message  string
	absent, current, notIt, justIt bool
}

var conditionPattern = regexp.MustCompile(`^(\w+)(?: (not )?(True|False|Unknown))?(?: because of "([^"]*)")?(?:, saying (just )?"(.*)")?$`)

// readCondition reads `Ready False because of "NoRoom", saying "no room"`.
func readCondition(text string) (conditionWanted, error) {
	parts := conditionPattern.FindStringSubmatch(text)
	if parts == nil {
		return conditionWanted{}, fmt.Errorf("%q is no condition", text)
	}
	return conditionWanted{
		kind: parts[1], notIt: parts[2] != "", status: parts[3], reason: parts[4], justIt: parts[5] != "",
		message: strings.ReplaceAll(parts[6], `\"`, `"`),
	}, nil
}

func (w conditionWanted) check(s *world.Scenario, object *unstructured.Unstructured) error {
	for _, found := range world.ConditionsOf(object) {
		if found.Type != w.kind {
			continue
		}
		if w.absent || !w.fits(s, &found) || (w.current && found.ObservedGeneration != object.GetGeneration()) {
			return fmt.Errorf("condition %s is %s because of %s, saying %q, of generation %d of %d",
				w.kind, found.Status, found.Reason, found.Message, found.ObservedGeneration, object.GetGeneration())
		}
		return nil
	}
	if w.absent || w.notIt {
		return nil
	}
	return fmt.Errorf("there is no condition %s", w.kind)
}

func (w conditionWanted) fits(s *world.Scenario, found *metav1.Condition) bool {
	message := s.Expand(w.message)
	if w.justIt && found.Message != message {
		return false
	}
	return (w.status == "" || (string(found.Status) == w.status) != w.notIt) &&
		(w.reason == "" || found.Reason == w.reason) && strings.Contains(found.Message, message)
}

// onlyCurrent expects every condition to be of the object's newest generation.
func onlyCurrent(_ *world.Scenario, object *unstructured.Unstructured) error {
	conditions := world.ConditionsOf(object)
	if len(conditions) == 0 {
		return errors.New("there are no conditions")
	}
	var problems []error
	for _, found := range conditions {
		if found.ObservedGeneration != object.GetGeneration() {
			problems = append(problems, fmt.Errorf("condition %s is of generation %d of %d", found.Type,
				found.ObservedGeneration, object.GetGeneration()))
		}
	}
	return errors.Join(problems...)
}

// comparison compares an object with the object of the same name in another plane.
type comparison struct{ path, plane, but string }

func (s Steps) isLike(ctx context.Context, words string, with comparison) error {
	parts := world.ObjectPattern.FindStringSubmatch(words)
	if parts == nil {
		return fmt.Errorf("%q is no object", words)
	}
	other := fmt.Sprintf("%s %q in %s", parts[1], parts[2], with.plane)
	return world.Eventually(ctx, func(ctx context.Context) error {
		var values []string
		for _, name := range []string{words, other} {
			object, err := s.Get(ctx, name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if with.but != "" {
				unstructured.RemoveNestedField(object.Object, strings.Split(with.but, ".")...)
			}
			value, err := world.Field(object, with.path)
			if err != nil {
				return err
			}
			values = append(values, value)
		}
		if values[0] != values[1] {
			return fmt.Errorf("it is %s, and in %s %s", world.Shorten(values[0]), with.plane, world.Shorten(values[1]))
		}
		return nil
	})
}
