// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// dashboard holds the fields of a dashboard that the tests read.
type dashboard struct {
	UID        string `json:"uid"`
	Title      string `json:"title"`
	Templating struct {
		List []struct {
			Name  string `json:"name"`
			Query any    `json:"query"`
		} `json:"list"`
	} `json:"templating"`
	Panels []dashboardPanel `json:"panels"`
}

type dashboardPanel struct {
	ID          int                      `json:"id"`
	Type        string                   `json:"type"`
	Title       string                   `json:"title"`
	Description string                   `json:"description"`
	Datasource  dashboardSource          `json:"datasource"`
	Position    struct{ X, Y, W, H int } `json:"gridPos"`
	Targets     []struct {
		Expr       string          `json:"expr"`
		Legend     string          `json:"legendFormat"`
		Datasource dashboardSource `json:"datasource"`
	} `json:"targets"`
}

type dashboardSource struct{ Type, UID string }

// dashboards are the dashboards that the chart renders, by their ConfigMap.
func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	found := map[string]dashboard{}
	for _, object := range render(t, shown) {
		if object.GetKind() != "ConfigMap" {
			continue
		}
		files, _, err := unstructured.NestedStringMap(object.Object, "data")
		if err != nil || len(files) != 1 {
			t.Fatalf("%s has %d files: %v", id(object), len(files), err)
		}
		for _, content := range files {
			var d dashboard
			if err := json.Unmarshal([]byte(content), &d); err != nil {
				t.Fatalf("%s: %v", id(object), err)
			}
			found[object.GetName()] = d
		}
	}
	if len(found) != 3 {
		t.Errorf("there are %d dashboards", len(found))
	}
	return found
}

// TestDashboardsAreComplete: every panel has a description, overlaps no other panel, and queries the selected data
// source.
func TestDashboardsAreComplete(t *testing.T) {
	for name, d := range dashboards(t) {
		if !strings.HasSuffix(name, strings.TrimPrefix(d.UID, "karmada-compute")) || !strings.HasPrefix(d.Title, "karmada-compute / ") {
			t.Errorf("%s has uid %q and title %q", name, d.UID, d.Title)
		}
		taken, ids := map[[2]int]string{}, map[int]bool{}
		for _, p := range d.Panels {
			if ids[p.ID] || p.Title == "" {
				t.Errorf("%s: panel %q has id %d", name, p.Title, p.ID)
			}
			ids[p.ID] = true
			for x := p.Position.X; x < p.Position.X+p.Position.W; x++ {
				for y := p.Position.Y; y < p.Position.Y+p.Position.H; y++ {
					if other, ok := taken[[2]int{x, y}]; ok || x >= 24 {
						t.Errorf("%s: panel %q is over %q", name, p.Title, other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
			if p.Type == "row" {
				continue
			}
			if p.Description == "" || len(p.Targets) == 0 || p.Datasource != chosenSource {
				t.Errorf("%s: panel %q has %d queries of %+v, and says %q", name, p.Title, len(p.Targets), p.Datasource, p.Description)
			}
		}
	}
}

var chosenSource = dashboardSource{"prometheus", "${datasource}"}

// TestDashboardsShowMetricsThatExist: the metrics and labels of queries, groupings and legends exist.
func TestDashboardsShowMetricsThatExist(t *testing.T) {
	known := labelsOfMetrics(t)
	for name, d := range dashboards(t) {
		variables := map[string]bool{"__rate_interval": true}
		for _, v := range d.Templating.List {
			variables[v.Name] = true
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				metrics, grouped, matched := words(target.Expr)
				labels := append(slices.Clone(ofTargets), "cell") // the label of the targets that are agents
				for _, metric := range metrics {
					if _, ok := known[metric]; !ok {
						t.Errorf("%s: %s: there is no metric %s", name, p.Title, metric)
					}
					labels = append(labels, known[metric]...)
				}
				for _, label := range append(grouped, matched...) {
					if !slices.Contains(labels, label) {
						t.Errorf("%s: %s: %v have no label %s", name, p.Title, metrics, label)
					}
				}
				for _, used := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(target.Legend, -1) {
					if !slices.Contains(grouped, used[1]) {
						t.Errorf("%s: %s: the legend has label %s, which the query has not", name, p.Title, used[1])
					}
				}
				for _, used := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
					if !variables[used[1]] {
						t.Errorf("%s: %s: there is no variable %s", name, p.Title, used[1])
					}
				}
				if len(metrics) == 0 || target.Datasource != chosenSource {
					t.Errorf("%s: %s: query %s of %+v", name, p.Title, target.Expr, target.Datasource)
				}
			}
		}
	}
}
