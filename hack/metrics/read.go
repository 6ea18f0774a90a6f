// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
)

// metric is an entry of the reference.
type metric struct {
	name, kind, help string
	labels           []string
}

// kinds maps the functions of package prometheus that create metrics to the type of the metric. A Desc has no type: the
// functions that create metrics from it have.
var kinds = map[string]string{
	"NewCounter": "counter", "NewCounterVec": "counter", "NewCounterFunc": "counter",
	"NewGauge": "gauge", "NewGaugeVec": "gauge", "NewGaugeFunc": "gauge",
	"NewHistogram": "histogram", "NewHistogramVec": "histogram",
	"NewSummary": "summary", "NewSummaryVec": "summary",
	"NewDesc": "desc",
}

// ours is the literal of a metric's name.
var ours = regexp.MustCompile(`^"karmada_compute_[a-z0-9_]+"$`)

// called returns the called function of package prometheus, or "".
func called(call *ast.CallExpr) string {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if in, ok := function.X.(*ast.Ident); !ok || in.Name != "prometheus" {
		return ""
	}
	return function.Sel.Name
}

// reader reads the metrics of one file.
type reader struct {
	file *ast.File
	// read holds the positions of the names that were read.
	read map[token.Pos]bool
}

// metric reads the arguments of a call.
func (r *reader) metric(call *ast.CallExpr) (metric, error) {
	m := metric{kind: kinds[called(call)]}
	var name, help, labels ast.Expr
	if m.kind == "desc" {
		if len(call.Args) < 3 {
			return m, errors.New("a Desc has a name, a help and labels")
		}
		var err error
		if m.kind, err = r.kindOfDesc(); err != nil {
			return m, err
		}
		name, help, labels = call.Args[0], call.Args[1], call.Args[2]
	} else {
		if len(call.Args) == 0 {
			return m, errors.New("a metric has options")
		}
		name, help = field(call.Args[0], "Name"), field(call.Args[0], "Help")
		if len(call.Args) > 1 {
			labels = call.Args[1]
		}
	}
	var err error
	if m.name, err = text(name); err != nil {
		return m, fmt.Errorf("the name of the metric: %w", err)
	}
	if !ours.MatchString(strconv.Quote(m.name)) {
		return m, fmt.Errorf("metric %s: names begin with karmada_compute_", m.name)
	}
	r.read[name.Pos()] = true
	if m.help, err = text(help); err != nil {
		return m, fmt.Errorf("the help of metric %s: %w", m.name, err)
	}
	if m.labels, err = list(labels); err != nil {
		return m, fmt.Errorf("the labels of metric %s: %w", m.name, err)
	}
	return m, nil
}

// kindOfDesc returns the only type of the metrics that the file creates from its Descs.
func (r *reader) kindOfDesc() (string, error) {
	types := map[string]string{"GaugeValue": "gauge", "CounterValue": "counter"}
	found := map[string]bool{}
	ast.Inspect(r.file, func(node ast.Node) bool {
		if value, ok := node.(*ast.SelectorExpr); ok && types[value.Sel.Name] != "" {
			found[types[value.Sel.Name]] = true
		}
		return true
	})
	for kind := range found {
		if len(found) == 1 {
			return kind, nil
		}
	}
	return "", errors.New("a file with a Desc uses either prometheus.GaugeValue or prometheus.CounterValue")
}

// field returns the value of a struct field, or nil if the literal does not set it.
func field(options ast.Expr, name string) ast.Expr {
	literal, ok := options.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := pair.Key.(*ast.Ident); ok && key.Name == name {
			return pair.Value
		}
	}
	return nil
}

// text returns the value of a literal, or of several that are joined.
func text(expression ast.Expr) (string, error) {
	if joined, ok := expression.(*ast.BinaryExpr); ok && joined.Op == token.ADD {
		first, err := text(joined.X)
		if err != nil {
			return "", err
		}
		second, err := text(joined.Y)
		return first + second, err
	}
	literal, ok := expression.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", errors.New("write it as literals: it is read from the source")
	}
	return strconv.Unquote(literal.Value)
}

// list returns the literals of a slice. An omitted argument, nil and a function (of a GaugeFunc) are empty lists.
func list(expression ast.Expr) ([]string, error) {
	var texts []string
	switch labels := expression.(type) {
	case nil, *ast.FuncLit:
	case *ast.Ident:
		if labels.Name != "nil" {
			return nil, errors.New("write them as literals: they are read from the source")
		}
	case *ast.CompositeLit:
		for _, element := range labels.Elts {
			label, err := text(element)
			if err != nil {
				return nil, err
			}
			texts = append(texts, label)
		}
	default:
		return nil, errors.New("write them as literals: they are read from the source")
	}
	return texts, nil
}
