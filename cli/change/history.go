// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// pastTemplate is an entry of the history of a Workload.
type pastTemplate struct {
	Revision int64       `json:"revision"`
	Created  metav1.Time `json:"created"`
	Template string      `json:"template"`
	Images   string      `json:"images"`
	// Cause is the annotation of the change or, without one, what differs from the revision before.
	Cause string `json:"cause,omitempty"`
	// Data are the objects that its Instances are started with, if a change of data is a rollout, and Changed the ones that
	// differ from the revision before.
	Data    []v1alpha.DataVersion `json:"data,omitempty"`
	Changed []string              `json:"changedData,omitempty"`
}

func (c *commands) rolloutHistoryCommand() *cobra.Command {
	var out *command.Output
	var shown int64
	const short = "List the templates that a Workload has had, when, and what changed"
	cmd := c.ofWorkload("history", short, func(ctx context.Context, name string) error {
		if err := out.Check(); err != nil {
			return err
		}
		s, workload, err := c.withProject(ctx, name)
		if err != nil {
			return err
		}
		history, err := view.ReadRevisions(ctx, s.Project.Client, workload)
		if err != nil {
			return err
		}
		past, err := pastTemplates(history)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(past, func(p pastTemplate) bool { return p.Revision == shown })
		switch {
		case shown == 0:
			return c.printHistory(name, past, out)
		case at < 0:
			return fmt.Errorf("unable to find the specified revision %d in the history of workload %s", shown, name)
		case out.IsText():
			return c.printRevision(name, &history[at])
		}
		return c.printHistory(name, past[at:at+1], out)
	})
	cmd.Flags().Int64Var(&shown, "revision", 0, "Show the template of this revision.")
	c.CompleteFlag(cmd, "revision", command.Revisions)
	out = command.NewOutput(cmd)
	return cmd
}

func pastTemplates(history []v1alpha.WorkloadRevision) ([]pastTemplate, error) {
	past := make([]pastTemplate, 0, len(history))
	for i := range history {
		revision := &history[i].Spec
		hash, err := templates.Hash(startedWith(&history[i]))
		if err != nil {
			return nil, err
		}
		entry := pastTemplate{
			Revision: revision.Revision, Created: history[i].CreationTimestamp, Template: hash,
			Images: strings.Join(view.ImagesOf(&revision.Template), ","), Data: revision.Data,
		}
		if i > 0 {
			entry.Changed = changedData(history[i-1].Spec.Data, revision.Data)
			entry.Cause = causeOf(&history[i-1], &history[i], entry.Changed)
		} else {
			entry.Cause = cmp.Or(history[i].Annotations[v1alpha.AnnotationChangeCause], firstCauses[revision.Revision == 1])
		}
		past = append(past, entry)
	}
	return past, nil
}

// firstCauses are the causes of the first revision in a history, by whether it is the first one of the Workload.
var firstCauses = map[bool]string{true: "first template", false: "<none>"}

func (c *commands) printHistory(name string, past []pastTemplate, out *command.Output) error {
	if !out.IsText() {
		return out.Print(c.Data, "RolloutHistory", map[string]any{"workload": name, "revisions": past})
	}
	rows := [][]string{{"REVISION", "AGE", "IMAGES", "CHANGE-CAUSE"}}
	for i := range past {
		rows = append(rows, []string{
			fmt.Sprint(past[i].Revision), duration.HumanDuration(c.Clock.Now().Sub(past[i].Created.Time)), past[i].Images, past[i].Cause,
		})
	}
	_, err := fmt.Fprintf(c.Streams.Out, "workload.compute.datumapis.com/%s\n%s\n", name, strings.Join(terminal.Align(rows), "\n"))
	return err
}

func (c *commands) printRevision(name string, revision *v1alpha.WorkloadRevision) error {
	template, err := yaml.Marshal(revision.Spec.Template)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Streams.Out, "workload.compute.datumapis.com/%s with revision #%d\n%s", name, revision.Spec.Revision, template)
	return err
}

// causeOf returns the cause of a revision. An annotation that the revision before has, too, is about an earlier change.
func causeOf(before, after *v1alpha.WorkloadRevision, data []string) string {
	told := after.Annotations[v1alpha.AnnotationChangeCause]
	if told != "" && told != before.Annotations[v1alpha.AnnotationChangeCause] {
		return told
	}
	var changes []string
	former := map[string]*v1alpha.SandboxContainer{}
	for _, container := range before.Spec.Template.Spec.Runtime.Sandbox.AllContainers() {
		former[container.Name] = container
	}
	for _, container := range after.Spec.Template.Spec.Runtime.Sandbox.AllContainers() {
		changes = append(changes, changedFields(former[container.Name], container)...)
		delete(former, container.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(former)) {
		changes = append(changes, "without container "+name)
	}
	at := after.Spec.Template.Annotations[v1alpha.AnnotationRestartedAt]
	if at != "" && at != before.Spec.Template.Annotations[v1alpha.AnnotationRestartedAt] {
		changes = append(changes, "restarted")
	}
	return cmp.Or(strings.Join(append(changes, data...), ", "), "other fields of the template")
}

// changedFields names the fields of a container that differ from the ones before, which may be nil.
func changedFields(before, after *v1alpha.SandboxContainer) (changes []string) {
	if before == nil {
		return []string{"new container " + after.Name}
	}
	if before.Image != after.Image {
		changes = append(changes, fmt.Sprintf("image of %s: %s -> %s", after.Name, before.Image, after.Image))
	}
	former, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(before) // types of an API are convertible
	fields, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	for field := range former {
		if _, kept := fields[field]; !kept {
			fields[field] = nil
		}
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if field != "image" && !equality.Semantic.DeepEqual(former[field], fields[field]) {
			changes = append(changes, field+" of "+after.Name)
		}
	}
	return changes
}
