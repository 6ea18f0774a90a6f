// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/steps/attempts"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addWorkloadSteps are the sentences of a consumer. A table has a row per placement.
func addWorkloadSteps(sc world.Sentences) {
	const inProject, naming = `(?:in project "([^"]*)" )?`, `(?: which names "([^"]*)")?`
	sc.Step(`^`+inProject+`the consumer (creates|tries to create|changes) Workload "([^"]*)"`+naming+` (?:with|to)$`,
		func(ctx context.Context, project, verb, name, data string, placements *godog.Table) error {
			s := In(from(ctx).In(project))
			switch verb {
			case "creates":
				return s.createWorkload(ctx, name, data, placements)
			case "changes":
				return s.changePlacements(ctx, name, placements)
			}
			attempts.In(from(ctx).Scenario).Try(ctx, func(ctx context.Context) error { return s.createWorkload(ctx, name, data, placements) })
			return nil
		})
	sc.Step(`^`+inProject+`Workload "([^"]*)"`+naming+` runs with$`,
		func(ctx context.Context, project, name, data string, placements *godog.Table) error {
			return In(from(ctx).In(project)).runWorkload(ctx, name, data, placements)
		})
	sc.Step(`^`+inProject+`Workload "([^"]*)" becomes available with (\d+) ready Instances$`,
		func(ctx context.Context, project, name string, ready int) error {
			return In(from(ctx).In(project)).isAvailable(ctx, name, ready)
		})
	sc.Step(`^Workload "([^"]*)" is scaled to (\d+) and settles$`, func(ctx context.Context, name string, replicas int) error {
		return from(ctx).scale(ctx, name, replicas)
	})
	sc.Step(`^Workload "([^"]*)" is scaled to (\d+) within (\d+) seconds$`,
		func(ctx context.Context, name string, replicas, seconds int) error {
			s, begin := from(ctx), time.Now()
			ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
			defer cancel()
			// The first attempts may be refused.
			err := world.Eventually(ctx, func(ctx context.Context) error { return s.scale(ctx, name, replicas) })
			fmt.Fprintf(s.Out, "Workload %s was scaled in %s\n", name, time.Since(begin).Round(time.Millisecond))
			return err
		})
	sc.Step(`^the consumer lets Workload "([^"]*)" name "([^"]*)"$`, func(ctx context.Context, name, data string) error {
		return from(ctx).changeWorkload(ctx, name, func(workload *v1alpha.Workload) { LetName(&workload.Spec.Template.Spec, data) })
	})
	sc.Step(`^placement "([^"]*)" of Workload "([^"]*)" reports "([^"]*)"$`, func(ctx context.Context, placement, name, message string) error {
		return from(ctx).placementSays(ctx, name, placement, message)
	})
}

// scale scales a Workload's placement and waits until it has settled.
func (s Steps) scale(ctx context.Context, name string, replicas int) error {
	if err := s.changeWorkload(ctx, name, func(workload *v1alpha.Workload) {
		workload.Spec.Placements[0].ScaleSettings.MinReplicas = int32(replicas) //nolint:gosec // a number in a scenario.
	}); err != nil {
		return err
	}
	return s.isAvailable(ctx, name, replicas)
}

func placementsFrom(table *godog.Table) ([]v1alpha.WorkloadPlacement, error) {
	var placements []v1alpha.WorkloadPlacement
	for _, row := range world.Rows(table) {
		replicas, err := strconv.ParseInt(row["replicas"], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("replicas of placement %s: %w", row["placement"], err)
		}
		placement := v1alpha.WorkloadPlacement{
			Name: row["placement"],
			ScaleSettings: v1alpha.HorizontalScaleSettings{
				MinReplicas: int32(replicas), InstanceManagementPolicy: v1alpha.InstanceManagementPolicy(row["policy"]),
			},
		}
		for city := range strings.SplitSeq(row["cities"], ",") {
			placement.CityCodes = append(placement.CityCodes, strings.TrimSpace(city))
		}
		placements = append(placements, placement)
	}
	return placements, nil
}

// WorkloadWith is a Workload of the scenario with the sample template.
func (s Steps) WorkloadWith(name string, placements []v1alpha.WorkloadPlacement) *v1alpha.Workload {
	return &v1alpha.Workload{
		ObjectMeta: s.Meta(name),
		// Scenarios about minReadySeconds set it; the others need not wait for it.
		Spec: v1alpha.WorkloadSpec{Template: SampleTemplate(), Placements: placements, MinReadySeconds: new(int32(0))},
	}
}

// createWorkload creates a Workload that names data, or none. The webhook hears of a right to data a moment later than
// the API server that gave it.
func (s Steps) createWorkload(ctx context.Context, name, data string, table *godog.Table) error {
	placements, err := placementsFrom(table)
	if err != nil {
		return err
	}
	c := s.Client(s.Plane(""), world.Consumer)
	workload := s.WorkloadWith(name, placements)
	LetName(&workload.Spec.Template.Spec, data)
	if data == "" {
		return c.Create(ctx, workload)
	}
	return world.Eventually(ctx, func(ctx context.Context) error {
		err := c.Create(ctx, workload)
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// runWorkload creates a Workload, waits until it is available and remembers its Instances.
func (s Steps) runWorkload(ctx context.Context, name, data string, table *godog.Table) error {
	if err := s.createWorkload(ctx, name, data, table); err != nil {
		return err
	}
	placements, err := placementsFrom(table)
	if err != nil {
		return err
	}
	wanted := 0
	for i := range placements {
		wanted += len(placements[i].CityCodes) * int(placements[i].ScaleSettings.MinReplicas)
	}
	if err := s.isAvailable(ctx, name, wanted); err != nil {
		return err
	}
	return s.rememberInstances(ctx, s.Cells())
}

func (s Steps) changeWorkload(ctx context.Context, name string, change func(*v1alpha.Workload)) error {
	c := s.Client(s.Plane(""), world.Consumer)
	return world.UpdateWhenFree(ctx, c, &v1alpha.Workload{ObjectMeta: s.Meta(name)}, change)
}

func (s Steps) changePlacements(ctx context.Context, name string, table *godog.Table) error {
	placements, err := placementsFrom(table)
	if err != nil {
		return err
	}
	return s.changeWorkload(ctx, name, func(workload *v1alpha.Workload) { workload.Spec.Placements = placements })
}

func (s Steps) eventuallyWorkload(
	ctx context.Context, name string, limit time.Duration, check func(*v1alpha.Workload) error,
) error {
	c := s.Client(s.Plane(""), world.Consumer)
	return world.Within(ctx, limit, func(ctx context.Context) error {
		workload := &v1alpha.Workload{}
		if err := c.Get(ctx, s.Key(name), workload); err != nil {
			return err
		}
		return check(workload)
	})
}

// rolloutPatience is the timeout of a rollout. Instances are replaced a few at a time, and a scenario may have each drain for
// half a minute.
func rolloutPatience(instances int) time.Duration {
	return world.Patience + time.Duration(min(instances, 10))*30*time.Second
}

// isAvailable waits until a Workload is available and settled, with these counts and as many ready Instances.
func (s Steps) isAvailable(ctx context.Context, name string, ready int) error {
	wanted := v1alpha.ReplicaCounts{
		//nolint:gosec // a number in a scenario.
		Replicas: int32(ready), CurrentReplicas: int32(ready), DesiredReplicas: int32(ready), ReadyReplicas: int32(ready),
	}
	if err := s.eventuallyWorkload(ctx, name, rolloutPatience(ready), func(workload *v1alpha.Workload) error {
		status := &workload.Status
		// Agents of an earlier version do not count available Instances, nor those with the newest template.
		counts := status.ReplicaCounts
		counts.AvailableReplicas, counts.UpdatedReplicas, counts.UpdatedAvailableReplicas = 0, 0, 0
		if counts != wanted || status.ObservedGeneration != workload.Generation ||
			!meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionAvailable) ||
			!meta.IsStatusConditionFalse(status.Conditions, v1alpha.ConditionProgressing) {
			return fmt.Errorf("Workload %s has %+v and is %s, of generation %d of %d",
				name, status.ReplicaCounts, world.Describe(status.Conditions), status.ObservedGeneration, workload.Generation)
		}
		return nil
	}); err != nil {
		return err
	}
	return world.Eventually(ctx, func(ctx context.Context) error {
		instances, err := s.List(ctx, s.Plane(""), "instances")
		if err != nil {
			return err
		}
		count, all := 0, 0
		for i := range instances {
			if instances[i].GetLabels()[v1alpha.LabelWorkloadName] != name {
				continue
			}
			all++
			if meta.IsStatusConditionTrue(world.ConditionsOf(&instances[i]), v1alpha.ConditionReady) {
				count++
			}
		}
		if count != ready || all != ready {
			return fmt.Errorf("%d of %d Instances in the project are Ready, not %d", count, all, ready)
		}
		return nil
	})
}

func (s Steps) placementSays(ctx context.Context, workload, placement, message string) error {
	return s.eventuallyWorkload(ctx, workload, world.Patience, func(found *v1alpha.Workload) error {
		said := "nothing"
		for i := range found.Status.Placements {
			if found.Status.Placements[i].Name != placement {
				continue
			}
			said = world.Describe(found.Status.Placements[i].Conditions)
			condition := meta.FindStatusCondition(found.Status.Placements[i].Conditions, v1alpha.ConditionAvailable)
			if condition != nil && strings.Contains(condition.Message, message) {
				return nil
			}
		}
		return fmt.Errorf("it says %s", said)
	})
}
