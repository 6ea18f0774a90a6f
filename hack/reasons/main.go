// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command reasons writes the reference of all condition reasons, from their constants and the table of remedies.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

const reference = "docs/reference/reasons.md"

// constants are the files with the reasons.
var constants = []string{
	"api/v1alpha/conditions.go", "api/v1alpha/service_conditions.go", "api/v1alpha/cluster_conditions.go", "api/v1alpha/session_conditions.go",
}

const head = `# Reasons

Generated from the code: every reason of the add-on's conditions, with its meaning, the actor and the action.

- **specificity**: of several unhealthy conditions, ` + "`explain`" +
	` shows the one with the most specific reason: a cause before a step, a step before a
  summary.
- **normal for**: how long the reason usually lasts. No action is needed until then. Afterwards the second actor acts.

Kubernetes documents the other reasons of condition ScalingActive: the HorizontalPodAutoscaler sets them.
`

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "reasons:", err)
		os.Exit(1)
	}
}

func run() error {
	meanings, err := readMeanings()
	if err != nil {
		return err
	}
	out := &strings.Builder{}
	out.WriteString(head)
	byCondition := map[string][]reasons.Remedy{}
	var conditions []string
	for _, remedy := range reasons.All() {
		for _, condition := range remedy.Conditions {
			if byCondition[condition] == nil {
				conditions = append(conditions, condition)
			}
			byCondition[condition] = append(byCondition[condition], remedy)
		}
	}
	slices.Sort(conditions)
	for _, condition := range conditions {
		fmt.Fprintf(out, "\n## %s\n\n| reason | meaning | specificity | normal for | who acts | what to do |\n", condition)
		fmt.Fprint(out, "| --- | --- | --- | --- | --- | --- |\n")
		for _, remedy := range byCondition[condition] {
			fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", remedy.Reason, meanings[remedy.Reason], ranks[remedy.Rank],
				normal(&remedy), actors(&remedy), does(&remedy))
		}
	}
	return os.WriteFile(reference, []byte(out.String()), 0o644) //nolint:gosec // not a secret
}

var ranks = map[reasons.Rank]string{
	reasons.RankWell: "–", reasons.RankSummary: "summary", reasons.RankStep: "step", reasons.RankCause: "cause",
}

// normal returns how long a reason usually lasts.
func normal(r *reasons.Remedy) string {
	if r.Normal == 0 {
		return "–"
	}
	if r.Normal == reasons.Forever {
		return "always"
	}
	return duration.HumanDuration(r.Normal)
}

func actors(r *reasons.Remedy) string {
	if r.Late.Actor == "" {
		return string(r.Actor)
	}
	return fmt.Sprintf("%s, then %s", r.Actor, r.Late.Actor)
}

func does(r *reasons.Remedy) string {
	if r.Late.Do == "" {
		return r.Do
	}
	return fmt.Sprintf("%s After %s: %s", r.Do, normal(r), r.Late.Do)
}

// saysThat matches the beginning of a constant's comment.
var saysThat = regexp.MustCompile(`^Reason\w+ (?:is the reason of \S+ )?(?:says that )?`)

// readMeanings returns the comments of the constants, by the value of the constant.
func readMeanings() (map[string]string, error) {
	meanings := map[string]string{}
	for _, path := range constants {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, declaration := range file.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			if err := addMeanings(meanings, group); err != nil {
				return nil, err
			}
		}
	}
	maps.Copy(meanings, ofKubernetes)
	return meanings, nil
}

// addMeanings adds the reasons of a group of constants.
func addMeanings(meanings map[string]string, group *ast.GenDecl) error {
	for _, spec := range group.Specs {
		constant, ok := spec.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(constant.Names[0].Name, "Reason") {
			continue
		}
		comment := constant.Doc.Text()
		if comment == "" {
			comment = group.Doc.Text()
		}
		value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			return fmt.Errorf("value of %s: %w", constant.Names[0].Name, err)
		}
		meanings[value] = sentence(comment)
	}
	return nil
}

// ofKubernetes holds the meanings of reasons that Kubernetes' HorizontalPodAutoscaler sets. They have no constants
// here.
var ofKubernetes = map[string]string{
	"ValidMetricFound":        "The autoscaler calculates the number of Instances from the metrics",
	"FailedGetResourceMetric": "The autoscaler cannot read the metrics",
}

// sentence returns the first sentence of a comment, without the name of the constant.
func sentence(comment string) string {
	text := saysThat.ReplaceAllString(strings.Join(strings.Fields(comment), " "), "")
	if first, _, more := strings.Cut(text, ". "); more {
		text = first
	}
	text = strings.TrimSuffix(text, ".")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
