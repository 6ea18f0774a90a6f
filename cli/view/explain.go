// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Summary returns a sentence about the Workload.
func (s *Snapshot) Summary() string {
	if s.IsDeleting() {
		return fmt.Sprintf("Workload %s is being deleted; %d of its Instances are left.", s.Name, len(s.Instances))
	}
	ready, desired := s.Ready(), max(s.Desired(), len(s.Instances))
	if s.Workload != nil && s.Workload.Status.DesiredReplicas > 0 {
		// The numbers of list, tree and kubectl get.
		ready, desired = int(s.Workload.Status.ReadyReplicas), int(s.Workload.Status.DesiredReplicas)
	}
	return fmt.Sprintf("Workload %s: %d of %d Instances are Ready.%s%s", s.Name, ready, desired, s.Unsettled(), reached(s.Workload))
}

// Verdict is a reason and the step at which it stops ways.
type Verdict struct {
	// Stop is the step of the first way.
	Stop *Step `json:"stop"`
	// Names are the names of the Instances and deployments.
	Names []string `json:"names"`
	// Warns: the objects work nevertheless.
	Warns bool `json:"-"`
}

// Verdicts returns the verdicts of ways, first the ones that require an action. It is empty if all ways reach a Pod
// that is ready.
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

// Warnings returns the faults that do not hold an Instance up, such as a Service without an address or data that waits for a restart: first
// the ones that require an action. An object that sums up the objects below it adds nothing to what these say.
func Warnings(ways []*Way) []Verdict {
	var found, warnings []Verdict
	depths := map[*Step]int{}
	for _, way := range ways {
		for depth, step := range way.Steps {
			for _, finding := range step.warnings {
				if way.Stop != nil && way.Stop.Finding.Reason == finding.Reason {
					continue
				}
				told := *step
				told.Finding = finding
				depths[&told] = depth
				found = append(found, Verdict{Stop: &told, Names: []string{step.Name}, Warns: true})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Verdict) int { return depths[b.Stop] - depths[a.Stop] })
	for _, verdict := range found {
		index := slices.IndexFunc(warnings, func(v Verdict) bool { return v.covers(&verdict) })
		switch {
		case index < 0:
			warnings = append(warnings, verdict)
		case same(warnings[index].Stop, verdict.Stop) && !slices.Contains(warnings[index].Names, verdict.Names[0]):
			warnings[index].Names = append(warnings[index].Names, verdict.Names[0])
		}
	}
	slices.SortStableFunc(warnings, func(a, b Verdict) int { return rank(a) - rank(b) })
	return warnings
}

// covers reports whether another warning says the same of an object of the same kind, or sums it up for an object above.
func (v *Verdict) covers(other *Verdict) bool {
	mine, its := v.Stop.Finding, other.Stop.Finding
	return same(v.Stop, other.Stop) || v.Stop.Kind != other.Stop.Kind && mine.Condition == its.Condition && mine.Reason == its.Reason
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
	head := v.head()
	if finding.Since != nil {
		head += fmt.Sprintf(", since %s (%s)", duration.HumanDuration(now.Sub(finding.Since.Time)), finding.Since.UTC().Format(time.RFC3339))
	}
	lines := terminal.Wrap(head, columns)
	texts := []string{reasons.Clean(finding.Message)}
	if len(v.Names) > 1 || v.Names[0] != v.Stop.Name {
		texts = append(texts, "of: "+firstNames(v.Names))
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

func (v Verdict) head() string {
	single, many := "Stopped at %s (%s): %s", "%d stopped at their %s (%s): %s"
	if v.Warns {
		single, many = "Warning about %s (%s): %s", "Warning about %d %ss (%s): %s"
	}
	if len(v.Names) > 1 {
		return fmt.Sprintf(many, len(v.Names), v.Stop.Kind, v.Stop.Plane, v.Stop.Finding.Reason)
	}
	return fmt.Sprintf(single, v.Stop.Object(), v.Stop.Plane, v.Stop.Finding.Reason)
}

// mostNames is the maximum number of names in a verdict.
const mostNames = 5

// firstNames returns the first names and the number of further names.
func firstNames(names []string) string {
	if len(names) <= mostNames+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
}

func actor(f *Finding) string {
	if f.Actor == reasons.ActorNobody {
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

// CellOf returns the cell of an Instance and its namespace there, or "" if the user does not reach the hub.
func (s *Snapshot) CellOf(instance string) (cell, namespace string) {
	for i := range s.Deployments {
		d := &s.Deployments[i]
		if _, ok := naming.InstanceIndex(d.Name, instance); ok {
			if onHub := s.Hub[d.Name]; onHub != nil {
				return onHub.Cell(instance), onHub.Namespace
			}
		}
	}
	return "", ""
}

// AddCell adds the objects of an Instance in its cell, from the deployment to the Pod. A cell that cannot be read is a
// step with a finding, not an error.
func (w *Way) AddCell(ctx context.Context, reader client.Reader, cell, namespace string) {
	deployment := ""
	for _, step := range w.Steps {
		if step.Kind == v1alpha.KindWorkloadDeployment {
			deployment = step.Name
		}
	}
	plane := "cell " + cell
	var steps []*Step
	for _, object := range []client.Object{&v1alpha.WorkloadDeployment{}, &v1alpha.Instance{}, &corev1.Pod{}} {
		step := &Step{
			Plane: plane, Kind: strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1alpha."), "*v1."),
			Namespace: namespace, Name: w.Name, State: StateOK,
		}
		if step.Kind == v1alpha.KindWorkloadDeployment {
			step.Name = deployment
		}
		err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: step.Name}, object)
		switch {
		case apierrors.IsNotFound(err):
			step.State = StateMissing
		case err != nil:
			step.State = StateHidden
			step.Finding = &Finding{Reason: "CellNotRead", Message: err.Error(), Warning: true}
		default:
			step.look(object, w.now)
		}
		steps = append(steps, step)
		if step.State == StateHidden {
			break
		}
	}
	// The project's Instance comes last: the add-on creates it from the cell's report.
	last := w.Steps[len(w.Steps)-1]
	w.Steps = append(slices.Insert(w.Steps[:len(w.Steps)-1:len(w.Steps)-1], len(w.Steps)-1, steps...), last)
	w.stop(last)
}

// look finds the fault of an object in a cell.
func (s *Step) look(object client.Object, now time.Time) {
	switch object := object.(type) {
	case *v1alpha.WorkloadDeployment:
		s.withStateOf(deploymentNode(object, now))
	case *v1alpha.Instance:
		s.withStateOf(instanceNode(object, now))
	case *corev1.Pod:
		s.State, s.Finding = podState(object)
	}
}

// podState returns the state of a Pod as kubectl get shows it: ready, or why not.
func podState(pod *corev1.Pod) (string, *Finding) {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return StateReady, nil
		}
	}
	found := &Finding{Condition: string(corev1.PodReady), Reason: string(pod.Status.Phase), Message: pod.Status.Message}
	for _, c := range pod.Status.Conditions {
		if c.Status == corev1.ConditionTrue || c.Reason == "" {
			continue
		}
		if c.Type == corev1.PodScheduled || c.Type == corev1.PodReady {
			found.Condition, found.Reason, found.Message, found.Since = string(c.Type), c.Reason, c.Message, since(c.LastTransitionTime)
			break
		}
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := status.State.Waiting; waiting != nil {
			found.Reason, found.Message = waiting.Reason, strings.TrimSpace("container "+status.Name+": "+waiting.Message)
			break
		}
	}
	return StateNotReady, found
}

func since(at metav1.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
