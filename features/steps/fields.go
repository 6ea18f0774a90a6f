// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/cucumber/godog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
)

// objects are one object or every one of a kind: `every instance in the project`.
const objects = `((?:every )?[a-z][a-z.]*(?: "[^"]*")?(?: (?:in|on|at) ` + aPlane + `)?)`

// addFieldSteps are the sentences about what is in an object. "has" waits for it, "still has" looks once.
func addFieldSteps(sc sentences) {
	sc.Step(`^`+objects+` (has|still has) (no |another )?"([^"]*)"(?: (matching |than )?"(.*)")?$`, func(ctx context.Context, words, has, no, path, how, value string) error {
		wanted := fieldWanted{path: path, absent: no == "no ", other: no == "another ", matching: how == "matching ", value: value}
		return from(ctx).each(ctx, words, has, wanted.check)
	})
	sc.Step(`^`+objects+` (has|still has)$`, func(ctx context.Context, words, has string, table *godog.Table) error {
		s := from(ctx)
		return s.each(ctx, words, has, func(s *scenario, object *unstructured.Unstructured) error {
			var problems []error
			for _, row := range table.Rows {
				wanted := fieldWanted{path: row.Cells[0].Value, value: row.Cells[1].Value, absent: row.Cells[1].Value == ""}
				problems = append(problems, wanted.check(s, object))
			}
			return errors.Join(problems...)
		})
	})
	sc.Step(`^"([^"]*)" of `+anObject+` is remembered as "([^"]*)"$`, func(ctx context.Context, path, object, name string) error {
		return from(ctx).each(ctx, object, "still has", func(s *scenario, object *unstructured.Unstructured) error {
			value, err := field(object, path)
			if err == nil && value == "" {
				err = fmt.Errorf("%s is empty", path)
			}
			s.values[name] = value
			return err
		})
	})
	sc.Step(`^`+objects+` (has|has no|still has) (condition|current condition) (.+)$`, func(ctx context.Context, words, has, kind, text string) error {
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
	sc.Step(`^`+anObject+` has the same "([^"]*)" as in (`+aPlane+`)(?:, but for "([^"]*)")?$`, func(ctx context.Context, words, path, plane, but string) error {
		return from(ctx).isLike(ctx, words, comparison{path, plane, but})
	})
}

// each checks one object or every one of a kind, of which there must be some. An error says which it is about.
func (s *scenario) each(ctx context.Context, words, has string, check func(*scenario, *unstructured.Unstructured) error) error {
	once := func(ctx context.Context) error {
		objects, err := s.named(ctx, words)
		if err != nil {
			return err
		}
		var problems []error
		for i := range objects {
			if err := check(s, &objects[i]); err != nil {
				problems = append(problems, fmt.Errorf("%s %s: %w", strings.ToLower(objects[i].GetKind()), objects[i].GetName(), err))
			}
		}
		return errors.Join(problems...)
	}
	if has == "still has" {
		return once(ctx)
	}
	return eventually(ctx, once)
}

func (s *scenario) named(ctx context.Context, words string) ([]unstructured.Unstructured, error) {
	parts := objectPattern.FindStringSubmatch(words)
	if parts == nil {
		return nil, fmt.Errorf("%q is no object", words)
	}
	if strings.HasPrefix(words, "every ") {
		found, err := s.list(ctx, s.plane(parts[3]), parts[1])
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("there is no %s", parts[1])
		}
		return found, err
	}
	object, err := s.get(ctx, words)
	if err != nil {
		return nil, err
	}
	return []unstructured.Unstructured{*object}, nil
}

// fieldWanted is what should be at a path.
type fieldWanted struct {
	path                    string
	absent, matching, other bool
	// value is "" for anything.
	value string
}

func (w fieldWanted) check(s *scenario, object *unstructured.Unstructured) error {
	found, err := field(object, s.expand(w.path))
	if err != nil {
		return err
	}
	wanted := s.expand(w.value)
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
		return fmt.Errorf("%s is %q", w.path, shorten(found))
	}
	return nil
}

var quotedKey = regexp.MustCompile(`\['([^']*)'\]`)

// field is what is at a JSONPath, as kubectl has it, without braces: spec.containers[*].image. Several values are joined by
// spaces; what is not a text is JSON; what is missing or empty is "".
func field(object *unstructured.Unstructured, path string) (string, error) {
	// A key in quotes is one key, whatever dots it has.
	escaped := quotedKey.ReplaceAllStringFunc(path, func(key string) string { return strings.ReplaceAll(key, ".", `\.`) })
	query := jsonpath.New(path).AllowMissingKeys(true)
	if err := query.Parse("{." + escaped + "}"); err != nil {
		return "", fmt.Errorf("path %s: %w", path, err)
	}
	results, err := query.FindResults(object.Object)
	if err != nil {
		return "", fmt.Errorf("path %s: %w", path, err)
	}
	var values []string
	for _, result := range results {
		for _, value := range result {
			text, err := valueText(value)
			if err != nil {
				return "", fmt.Errorf("path %s: %w", path, err)
			}
			if text != "" {
				values = append(values, text)
			}
		}
	}
	return strings.Join(values, " "), nil
}

func valueText(value reflect.Value) (string, error) {
	if !value.IsValid() || !value.CanInterface() {
		return "", nil
	}
	switch value := value.Interface().(type) {
	case nil:
		return "", nil
	case string:
		return value, nil
	default:
		text, err := json.Marshal(value)
		if string(text) == "{}" || string(text) == "[]" || string(text) == "null" {
			return "", err
		}
		return string(text), err
	}
}

// conditionWanted is what a condition should say.
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
		kind: parts[1], notIt: parts[2] != "", status: parts[3], reason: parts[4], justIt: parts[5] != "", message: strings.ReplaceAll(parts[6], `\"`, `"`),
	}, nil
}

func conditionsOf(object *unstructured.Unstructured) []metav1.Condition {
	var status struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &status); err != nil {
		return nil
	}
	return status.Status.Conditions
}

func (w conditionWanted) check(s *scenario, object *unstructured.Unstructured) error {
	for _, found := range conditionsOf(object) {
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

func (w conditionWanted) fits(s *scenario, found *metav1.Condition) bool {
	message := s.expand(w.message)
	if w.justIt && found.Message != message {
		return false
	}
	return (w.status == "" || (string(found.Status) == w.status) != w.notIt) &&
		(w.reason == "" || found.Reason == w.reason) && strings.Contains(found.Message, message)
}

// onlyCurrent wants every condition to be of the object's newest generation.
func onlyCurrent(_ *scenario, object *unstructured.Unstructured) error {
	conditions := conditionsOf(object)
	if len(conditions) == 0 {
		return errors.New("there are no conditions")
	}
	var problems []error
	for _, found := range conditions {
		if found.ObservedGeneration != object.GetGeneration() {
			problems = append(problems, fmt.Errorf("condition %s is of generation %d of %d", found.Type, found.ObservedGeneration, object.GetGeneration()))
		}
	}
	return errors.Join(problems...)
}

// comparison is with the object of the same name in another plane.
type comparison struct{ path, plane, but string }

func (s *scenario) isLike(ctx context.Context, words string, with comparison) error {
	parts := objectPattern.FindStringSubmatch(words)
	if parts == nil {
		return fmt.Errorf("%q is no object", words)
	}
	other := fmt.Sprintf("%s %q in %s", parts[1], parts[2], with.plane)
	return eventually(ctx, func(ctx context.Context) error {
		var values []string
		for _, name := range []string{words, other} {
			object, err := s.get(ctx, name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if with.but != "" {
				unstructured.RemoveNestedField(object.Object, strings.Split(with.but, ".")...)
			}
			value, err := field(object, with.path)
			if err != nil {
				return err
			}
			values = append(values, value)
		}
		if values[0] != values[1] {
			return fmt.Errorf("it is %s, and in %s %s", shorten(values[0]), with.plane, shorten(values[1]))
		}
		return nil
	})
}
