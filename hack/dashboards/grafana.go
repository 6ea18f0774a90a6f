// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

// dashboard is a Grafana dashboard.
type dashboard struct {
	Name, Title, About string
	Rows               []row
	// Cells adds a variable for cells.
	Cells bool
}

// row is a row of panels, with a heading.
type row struct {
	Title  string
	Panels []panel
}

// panel shows queries over time or, if it is a number, the present value of the first query.
type panel struct {
	Title, About string
	// Unit is Grafana's name of it.
	Unit   string
	Number bool
	// Bad is the value from which a number is shown in red, or with below, the value under which it is. Nil: never.
	Bad     *float64
	Below   bool
	Queries []query
}

// query is a query, and the legend of its series.
type query struct{ Expr, Legend string }

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
	if d.Cells {
		variables = append(variables, variable("cell", "Cell", "karmada_compute_cell_agent_ready"))
	}
	return object{
		"uid": "karmada-compute-" + d.Name, "title": d.Title, "description": d.About, "tags": []string{"karmada-compute"},
		"schemaVersion": 39, "graphTooltip": 1, "refresh": "1m", "time": object{"from": "now-6h", "to": "now"},
		"links": []any{object{
			"type": "dashboards", "title": "karmada-compute", "tooltip": "All dashboards of karmada-compute", "icon": "external link",
			"tags": []string{"karmada-compute"}, "asDropdown": true, "includeVars": true, "keepTime": true,
		}},
		"templating": object{"list": variables}, "annotations": object{"list": []any{}},
		"panels": layOut(d.Rows),
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
		add(object{"type": "row", "title": r.Title, "collapsed": false, "panels": []any{}}, object{"x": 0, "y": y, "w": columns, "h": 1})
		y++
		x, height := 0, 0
		for _, p := range r.Panels {
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
	if p.Number {
		return numberWidth, numberHeight
	}
	return graphWidth, graphHeight
}

func (p panel) grafana() object {
	var targets []any
	for i, q := range p.Queries {
		targets = append(targets, object{
			"refId": string(rune('A' + i)), "datasource": datasource, "expr": q.Expr, "legendFormat": q.Legend,
			"instant": p.Number, "range": !p.Number,
		})
	}
	defaults := object{"unit": p.Unit, "noValue": "none"}
	result := object{
		"title": p.Title, "description": p.About, "datasource": datasource, "targets": targets,
		"fieldConfig": object{"defaults": defaults, "overrides": []any{}},
	}
	if !p.Number {
		defaults["min"], defaults["custom"] = 0, object{"fillOpacity": 10, "showPoints": "never"}
		result["type"] = "timeseries"
		result["options"] = object{
			"legend": object{"showLegend": true, "displayMode": "list", "placement": "bottom"}, "tooltip": object{"mode": "multi", "sort": "desc"},
		}
		return result
	}
	defaults["thresholds"] = p.thresholds()
	result["type"] = "stat"
	result["options"] = object{
		"reduceOptions": object{"calcs": []string{"lastNotNull"}}, "colorMode": "value", "graphMode": "none", "orientation": "auto",
	}
	return result
}

// thresholds returns the colors of a number.
func (p panel) thresholds() object {
	low, high := "green", "red"
	if p.Below {
		low, high = high, low
	}
	steps := []any{object{"color": low, "value": nil}}
	if p.Bad != nil {
		steps = append(steps, object{"color": high, "value": *p.Bad})
	}
	return object{"mode": "absolute", "steps": steps}
}
