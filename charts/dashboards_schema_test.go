// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	grafana "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// knownUnits are the units of Grafana that dashboards use: any other unit would be shown as text after each number.
var knownUnits = []string{units.Seconds, units.Short, units.PercentUnit, units.OpsPerSecond, units.OpsPerMinute, units.BytesIEC}

// strictly decodes dashboards with the types of Grafana's published schema, and refuses unknown fields.
func strictly(t *testing.T) map[string]*grafana.Dashboard {
	t.Helper()
	schema := cog.NewRuntime()
	schema.RegisterPanelcfgVariant(timeseries.VariantConfig())
	schema.RegisterPanelcfgVariant(stat.VariantConfig())
	schema.RegisterDataqueryVariant(prometheus.VariantConfig())
	files, err := filepath.Glob("karmada-compute/files/dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no dashboards: %v", err)
	}
	read := map[string]*grafana.Dashboard{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := &grafana.Dashboard{}
		if err := d.UnmarshalJSONStrict(content); err != nil {
			t.Errorf("%s is not what Grafana reads: %v", file, err)
			continue
		}
		if err := d.Validate(); err != nil {
			t.Errorf("%s is not valid for Grafana: %v", file, err)
		}
		read[filepath.Base(file)] = d
	}
	return read
}

// TestDashboardsFollowGrafanasSchema: a field that Grafana does not know, or of another type, is ignored by it in
// silence.
func TestDashboardsFollowGrafanasSchema(t *testing.T) {
	for file, d := range strictly(t) {
		for _, p := range d.Panels {
			if p.Panel == nil {
				continue
			}
			panel, title := p.Panel, *p.Panel.Title
			if panel.Type != "timeseries" && panel.Type != "stat" {
				t.Errorf("%s: panel %q is a %s, whose schema is not tested", file, title, panel.Type)
			}
			if unit := panel.FieldConfig.Defaults.Unit; unit == nil || !slices.Contains(knownUnits, *unit) {
				t.Errorf("%s: panel %q has no unit of Grafana's", file, title)
			}
			if panel.Type == "timeseries" {
				checkLegends(t, file, panel)
			}
		}
	}
}

// kept are the labels that a query leaves to its series.
var kept = regexp.MustCompile(`\bby \(([^)]+)\)`)

// checkLegends checks that the legends of a panel contain the labels that distinguish its series.
func checkLegends(t *testing.T, file string, panel *grafana.Panel) {
	t.Helper()
	legends := map[string]bool{}
	for _, target := range panel.Targets {
		query, ok := target.(*prometheus.Dataquery)
		if !ok {
			t.Errorf("%s: panel %q has a query of type %T", file, *panel.Title, target)
			continue
		}
		legend := ""
		if query.LegendFormat != nil {
			legend = *query.LegendFormat
		}
		if legend == "" || legends[legend] {
			t.Errorf("%s: panel %q has the legend %q for more than one query, or none", file, *panel.Title, legend)
		}
		legends[legend] = true
		for _, by := range kept.FindAllStringSubmatch(query.Expr, -1) {
			for _, label := range word.FindAllString(by[1], -1) {
				// Quantiles use up the buckets.
				if label != "le" && !strings.Contains(legend, "{{"+label+"}}") {
					t.Errorf("%s: panel %q does not name %s in the legend of %s", file, *panel.Title, label, query.Expr)
				}
			}
		}
	}
}
