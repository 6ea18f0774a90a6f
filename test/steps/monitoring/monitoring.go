// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package monitoring has the sentences about metrics, alerts and dashboards.
package monitoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cucumber/godog"
	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// Steps holds the scenario for the sentences about monitoring.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// state is the state that the sentences of a scenario share.
type state struct {
	// prometheus is the Prometheus that scrapes the add-on.
	prometheus prometheusv1.API
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }

// Files of the chart.
const (
	rulesFile       = "charts/karmada-compute/files/rules.yaml"
	dashboardsFiles = "charts/karmada-compute/files/dashboards/*.json"
)

// Register adds the sentences about Prometheus, and about the chart's objects for it.
func Register(sc world.Sentences) {
	sc.Step(`^Prometheus scrapes every replica and the agents of cells "([^"]*)"$`, func(ctx context.Context, cells string) error {
		return from(ctx).startPrometheus(ctx, world.SplitNames(cells))
	})
	sc.Step(`^no alert about a missing metric fires$`, func(ctx context.Context) error { return from(ctx).nothingIsAbsent(ctx) })
	sc.Step(`^every query of the (alerts|dashboards) returns data, but for$`,
		func(ctx context.Context, of string, excused *godog.Table) error {
			s := from(ctx)
			queries, err := s.alertQueries(ctx)
			if of == "dashboards" {
				queries, err = dashboardQueries()
			}
			if err != nil {
				return err
			}
			return s.allReturnData(ctx, queries, excused)
		})
}

// startPrometheus starts Prometheus, and waits until it has scraped all its targets.
func (s Steps) startPrometheus(ctx context.Context, cells []string) error {
	repository, err := tools.FindRepository()
	if err != nil {
		return err
	}
	s.Disturbed.Add("Prometheus", func(context.Context) error { return s.Federation.StopProcess("prometheus") })
	url, err := s.AddOn.StartPrometheus(ctx, filepath.Join(repository, filepath.FromSlash(rulesFile)), cells...)
	if err != nil {
		return err
	}
	client, err := api.NewClient(api.Config{Address: url})
	if err != nil {
		return err
	}
	s.state().prometheus = prometheusv1.NewAPI(client)
	return world.Eventually(ctx, func(ctx context.Context) error {
		targets, err := s.state().prometheus.Targets(ctx)
		if err != nil {
			return err
		}
		for i := range targets.Active {
			if target := &targets.Active[i]; target.Health != prometheusv1.HealthGood {
				return fmt.Errorf("%s is %s: %s", target.ScrapeURL, target.Health, target.LastError)
			}
		}
		if want := s.AddOn.Replicas() + len(cells); len(targets.Active) != want {
			return fmt.Errorf("there are %d targets, not %d", len(targets.Active), want)
		}
		return nil
	})
}

// alerts returns the alerts that Prometheus has loaded and evaluated.
func (s Steps) alerts(ctx context.Context) ([]prometheusv1.AlertingRule, error) {
	var alerts []prometheusv1.AlertingRule
	err := world.Eventually(ctx, func(ctx context.Context) error {
		loaded, err := s.state().prometheus.Rules(ctx)
		if err != nil {
			return err
		}
		alerts = nil
		for _, group := range loaded.Groups {
			for _, rule := range group.Rules {
				alert, ok := rule.(prometheusv1.AlertingRule)
				if !ok || alert.Health != prometheusv1.RuleHealthGood {
					return fmt.Errorf("rule of group %s: %+v", group.Name, rule)
				}
				alerts = append(alerts, alert)
			}
		}
		if len(alerts) == 0 {
			return errors.New("no alert is loaded")
		}
		return nil
	})
	return alerts, err
}

// named is a query with its origin.
type named struct{ name, query string }

// nothingIsAbsent returns an error while an alert reports a missing metric.
func (s Steps) nothingIsAbsent(ctx context.Context) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		alerts, err := s.alerts(ctx)
		if err != nil {
			return err
		}
		for i := range alerts {
			if strings.HasPrefix(alerts[i].Query, "absent(") && len(alerts[i].Alerts) > 0 {
				return fmt.Errorf("%s is active: %s", alerts[i].Name, alerts[i].Query)
			}
		}
		return nil
	})
}

var (
	absent   = regexp.MustCompile(`^absent\((\w+)\)$`)
	compares = regexp.MustCompile(` (==|<|>) `)
)

// alertQueries returns the queries of the alerts: the metric of an absence alert, and the condition as a value that is
// always returned.
func (s Steps) alertQueries(ctx context.Context) ([]named, error) {
	alerts, err := s.alerts(ctx)
	var queries []named
	for i := range alerts {
		query := alerts[i].Query
		if found := absent.FindStringSubmatch(query); found != nil {
			query = found[1]
		} else if len(compares.FindAllString(query, -1)) == 1 {
			query = compares.ReplaceAllString(query, " $1 bool ")
		} else {
			return nil, fmt.Errorf("alert %s compares nothing, or more than once: %s", alerts[i].Name, query)
		}
		queries = append(queries, named{alerts[i].Name, query})
	}
	return queries, err
}

// inGrafana replaces variables of the dashboards.
var inGrafana = strings.NewReplacer("$__rate_interval", "10m", "$namespace", ".*", "$cell", ".*")

// dashboardQueries returns the queries of every panel.
func dashboardQueries() ([]named, error) {
	repository, err := tools.FindRepository()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(dashboardsFiles)))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no dashboards: %w", err)
	}
	var queries []named
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var dashboard struct {
			Title  string
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		if err := json.Unmarshal(content, &dashboard); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, panel := range dashboard.Panels {
			for _, target := range panel.Targets {
				queries = append(queries, named{dashboard.Title + ": " + panel.Title, inGrafana.Replace(target.Expr)})
			}
		}
	}
	return queries, nil
}

// allReturnData waits until every query has returned a value once. Queries with an excused metric are left out.
func (s Steps) allReturnData(ctx context.Context, queries []named, excused *godog.Table) error {
	for _, row := range world.Rows(excused) {
		with := func(q named) bool { return strings.Contains(q.query, row["metric"]) }
		if !slices.ContainsFunc(queries, with) {
			return fmt.Errorf("no query has %s", row["metric"])
		}
		queries = slices.DeleteFunc(queries, with)
	}
	return world.Eventually(ctx, func(ctx context.Context) error {
		var problems []error
		queries = slices.DeleteFunc(queries, func(q named) bool {
			err := s.returnsData(ctx, q.query)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %s: %w", q.name, q.query, err))
			}
			return err == nil
		})
		return errors.Join(problems...)
	})
}

func (s Steps) returnsData(ctx context.Context, query string) error {
	result, warnings, err := s.state().prometheus.Query(ctx, query, time.Now())
	if err != nil {
		return err
	}
	vector, ok := result.(model.Vector)
	if !ok || len(vector) == 0 {
		return errors.New("no data")
	}
	if len(warnings) > 0 {
		return fmt.Errorf("%v", warnings)
	}
	if !slices.ContainsFunc(vector, func(sample *model.Sample) bool { return !math.IsNaN(float64(sample.Value)) }) {
		return errors.New("no number")
	}
	return nil
}
