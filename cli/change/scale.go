// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// scaling holds the flags of scale.
type scaling struct {
	city, placement string
	replicas        int32
	current         int32
}

func (c *commands) scaleCommand() *cobra.Command {
	o := scaling{}
	cmd := &cobra.Command{
		Use:   "scale WORKLOAD --replicas=COUNT [--city=CODE | --placement=NAME]",
		Short: "Set the number of Instances in a city, or in each city of a placement",
		Long: "Set minReplicas of a placement: how many Instances run in each of its cities, or, where it is scaled by " +
			"metrics, how many always run.\n\n" +
			"--city names a city that has a placement of its own. The cities of one placement have one scale.",
		Example: c.Examples(`
  # Three Instances in Dallas
  %s scale web --city DFW --replicas 3
  # Stop all that runs, and keep the Workload
  %s scale web --replicas 0
  # Only if it is two now
  %s scale web --placement texas --replicas 3 --current-replicas 2`),
		Args:              command.OneArg("the name of a Workload"),
		ValidArgsFunction: c.CompleteWorkloads(),
		RunE: c.Run(func(ctx context.Context, args []string) error {
			return c.change(ctx, args[0], "scaled", o.apply)
		}),
	}
	cmd.Flags().StringVar(&o.city, "city", "", "The city code, such as DFW.")
	cmd.Flags().StringVar(&o.placement, "placement", "", "The name of the placement.")
	cmd.Flags().Int32Var(&o.replicas, "replicas", 0, "Number of Instances. 0 stops the placement and keeps all of it.")
	cmd.Flags().Int32Var(&o.current, "current-replicas", -1,
		"Expected current number of Instances. If the number differs, nothing is changed. Negative: any number.")
	c.CompleteFlag(cmd, "city", command.Cities)
	_ = cmd.MarkFlagRequired("replicas")
	return c.compared(cmd)
}

// apply sets the scale of the selected placement.
func (o *scaling) apply(ctx context.Context, s *command.Session, workload *v1alpha.Workload) error {
	// MarkFlagsMutuallyExclusive would take over the flags of the program, --kubeconfig among them, before the command has
	// its own.
	if o.city != "" && o.placement != "" {
		return errors.New("--city and --placement exclude each other: use one of them")
	}
	if o.replicas < 0 {
		return errors.New("--replicas must be at least 0")
	}
	placement, err := o.find(ctx, s, workload)
	if err != nil {
		return err
	}
	scale := &placement.ScaleSettings
	if o.current >= 0 && scale.MinReplicas != o.current {
		return fmt.Errorf("placement %s asks for %d Instances, not %d: nothing is changed", placement.Name, scale.MinReplicas, o.current)
	}
	if scale.MaxReplicas != nil && o.replicas == 0 {
		return fmt.Errorf("placement %s is scaled by metrics, which cannot start the first Instance; remove its maxReplicas "+
			"and metrics to stop it", placement.Name)
	}
	if scale.MaxReplicas != nil && *scale.MaxReplicas < o.replicas {
		return fmt.Errorf("placement %s is scaled by metrics up to %d Instances; raise its maxReplicas first", placement.Name, *scale.MaxReplicas)
	}
	scale.MinReplicas = o.replicas
	return nil
}

// find returns the placement that the flags select.
func (o *scaling) find(ctx context.Context, s *command.Session, workload *v1alpha.Workload) (*v1alpha.WorkloadPlacement, error) {
	placements := workload.Spec.Placements
	var names []string
	for i := range placements {
		names = append(names, placements[i].Name)
	}
	if o.city == "" {
		wanted := o.placement
		if wanted == "" && len(placements) == 1 {
			wanted = placements[0].Name
		}
		index := slices.Index(names, wanted)
		if index < 0 {
			return nil, fmt.Errorf("name one of the placements with --placement, or a city with --city: %s", strings.Join(names, ", "))
		}
		return &placements[index], nil
	}
	cities, err := citiesOf(ctx, s, workload)
	if err != nil {
		return nil, err
	}
	var found *v1alpha.WorkloadPlacement
	for i := range placements {
		own := cities[placements[i].Name]
		if !slices.Contains(own, naming.CityLabel(o.city)) {
			continue
		}
		if len(own) > 1 {
			return nil, fmt.Errorf("placement %s has one scale for %s; give %s a placement of its own, or scale all of them with --placement %s",
				placements[i].Name, strings.ToUpper(strings.Join(own, ", ")), strings.ToUpper(o.city), placements[i].Name)
		}
		if found != nil {
			return nil, fmt.Errorf("placements %s and %s are both in %s: name one with --placement", found.Name,
				placements[i].Name, strings.ToUpper(o.city))
		}
		found = &placements[i]
	}
	if found == nil {
		return nil, fmt.Errorf("no placement of Workload %s is in %s", workload.Name, strings.ToUpper(o.city))
	}
	return found, nil
}

// citiesOf returns the cities of each placement, in lower case: the cities that the placement names, and the cities of
// its deployments. For a placement that selects locations, only the cities of its deployments are known.
func citiesOf(ctx context.Context, s *command.Session, workload *v1alpha.Workload) (map[string][]string, error) {
	cities := map[string][]string{}
	for _, placement := range workload.Spec.Placements {
		for _, city := range placement.CityCodes {
			cities[placement.Name] = append(cities[placement.Name], naming.CityLabel(city))
		}
	}
	deployments := &v1alpha.WorkloadDeploymentList{}
	if err := s.Project.Client.List(ctx, deployments, client.InNamespace(workload.Namespace)); err != nil {
		return nil, fmt.Errorf("find the placements of the city: %w", err)
	}
	for i := range deployments.Items {
		if spec := &deployments.Items[i].Spec; spec.WorkloadRef.UID == workload.UID {
			cities[spec.PlacementName] = append(cities[spec.PlacementName], naming.CityLabel(spec.CityCode))
		}
	}
	for name := range cities {
		slices.Sort(cities[name])
		cities[name] = slices.Compact(cities[name])
	}
	return cities, nil
}
