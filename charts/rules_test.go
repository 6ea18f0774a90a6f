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
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// rule is an alert of a PrometheusRule.
type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// rules are the rules that the chart renders.
func rules(t *testing.T) []rule {
	t.Helper()
	object := find(render(t, set{"monitoring.rules.enabled": true}), alerts)
	if object == nil {
		t.Fatal("there is no PrometheusRule")
	}
	var content struct {
		Spec struct {
			Groups []struct {
				Name  string `json:"name"`
				Rules []rule `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(
		map[string]any{"spec": object.Object["spec"]}, &content, true); err != nil {
		t.Fatal(err)
	}
	var result []rule
	for _, group := range content.Spec.Groups {
		if group.Name == "" || len(group.Rules) == 0 {
			t.Errorf("group %q has %d rules", group.Name, len(group.Rules))
		}
		result = append(result, group.Rules...)
	}
	return result
}

// labelsOfMetrics are the labels of each metric in the reference, and of metrics of libraries that the chart uses. A
// histogram has le.
func labelsOfMetrics(t *testing.T) map[string][]string {
	t.Helper()
	known := map[string][]string{
		"controller_runtime_reconcile_errors_total":        {"controller"},
		"controller_runtime_reconcile_panics_total":        {"controller"},
		"controller_runtime_reconcile_time_seconds_bucket": {"controller", "le"},
		"controller_runtime_reconcile_total":               {"controller", "result"},
		"process_cpu_seconds_total":                        nil,
		"process_resident_memory_bytes":                    nil,
		"rest_client_requests_total":                       {"code", "host", "method"},
		"workqueue_depth":                                  {"controller", "name", "priority"},
		"workqueue_queue_duration_seconds_bucket":          {"controller", "le", "name"},
	}
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| ([^|]*) \\|")
	for _, metric := range row.FindAllStringSubmatch(read(t, "docs/reference/metrics.md"), -1) {
		labels := strings.FieldsFunc(metric[3], func(r rune) bool { return r == ',' || r == ' ' })
		if metric[2] != "histogram" {
			known[metric[1]] = labels
			continue
		}
		known[metric[1]+"_sum"], known[metric[1]+"_count"] = labels, labels
		known[metric[1]+"_bucket"] = append(slices.Clone(labels), "le")
	}
	return known
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The parts of PromQL that rules and dashboards use. That they are PromQL is tested by promtool, and by a scenario. A
// metric that does not exist is found here within a second.
var (
	text      = regexp.MustCompile(`"[^"]*"`)
	matchers  = regexp.MustCompile(`\{[^}]*\}`)
	grouping  = regexp.MustCompile(`\b(?:by|on) \(([\w, ]*)\)`)
	durations = regexp.MustCompile(`\[(?:\d+[smh]|\$__rate_interval)\]`)
	word      = regexp.MustCompile(`[a-zA-Z_]\w*`)
	quoted    = regexp.MustCompile(`(\w+)(?:=|=~|!=|!~)"([^"]*)"`)

	functions = []string{"absent", "histogram_quantile", "increase", "max", "min", "rate", "sum", "time"}
	operators = []string{"and"}
	// ofTargets are the labels that Prometheus adds.
	ofTargets = []string{"namespace", "job", "instance"}
)

// words are the metrics, and the labels by which they are grouped and matched, of an expression.
func words(expression string) (metrics, grouped, matched []string) {
	for _, by := range grouping.FindAllStringSubmatch(expression, -1) {
		grouped = append(grouped, word.FindAllString(by[1], -1)...)
	}
	for _, matcher := range quoted.FindAllStringSubmatch(expression, -1) {
		matched = append(matched, matcher[1])
	}
	for _, not := range []*regexp.Regexp{text, matchers, grouping, durations} {
		expression = not.ReplaceAllString(expression, " ")
	}
	for _, name := range word.FindAllString(expression, -1) {
		if !slices.Contains(functions, name) && !slices.Contains(operators, name) {
			metrics = append(metrics, name)
		}
	}
	return metrics, grouped, matched
}

// TestRulesAreOnMetricsThatExist: an alert on a metric, a label or a reason that does not exist would never fire.
func TestRulesAreOnMetricsThatExist(t *testing.T) {
	known := labelsOfMetrics(t)
	havingRemedy := map[string]bool{}
	for _, remedy := range reasons.All() {
		havingRemedy[remedy.Reason] = true
	}
	for _, r := range rules(t) {
		metrics, grouped, matched := words(r.Expr)
		labels := slices.Clone(ofTargets)
		for _, metric := range metrics {
			if _, ok := known[metric]; !ok {
				t.Errorf("%s: there is no metric %s", r.Alert, metric)
			}
			labels = append(labels, known[metric]...)
		}
		if len(metrics) == 0 || strings.Count(r.Expr, "(") != strings.Count(r.Expr, ")") {
			t.Errorf("%s: expression %s", r.Alert, r.Expr)
		}
		for _, label := range append(grouped, matched...) {
			if !slices.Contains(labels, label) {
				t.Errorf("%s: %v have no label %s", r.Alert, metrics, label)
			}
		}
		for _, matcher := range quoted.FindAllStringSubmatch(r.Expr, -1) {
			for value := range strings.SplitSeq(matcher[2], "|") {
				if matcher[1] == "reason" && !havingRemedy[value] {
					t.Errorf("%s: there is no reason %s", r.Alert, value)
				}
			}
		}
		for _, used := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(r.Annotations["summary"], -1) {
			if !slices.Contains(grouped, used[1]) {
				t.Errorf("%s: the summary has label %s, which the expression has not", r.Alert, used[1])
			}
		}
	}
}

// TestRulesAreComplete: every alert has a severity, a duration, a description, and a link to its runbook.
func TestRulesAreComplete(t *testing.T) {
	const runbooks = "https://github.com/karmada-compute/karmada-compute/blob/main/"
	seen := map[string]bool{}
	for _, r := range rules(t) {
		if !strings.HasPrefix(r.Alert, "KarmadaCompute") || seen[r.Alert] {
			t.Errorf("alert %q: names are unique and begin with KarmadaCompute", r.Alert)
		}
		seen[r.Alert] = true
		if lasts, err := time.ParseDuration(r.For); err != nil || lasts <= 0 {
			t.Errorf("%s: for %q: %v", r.Alert, r.For, err)
		}
		if severity := r.Labels["severity"]; severity != "critical" && severity != "warning" {
			t.Errorf("%s: severity %q", r.Alert, severity)
		}
		if r.Annotations["summary"] == "" {
			t.Errorf("%s has no summary", r.Alert)
		}
		path, ok := strings.CutPrefix(r.Annotations["runbook_url"], runbooks)
		file, section, _ := strings.Cut(path, "#")
		if !ok || !strings.HasPrefix(file, "docs/runbooks/") {
			t.Errorf("%s: runbook_url %q", r.Alert, r.Annotations["runbook_url"])
			continue
		}
		if content := read(t, file); section != "" && !slices.Contains(sections(content), section) {
			t.Errorf("%s: %s has no section %s: %v", r.Alert, file, section, sections(content))
		}
	}
	if len(seen) < 10 {
		t.Errorf("there are %d alerts", len(seen))
	}
}

// sections are the anchors of the headings of a Markdown file.
func sections(content string) []string {
	var anchors []string
	for line := range strings.Lines(content) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			heading = regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			anchors = append(anchors, strings.ReplaceAll(heading, " ", "-"))
		}
	}
	return anchors
}

// TestRulesAreOff: no part has rules by default, and parts without replicas have none at all.
func TestRulesAreOff(t *testing.T) {
	for part, enabled := range parts {
		if find(render(t, enabled), alerts) != nil {
			t.Errorf("%s has rules by default", part)
		}
		if on := find(render(t, enabled, set{"monitoring.rules.enabled": true}), alerts); on != nil && part != "host" {
			t.Errorf("%s has rules", part)
		}
	}
}
