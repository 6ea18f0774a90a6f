// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/internal/remedies"
)

// Verdict is a reason and the step at which it stops ways.
type Verdict struct {
	// Stop is the step of the first way.
	Stop *Step `json:"stop"`
	// Names are the names of the Instances and deployments.
	Names []string `json:"names"`
}

// Verdicts returns the verdicts of ways, first the ones that require an action. It is empty if all ways reach a Pod that is
// ready.
func Verdicts(ways []*Way) []Verdict {
	var verdicts []Verdict
	for _, way := range ways {
		if way.Stop == nil {
			continue
		}
		index := slices.IndexFunc(verdicts, func(v Verdict) bool { return same(v.Stop, way.Stop) })
		if index < 0 {
			verdicts = append(verdicts, Verdict{Stop: way.Stop, Names: []string{way.Name}})
			continue
		}
		verdicts[index].Names = append(verdicts[index].Names, way.Name)
	}
	slices.SortStableFunc(verdicts, func(a, b Verdict) int { return rank(a) - rank(b) })
	return verdicts
}

func rank(v Verdict) int {
	if v.Stop.Finding.urgent() {
		return 0
	}
	return 1
}

// same reports whether two steps have the same cause, such as Instances that wait for one quota.
func same(a, b *Step) bool {
	return a.Kind == b.Kind && a.Plane == b.Plane && a.Finding.Reason == b.Finding.Reason && a.Finding.Message == b.Finding.Message
}

// Lines renders a verdict: step, reason, start, affected objects and action.
func (v Verdict) Lines(now time.Time, columns int) []string {
	finding := v.Stop.Finding
	head := fmt.Sprintf("Stopped at %s (%s): %s", v.Stop.Object(), v.Stop.Plane, finding.Reason)
	if len(v.Names) > 1 {
		head = fmt.Sprintf("%d stopped at their %s (%s): %s", len(v.Names), v.Stop.Kind, v.Stop.Plane, finding.Reason)
	}
	if finding.Since != nil {
		head += fmt.Sprintf(", since %s (%s)", duration.HumanDuration(now.Sub(finding.Since.Time)), finding.Since.UTC().Format(time.RFC3339))
	}
	lines := terminal.Wrap(head, columns)
	texts := []string{terminal.Clean(finding.Message)}
	if len(v.Names) > 1 || v.Names[0] != v.Stop.Name {
		texts = append(texts, "of: "+some(v.Names))
	}
	if finding.Do != "" {
		texts = append(texts, fmt.Sprintf("-> %s: %s", actor(finding), finding.Do))
	}
	for _, text := range texts {
		for _, line := range terminal.Wrap(text, max(columns-2, min(columns, 10))) {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

// mostNames is the maximum number of names in a verdict.
const mostNames = 5

// some returns the first names and the number of further names.
func some(names []string) string {
	if len(names) <= mostNames+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
}

func actor(f *Finding) string {
	if f.Actor == remedies.ActorNobody {
		return "nothing to do"
	}
	return string(f.Actor)
}

// Table returns a line for each step.
func (w *Way) Table(now time.Time) []string {
	rows := [][]string{{"PLANE", "OBJECT", "STATE", "REASON", "SINCE"}}
	for _, step := range w.Steps {
		reason, since := "", ""
		if f := step.Finding; f != nil {
			reason = f.Reason
			if f.Since != nil {
				since = duration.HumanDuration(now.Sub(f.Since.Time))
			}
		}
		rows = append(rows, []string{step.Plane, step.Object(), step.State, reason, since})
	}
	return terminal.Align(rows)
}
