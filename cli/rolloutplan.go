// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// locationBindings is the kind in which a project of Milo has its locations.
var locationBindings = schema.GroupVersionKind{Group: "networking.datumapis.com", Version: "v1alpha", Kind: "LocationBinding"}

func (c *command) rolloutPlanCommand() *cobra.Command {
	var out *output
	cmd := &cobra.Command{
		Use:   "plan WORKLOAD",
		Short: "Show the next steps of the rollout, and why other cities wait",
		Long: "Show the steps that the hub would take next, and for each other city the reason why it takes none. The planner\n" +
			"of the hub plans from the objects that you may read; the end of the output lists what they do not show.",
		Example: c.examples(`
  # What does the rollout of Workload web wait for?
  %s rollout plan web
  # In a script
  %s rollout plan web -o jsonpath='{.cities[*].reason}'`),
		Args:              oneArg("the name of a Workload"),
		ValidArgsFunction: c.completeWorkloads,
	}
	out = newOutput(cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) error {
		if err := out.check(); err != nil {
			return err
		}
		plan, err := c.planRollout(ctx, args[0])
		if err != nil {
			return err
		}
		if out.isText() {
			return c.printPlan(plan)
		}
		return out.print(c.data, "RolloutPlan", plan)
	})
	return cmd
}

func (c *command) planRollout(ctx context.Context, name string) (*view.Rollout, error) {
	s, err := c.connectToProject()
	if err != nil {
		return nil, err
	}
	snapshot, err := view.Read(ctx, view.Planes{Project: s.project.Client, ProjectName: s.projectName}, s.key(name))
	if err != nil {
		return nil, err
	}
	if err := snapshot.MustExist(); err != nil {
		return nil, err
	}
	snapshot.Now = c.Clock.Now()
	locations, unread := readLocations(ctx, s.project.Client)
	return snapshot.Rollout(locations, unread)
}

func (c *command) printPlan(plan *view.Rollout) error {
	title := "workload.compute.datumapis.com/" + plan.Workload + ": " + plan.Phase
	if plan.Message != "" {
		title += ": " + plan.Message
	}
	lines := append([]string{title, ""}, terminal.Align(plan.Table())...)
	for i, unknown := range plan.Unknown {
		if i == 0 {
			lines = append(lines, "")
		}
		lines = append(lines, "unknown: "+unknown)
	}
	_, err := fmt.Fprintln(c.Streams.Out, strings.Join(lines, "\n"))
	return err
}

// locationBinding has the fields of a LocationBinding that decide about the cities of a project.
type locationBinding struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		LocationRef struct {
			Name string `json:"name"`
		} `json:"locationRef"`
		Topology map[string]string `json:"topology"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// readLocations returns the locations of a project, or why they are unknown.
func readLocations(ctx context.Context, project client.Reader) ([]cities.Location, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(locationBindings.GroupVersion().WithKind(locationBindings.Kind + "List"))
	if err := project.List(ctx, list); err != nil {
		return nil, err
	}
	var locations []cities.Location
	for i := range list.Items {
		binding := &locationBinding{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, binding); err != nil {
			return nil, fmt.Errorf("read LocationBinding %s: %w", list.Items[i].GetName(), err)
		}
		available := meta.IsStatusConditionTrue(binding.Status.Conditions, v1alpha.ConditionAvailable)
		locations = append(locations, cities.Location{
			Name: cmp.Or(binding.Spec.LocationRef.Name, binding.Metadata.Name), Topology: binding.Spec.Topology,
			City:      strings.ToUpper(binding.Spec.Topology[v1alpha.LabelTopologyCity]),
			Available: available && binding.Metadata.DeletionTimestamp.IsZero(),
		})
	}
	if len(locations) == 0 {
		return nil, view.ErrLocationsUnread
	}
	return locations, nil
}
