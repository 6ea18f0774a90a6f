// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cucumber/godog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
)

// Answer is the last answer of a replica.
type Answer struct {
	Status int
	Body   string
}

// Scenario is the state that the sentences of one scenario share.
type Scenario struct {
	*World
	*place
	*seenBefore
	run *run
	// states holds the states of the packages of sentences, by type.
	states *sync.Map
	// Answer is the last answer of a replica or a command.
	Answer Answer
	// Disturbed restores shared objects before the scenario ends.
	Disturbed *cleanUps
	// Made deletes the scenario's own objects while other scenarios run.
	Made *cleanUps
	// counting watches the counts; nil: they are not watched.
	counting *counting
}

// place holds the namespace and project of a scenario.
type place struct {
	// Namespace is the scenario's own, with the same name in each of its projects.
	Namespace string
	// Project is the project of sentences that name none.
	Project string
	// HubNamespaces are the hub namespaces of the scenario's namespaces, by project.
	HubNamespaces map[string]string
	// ProjectUIDs are the UIDs of its projects.
	ProjectUIDs map[string]string
}

// seenBefore holds the objects that a scenario has seen, the cells that it has reserved, and the values that it has
// remembered.
type seenBefore struct {
	// Seen holds the identities of objects when the scenario first read them, by plane, resource and name.
	Seen map[string]string
	// Taken are the extra cells that the scenario has reserved.
	Taken []string
	// Values are remembered values of fields, by the name that the scenario gave them.
	Values map[string]string
	// Passwords are the values in Secrets.
	Passwords []string
}

// cleanUps undo the actions of a scenario, the last first.
type cleanUps []cleanUp

type cleanUp struct {
	what string
	undo func(context.Context) error
}

// Add registers an undo for the end, once for each thing.
func (c *cleanUps) Add(what string, undo func(context.Context) error) {
	if !slices.ContainsFunc(*c, func(known cleanUp) bool { return known.what == what }) {
		*c = append(*c, cleanUp{what, undo})
	}
}

// Now undoes one thing before the end.
func (c *cleanUps) Now(ctx context.Context, what string) error {
	i := slices.IndexFunc(*c, func(known cleanUp) bool { return known.what == what })
	if i < 0 {
		return fmt.Errorf("nothing is to be undone about %s", what)
	}
	undo := (*c)[i].undo
	*c = slices.Delete(*c, i, i+1)
	return undo(ctx)
}

// Forget removes the undo of a thing.
func (c *cleanUps) Forget(what string) {
	*c = slices.DeleteFunc(*c, func(known cleanUp) bool { return known.what == what })
}

// all runs the remaining undos.
func (c *cleanUps) all(ctx context.Context) error {
	var problems []error
	for _, left := range slices.Backward(*c) {
		if err := left.undo(ctx); err != nil {
			problems = append(problems, fmt.Errorf("clean up %s: %w", left.what, err))
		}
	}
	*c = nil
	return errors.Join(problems...)
}

// State returns the state of a package of sentences in a scenario, by its type. At first it is empty.
func State[T any](s *Scenario) *T { return stateIn[T](s.states) }

// Shared returns the state of a package of sentences for all scenarios, by its type. At first it is empty.
func Shared[T any](w *World) *T { return stateIn[T](&w.states) }

func stateIn[T any](states *sync.Map) *T {
	found, _ := states.LoadOrStore(reflect.TypeFor[T](), new(T))
	state, _ := found.(*T)
	return state
}

type scenarioKey struct{}

// From returns the scenario of a step.
func From(ctx context.Context) *Scenario {
	s, _ := ctx.Value(scenarioKey{}).(*Scenario)
	return s
}

// addStepsTo gives a scenario its sentences. Its leftovers are removed until the context all ends.
func (w *World) addStepsTo(all context.Context, sc *godog.ScenarioContext, register func(Sentences)) {
	sc.Before(func(ctx context.Context, run *godog.Scenario) (context.Context, error) {
		// The turn is returned in any case, so it is taken in any case: after an interruption all scenarios end soon.
		err := errors.Join(w.turns.take(context.WithoutCancel(ctx)), ctx.Err())
		s := &Scenario{
			World:  w,
			run:    newRun(run, w.Federation.Folder()),
			states: &sync.Map{},

			Disturbed: &cleanUps{}, Made: &cleanUps{}, counting: newCounting(run),
			place:      &place{Namespace: "s-" + rand.String(6), HubNamespaces: map[string]string{}, ProjectUIDs: map[string]string{}},
			seenBefore: &seenBefore{Seen: map[string]string{}, Values: map[string]string{}},
		}
		return context.WithValue(ctx, scenarioKey{}, s), err
	})
	sc.After(func(ctx context.Context, _ *godog.Scenario, err error) (context.Context, error) {
		s := From(ctx)
		impossible := s.counting.end()
		if err == nil {
			err = impossible
		}
		if err != nil && !errors.Is(err, godog.ErrSkip) && all.Err() == nil {
			s.failed(s.run, err, s.objects(all))
		}
		s.ended(s.run, err)
		return ctx, errors.Join(impossible, s.cleanUp(all), w.turns.give())
	})
	sc.StepContext().After(func(ctx context.Context, step *godog.Step, _ godog.StepResultStatus, err error) (context.Context, error) {
		if run := From(ctx).run; err != nil && run.broken == "" {
			run.broken = step.Text
		}
		return ctx, nil
	})
	register(sc)
}

// cleanUp restores shared objects, and deletes the others while other scenarios run.
func (s *Scenario) cleanUp(ctx context.Context) error {
	err := s.Disturbed.all(ctx)
	if err != nil && ctx.Err() == nil {
		s.failed(s.run, err, nil)
	}
	s.Tidying.Go(func() {
		if err := s.Made.all(ctx); err != nil && ctx.Err() == nil {
			s.failed(s.run, err, nil)
		}
	})
	return err
}

// In returns the scenario in another project; "" is the present one.
func (s *Scenario) In(project string) *Scenario {
	if project == "" {
		return s
	}
	other, where := *s, *s.place
	where.Project = project
	other.place = &where
	return &other
}

// Name returns the feature and the name of the scenario.
func (s *Scenario) Name() string { return s.run.name }

// HubNamespace returns the hub namespace of the scenario's namespace in the project.
func (s *Scenario) HubNamespace() string { return s.HubNamespaces[s.Project] }

// Meta returns the metadata of an object of the scenario.
func (s *Scenario) Meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.Namespace, Name: name}
}

// Key returns the key of an object of the scenario.
func (s *Scenario) Key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: name}
}

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// Expand replaces variables: ${namespace}, ${project}, ${projectUID}, ${hubNamespace} of the project, ${hubNamespace of
// south}, and remembered values by their names.
func (s *Scenario) Expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		name := found[2 : len(found)-1]
		if project, ok := strings.CutPrefix(name, "hubNamespace of "); ok {
			return s.HubNamespaces[project]
		}
		switch name {
		case "namespace":
			return s.Namespace
		case "project":
			return s.Project
		case "hubNamespace":
			return s.HubNamespace()
		case "projectUID":
			return s.ProjectUIDs[s.Project]
		}
		if value, remembered := s.Values[name]; remembered {
			return value
		}
		return found
	})
}

// Rows reads a table with a header into a map per row.
func Rows(table *godog.Table) []map[string]string {
	var result []map[string]string
	for _, row := range table.Rows[1:] {
		cells := map[string]string{}
		for i, cell := range row.Cells {
			cells[table.Rows[0].Cells[i].Value] = cell.Value
		}
		result = append(result, cells)
	}
	return result
}

// SplitNames splits "a, b" into sorted names.
func SplitNames(text string) []string {
	names := []string{}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Sentences registers the patterns of sentences with their functions.
type Sentences interface {
	Step(pattern, do any)
}
