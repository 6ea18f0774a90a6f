// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cucumber/godog"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/karmada-compute/karmada-compute/test/soak"
)

// scenario is what the sentences of one scenario know of each other.
type scenario struct {
	*World
	*place
	*seenBefore
	run     *run
	attempt attempt
	answer  answer
	killed  killed
	// followed is a log that is followed.
	followed *podLog
	// ran is a command that the consumer has run.
	ran ran
	// traffic is a client of a Workload.
	traffic *traffic
	// load is the stream of Workloads that runs beside the scenario.
	load *load
	// soaked is what a soak came to.
	soaked *soak.Result
	// prometheus is the one that scrapes the add-on.
	prometheus prometheusv1.API
	// watched is a time in which the add-on should write nothing.
	watched period
	// disturbed are what the scenario did to what all share; it is put right before the scenario ends.
	disturbed *cleanUps
	// made are what the scenario made for itself; it goes while other scenarios run.
	made *cleanUps
}

// place is where a scenario is.
type place struct {
	// namespace is the scenario's own, of the same name in each of its projects.
	namespace string
	// project is the one that sentences without a project mean.
	project string
	// hubNamespaces are those of the scenario's namespaces, by project.
	hubNamespaces map[string]string
	// projectUIDs are those of its projects.
	projectUIDs map[string]string
}

// seenBefore is what a scenario has seen, taken or chosen.
type seenBefore struct {
	// seen are the UIDs of objects as they were when the scenario came upon them, by plane, resource and name.
	seen map[string]types.UID
	// taken are the extra cells that the scenario has to itself.
	taken []string
	// values are what fields held, by the name that the scenario gave them.
	values map[string]string
	// passwords are what Secrets hold.
	passwords []string
}

// cleanUps undo what a scenario did, the last first.
type cleanUps []cleanUp

type cleanUp struct {
	what string
	undo func(context.Context) error
}

// add has something undone at the end, once for each thing.
func (c *cleanUps) add(what string, undo func(context.Context) error) {
	if !slices.ContainsFunc(*c, func(known cleanUp) bool { return known.what == what }) {
		*c = append(*c, cleanUp{what, undo})
	}
}

// now undoes one thing before the end.
func (c *cleanUps) now(ctx context.Context, what string) error {
	i := slices.IndexFunc(*c, func(known cleanUp) bool { return known.what == what })
	if i < 0 {
		return fmt.Errorf("nothing is to be undone about %s", what)
	}
	undo := (*c)[i].undo
	*c = slices.Delete(*c, i, i+1)
	return undo(ctx)
}

// forget leaves a thing as it is.
func (c *cleanUps) forget(what string) {
	*c = slices.DeleteFunc(*c, func(known cleanUp) bool { return known.what == what })
}

// all undoes everything that is left.
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

type scenarioKey struct{}

func from(ctx context.Context) *scenario {
	s, _ := ctx.Value(scenarioKey{}).(*scenario)
	return s
}

// addStepsTo gives a scenario its sentences. What it leaves is removed until all ends.
func (w *World) addStepsTo(all context.Context, sc *godog.ScenarioContext) {
	sc.Before(func(ctx context.Context, run *godog.Scenario) (context.Context, error) {
		// The turn is given back in any case, so it is taken in any case: after an interruption all end soon.
		err := errors.Join(w.turns.take(context.WithoutCancel(ctx)), ctx.Err())
		s := &scenario{
			World: w,
			run:   newRun(run, w.federation.Folder()),

			disturbed: &cleanUps{}, made: &cleanUps{},
			place:      &place{namespace: "s-" + rand.String(6), hubNamespaces: map[string]string{}, projectUIDs: map[string]string{}},
			seenBefore: &seenBefore{seen: map[string]types.UID{}, values: map[string]string{}},
		}
		return context.WithValue(ctx, scenarioKey{}, s), err
	})
	sc.After(func(ctx context.Context, _ *godog.Scenario, err error) (context.Context, error) {
		s := from(ctx)
		if err != nil && !errors.Is(err, godog.ErrSkip) && all.Err() == nil {
			s.failed(s.run, err, s.objects(all))
		}
		s.ended(s.run, err)
		return ctx, errors.Join(s.cleanUp(all), w.turns.give())
	})
	sc.StepContext().Before(func(ctx context.Context, _ *godog.Step) (context.Context, error) {
		from(ctx).run.stepBegan = time.Now()
		return ctx, nil
	})
	sc.StepContext().After(func(ctx context.Context, step *godog.Step, _ godog.StepResultStatus, err error) (context.Context, error) {
		from(ctx).run.stepEnds(step, err)
		return ctx, nil
	})
	addSteps(sc)
}

// cleanUp puts right what others share, and has the rest go while others run.
func (s *scenario) cleanUp(ctx context.Context) error {
	err := s.disturbed.all(ctx)
	if err != nil && ctx.Err() == nil {
		s.failed(s.run, err, nil)
	}
	s.tidying.Go(func() {
		if err := s.made.all(ctx); err != nil && ctx.Err() == nil {
			s.failed(s.run, err, nil)
		}
	})
	return err
}

// in is the scenario in another project; "" is the one that it is in.
func (s *scenario) in(project string) *scenario {
	if project == "" {
		return s
	}
	other, where := *s, *s.place
	where.project = project
	other.place = &where
	return &other
}

func (s *scenario) hubNamespace() string { return s.hubNamespaces[s.project] }

func (s *scenario) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

func (s *scenario) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.namespace, Name: name}
}

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// expand puts in what a scenario cannot know: ${namespace}, ${project}, ${projectUID} and ${hubNamespace}, which is that of
// the project, or ${hubNamespace of south}. What was remembered under a name is there too.
func (s *scenario) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		name := found[2 : len(found)-1]
		if project, ok := strings.CutPrefix(name, "hubNamespace of "); ok {
			return s.hubNamespaces[project]
		}
		switch name {
		case "namespace":
			return s.namespace
		case "project":
			return s.project
		case "hubNamespace":
			return s.hubNamespace()
		case "projectUID":
			return s.projectUIDs[s.project]
		}
		if value, remembered := s.values[name]; remembered {
			return value
		}
		return found
	})
}

// rows reads a table with a header into a map per row.
func rows(table *godog.Table) []map[string]string {
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
