// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// explanation is the output of explain.
type explanation struct {
	// Ready is true if no object is stopped, and the Workload is Ready with its newest template.
	Ready    bool           `json:"ready"`
	Verdicts []view.Verdict `json:"verdicts,omitempty"`
	// Warnings are faults that hold no Instance up.
	Warnings []view.Verdict `json:"warnings,omitempty"`
	Ways     []*view.Way    `json:"ways"`
}

func (c *commands) explainCommand() *cobra.Command {
	var out *command.Output
	cmd := &cobra.Command{
		Use:        "explain (WORKLOAD | INSTANCE | wl/NAME | inst/NAME)",
		SuggestFor: []string{"describe", "status"},
		Short:      "Show where a Workload or an Instance is held up, since when, and what to do",
		Long: "Read every object on the path from the project to the Pod, and show where the path is interrupted, since when, " +
			"and who must act.\n\n" +
			"The exit code is 0 if all objects are healthy and the Workload is Ready with its newest template, 2 if not, and 1 if the command\n" +
			"fails.",
		Example: c.Examples(`
  # Why is Workload web not Ready?
  %s explain web
  # And its first Instance in Dallas?
  %s explain inst/web-texas-dfw-0
  # In a script
  %s explain web -o jsonpath='{.verdicts[*].stop.finding.reason}'`),
		Args:              command.OneArg("the name of a Workload or an Instance"),
		ValidArgsFunction: c.CompleteObjects(),
	}
	out = command.NewOutput(cmd)
	cmd.RunE = c.Run(func(ctx context.Context, args []string) error {
		if err := out.Check(); err != nil {
			return err
		}
		s, err := c.ConnectToWorkload()
		if err != nil {
			return err
		}
		return c.explain(ctx, s, args[0], out)
	})
	return cmd
}

func (c *commands) explain(ctx context.Context, s *command.Session, argument string, out *command.Output) error {
	workload, instance, err := resolve(ctx, s, argument)
	if err != nil {
		return err
	}
	snapshot, err := s.Read(ctx, workload)
	if err != nil {
		return err
	}
	ways := snapshot.Ways()
	if instance != "" {
		way := snapshot.WayTo(instance)
		if way == nil {
			return instanceNotFound(s.Namespace, instance)
		}
		c.addCell(ctx, s, snapshot, way)
		ways = []*view.Way{way}
	}
	verdicts := view.Verdicts(ways)
	isReady := len(verdicts) == 0 && (instance != "" || snapshot.Unsettled() == "")
	warnings := view.Warnings(ways)
	if out.IsText() {
		told := slices.Concat(verdicts, warnings)
		err = c.printExplanation(snapshot, ways, told, shown{instance: instance != "", steps: out.IsWide() || instance != ""})
	} else {
		err = out.Print(c.Data, "Explanation", explanation{Ready: isReady, Verdicts: verdicts, Warnings: warnings, Ways: ways})
	}
	if err != nil || isReady {
		return err
	}
	return command.ErrNotReady
}

// resolve finds the object that an argument names: a Workload, or an Instance and its Workload.
func resolve(ctx context.Context, s *command.Session, argument string) (workload, instance string, err error) {
	kind, name, prefixed := command.Typed(argument)
	isWorkload, isInstance := command.IsWorkload(kind), command.IsInstance(kind)
	switch {
	case name == "" || prefixed && !isWorkload && !isInstance:
		return "", "", fmt.Errorf("%q is neither wl/NAME nor inst/NAME", argument)
	case isWorkload:
		return name, "", nil
	}
	owner, err := ownerOf(ctx, s, name)
	if err != nil {
		return "", "", err
	}
	if isInstance {
		if owner == "" {
			return "", "", instanceNotFound(s.Namespace, name)
		}
		return owner, name, nil
	}
	// A Workload may have the same name as an Instance of another one.
	found, err := view.Read(ctx, s.Planes(), s.Key(name))
	if err != nil {
		return "", "", err
	}
	switch {
	case owner == "":
		return name, "", found.MustExist()
	case !found.Gone():
		return "", "", fmt.Errorf("there are a Workload and an Instance %s; say wl/%s or inst/%s", name, name, name)
	}
	return owner, name, nil
}

// ownerOf returns the Workload of an Instance, or "" if the user sees no such Instance.
func ownerOf(ctx context.Context, s *command.Session, instance string) (string, error) {
	if s.Project != nil {
		found := &v1alpha.Instance{}
		err := s.Project.Client.Get(ctx, s.Key(instance), found)
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			return "", nil
		}
		return found.Labels[v1alpha.LabelWorkloadName], err
	}
	copies := &v1alpha.WorkloadDeploymentList{}
	if err := s.Hub.Client.List(ctx, copies, s.Copies()); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	for i := range copies.Items {
		if index, ok := naming.InstanceIndex(copies.Items[i].Name, instance); !ok {
			continue
		} else if _, exists := wire.FactsOf(&copies.Items[i])[index]; exists {
			return copies.Items[i].Spec.WorkloadRef.Name, nil
		}
	}
	return "", nil
}

func instanceNotFound(namespace, name string) error {
	return fmt.Errorf("instances.compute.datumapis.com %q not found in namespace %q", name, namespace)
}

// addCell adds the steps in the cell of an Instance if the user reaches the cell.
func (c *commands) addCell(ctx context.Context, s *command.Session, snapshot *view.Snapshot, way *view.Way) {
	if s.Hub == nil {
		return
	}
	cell, namespace := snapshot.CellOf(way.Name)
	if cell == "" {
		return
	}
	if plane, err := command.PlaneOf(c.cellConfig(s.Hub.Config, cell)); err == nil {
		ctx, cancel := context.WithTimeout(ctx, cellTimeout)
		defer cancel()
		way.AddCell(ctx, plane.Client, cell, namespace)
	}
}

// cellTimeout bounds requests to a cell, which may be disconnected.
const cellTimeout = 5 * time.Second

// shown holds the subject of an explanation, and whether it lists the steps.
type shown struct{ instance, steps bool }

func (c *commands) printExplanation(s *view.Snapshot, ways []*view.Way, verdicts []view.Verdict, how shown) error {
	columns := 0
	if size := terminal.SizeOf(c.Raw.Out); size != nil {
		columns, _ = size()
	}
	var lines []string
	if how.steps {
		for _, way := range ways {
			lines = append(lines, way.Table(c.Clock.Now())...)
			lines = append(lines, "")
		}
	}
	lines = append(lines, summary(s, ways, how))
	for _, verdict := range verdicts {
		lines = append(lines, "")
		lines = append(lines, verdict.Lines(c.Clock.Now(), columns)...)
	}
	if _, err := fmt.Fprintln(c.Streams.Out, strings.Join(lines, "\n")); err != nil {
		return err
	}
	return c.TellHidden(s)
}

func summary(s *view.Snapshot, ways []*view.Way, how shown) string {
	if !how.instance {
		return s.Summary()
	}
	if ways[0].Stop == nil {
		return "Instance " + ways[0].Name + " is Ready."
	}
	return "Instance " + ways[0].Name + " is not Ready."
}
