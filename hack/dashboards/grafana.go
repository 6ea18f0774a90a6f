// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

// dashboard is a Grafana dashboard.
type dashboard struct {
	name, title, about string
	rows               []row
	// cells adds a variable for cells.
	cells bool
}

// row is a row of panels, with a heading.
type row struct {
	title  string
	panels []panel
}

// panel shows queries over time or, if it is a number, the present value of the first query.
type panel struct {
	title, about string
	unit         string
	number       bool
	// bad is the value from which a number is shown in red, or with below, the value under which it is. Nil: never.
	bad     *float64
	below   bool
	queries []query
}

// query is a query, and the legend of its series.
type query struct{ expr, legend string }

// Grafana divides the width of a page into 24 columns.
const (
	columns      = 24
	graphWidth   = 8
	graphHeight  = 8
	numberWidth  = 4
	numberHeight = 4
)

// object is a JSON object. Its keys are written in alphabetical order.
type object = map[string]any

var datasource = object{"type": "prometheus", "uid": "${datasource}"}

func (d dashboard) grafana() object {
	variables := []any{
		object{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
		variable("namespace", "Namespace of the replicas", "karmada_compute_ready"),
	}
	if d.cells {
		variables = append(variables, variable("cell", "Cell", "karmada_compute_cell_agent_ready"))
	}
	return object{
		"uid": "karmada-compute-" + d.name, "title": d.title, "description": d.about, "tags": []string{"karmada-compute"},
		"schemaVersion": 39, "graphTooltip": 1, "refresh": "1m", "time": object{"from": "now-6h", "to": "now"},
		"links": []any{object{
			"type": "dashboards", "title": "karmada-compute", "tooltip": "All dashboards of karmada-compute", "icon": "external link",
			"tags": []string{"karmada-compute"}, "asDropdown": true, "includeVars": true, "keepTime": true,
		}},
		"templating": object{"list": variables}, "annotations": object{"list": []any{}},
		"panels": layOut(d.rows),
	}
}

// variable returns a variable with the values of the label of its name.
func variable(label, title, metric string) object {
	values := "label_values(" + metric + ", " + label + ")"
	return object{
		"name": label, "label": title, "type": "query", "datasource": datasource, "definition": values,
		"query": object{"query": values, "refId": label}, "refresh": 2, "sort": 1,
		"includeAll": true, "multi": true, "allValue": ".*", "current": object{"text": "All", "value": "$__all"},
	}
}

// layOut places the panels of each row from left to right, and gives them ids.
func layOut(rows []row) []any {
	var panels []any
	y := 0
	add := func(p object, at object) {
		p["id"], p["gridPos"] = len(panels)+1, at
		panels = append(panels, p)
	}
	for _, r := range rows {
		add(object{"type": "row", "title": r.title, "collapsed": false, "panels": []any{}}, object{"x": 0, "y": y, "w": columns, "h": 1})
		y++
		x, height := 0, 0
		for _, p := range r.panels {
			w, h := p.size()
			if x+w > columns {
				x, y = 0, y+height
			}
			add(p.grafana(), object{"x": x, "y": y, "w": w, "h": h})
			x, height = x+w, h
		}
		y += height
	}
	return panels
}

func (p panel) size() (width, height int) {
	if p.number {
		return numberWidth, numberHeight
	}
	return graphWidth, graphHeight
}

func (p panel) grafana() object {
	var targets []any
	for i, q := range p.queries {
		targets = append(targets, object{
			"refId": string(rune('A' + i)), "datasource": datasource, "expr": q.expr, "legendFormat": q.legend, "instant": p.number, "range": !p.number,
		})
	}
	defaults := object{"unit": p.unit, "noValue": "none"}
	result := object{
		"title": p.title, "description": p.about, "datasource": datasource, "targets": targets,
		"fieldConfig": object{"defaults": defaults, "overrides": []any{}},
	}
	if !p.number {
		defaults["min"], defaults["custom"] = 0, object{"fillOpacity": 10, "showPoints": "never"}
		result["type"] = "timeseries"
		result["options"] = object{
			"legend": object{"showLegend": true, "displayMode": "list", "placement": "bottom"}, "tooltip": object{"mode": "multi", "sort": "desc"},
		}
		return result
	}
	defaults["thresholds"] = p.thresholds()
	result["type"] = "stat"
	result["options"] = object{"reduceOptions": object{"calcs": []string{"lastNotNull"}}, "colorMode": "value", "graphMode": "none", "orientation": "auto"}
	return result
}

// thresholds returns the colors of a number.
func (p panel) thresholds() object {
	low, high := "green", "red"
	if p.below {
		low, high = high, low
	}
	steps := []any{object{"color": low, "value": nil}}
	if p.bad != nil {
		steps = append(steps, object{"color": high, "value": *p.bad})
	}
	return object{"mode": "absolute", "steps": steps}
}

// Queries. The add-on's metrics on the host are selected by the chosen namespaces. Metrics that every binary with
// controller-runtime has are taken from the targets that have a metric of the add-on, as in the alerts.
const (
	chosen   = `{namespace=~"$namespace"}`
	replicas = ` and on (job, instance) karmada_compute_ready` + chosen
	agents   = ` and on (job, instance) karmada_compute_cell_empty_namespaces{cell=~"$cell"}`
	interval = `[$__rate_interval]`
)

// perSecond returns the rate of one of the add-on's counters.
func perSecond(metric string, by ...string) string {
	return "sum by (" + strings.Join(by, ", ") + ") (rate(" + metric + interval + "))"
}

// of returns the rate of a shared counter at some targets.
func of(targets, metric string, by ...string) string {
	return "sum by (" + strings.Join(by, ", ") + ") (rate(" + metric + interval + ")" + targets + ")"
}

// quantile returns a quantile of one of the add-on's histograms.
func quantile(q, metric string, by ...string) string {
	return "histogram_quantile(" + q + ", " + perSecond(metric+"_bucket"+chosen, append(by, "le")...) + ")"
}

// quantileOf returns a quantile of a shared histogram at some targets.
func quantileOf(targets, q, metric string, by ...string) string {
	return "histogram_quantile(" + q + ", " + of(targets, metric+"_bucket", append(by, "le")...) + ")"
}
