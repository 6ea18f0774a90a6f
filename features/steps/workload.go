// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cucumber/godog"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// sampleImage is what Workloads run until a scenario changes it.
const sampleImage = "docker.io/library/nginx:1.27"

func addWorkloadSteps(sc *godog.ScenarioContext) {
	inProject := func(sentence string, do func(*scenario, context.Context, string, *godog.Table) error) {
		sc.Step(`^the consumer `+sentence+` Workload "([^"]*)" (?:with|to)$`, func(ctx context.Context, name string, placements *godog.Table) error {
			return do(from(ctx), ctx, name, placements)
		})
		sc.Step(`^the consumer `+sentence+` in project "([^"]*)" Workload "([^"]*)" (?:with|to)$`,
			func(ctx context.Context, project, name string, placements *godog.Table) error {
				return do(from(ctx).in(project), ctx, name, placements)
			})
	}
	inProject("creates", (*scenario).createWorkload)
	inProject("changes", (*scenario).changePlacements)
	sc.Step(`^Workload "([^"]*)" runs with$`, func(ctx context.Context, name string, placements *godog.Table) error {
		return from(ctx).runWorkload(ctx, name, placements)
	})
	sc.Step(`^in project "([^"]*)" Workload "([^"]*)" runs with$`, func(ctx context.Context, project, name string, placements *godog.Table) error {
		return from(ctx).in(project).runWorkload(ctx, name, placements)
	})
	sc.Step(`^Workload "([^"]*)" becomes available with (\d+) ready Instances$`, func(ctx context.Context, name string, ready int) error {
		return from(ctx).isAvailable(ctx, name, ready)
	})
	sc.Step(`^in project "([^"]*)" Workload "([^"]*)" becomes available with (\d+) ready Instances$`,
		func(ctx context.Context, project, name string, ready int) error {
			return from(ctx).in(project).isAvailable(ctx, name, ready)
		})
	sc.Step(`^the consumer deletes Workload "([^"]*)"$`, func(ctx context.Context, name string) error {
		return from(ctx).deleteWorkload(ctx, name)
	})
	sc.Step(`^the consumer deletes in project "([^"]*)" Workload "([^"]*)"$`, func(ctx context.Context, project, name string) error {
		return from(ctx).in(project).deleteWorkload(ctx, name)
	})
	sc.Step(`^the consumer changes the image of Workload "([^"]*)" to "([^"]*)"$`, func(ctx context.Context, name, image string) error {
		return from(ctx).changeWorkload(ctx, name, func(workload *v1alpha.Workload) {
			workload.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = image
		})
	})
	sc.Step(`^Workload "([^"]*)" is scaled to (\d+) and settles$`, func(ctx context.Context, name string, replicas int) error {
		s := from(ctx)
		if err := s.changeWorkload(ctx, name, func(workload *v1alpha.Workload) {
			workload.Spec.Placements[0].ScaleSettings.MinReplicas = int32(replicas) //nolint:gosec // a number in a scenario.
		}); err != nil {
			return err
		}
		return s.isAvailable(ctx, name, replicas)
	})
	sc.Step(`^the project has exactly the deployments$`, func(ctx context.Context, rows *godog.Table) error {
		return from(ctx).hasDeployments(ctx, rows)
	})
	sc.Step(`^deployment "([^"]*)" is deleted by hand$`, func(ctx context.Context, name string) error {
		s := from(ctx)
		c, err := s.client("project/"+s.project, admin)
		if err != nil {
			return err
		}
		return c.Delete(ctx, &v1alpha.WorkloadDeployment{ObjectMeta: s.meta(name)})
	})
	sc.Step(`^placement "([^"]*)" of Workload "([^"]*)" says "([^"]*)"$`, func(ctx context.Context, placement, name, message string) error {
		return from(ctx).placementSays(ctx, name, placement, message)
	})
	sc.Step(`^deployment "([^"]*)" is not available because of "([^"]*)"$`, func(ctx context.Context, name, reason string) error {
		s := from(ctx)
		return s.eventuallyDeployment(ctx, name, func(deployment *v1alpha.WorkloadDeployment) error {
			condition := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionAvailable)
			if condition == nil || condition.Status != metav1.ConditionFalse || condition.Reason != reason {
				return fmt.Errorf("condition Available is %+v", condition)
			}
			return nil
		})
	})
	sc.Step(`^the conditions of Workload "([^"]*)" are of its newest generation$`, func(ctx context.Context, name string) error {
		return from(ctx).conditionsAreNew(ctx, name)
	})
	sc.Step(`^every deployment name in the project is at most 63 characters long$`, func(ctx context.Context) error {
		return from(ctx).deploymentNamesAreShort(ctx)
	})
	sc.Step(`^the project has nothing of the namespace$`, func(ctx context.Context) error {
		return from(ctx).nothingInProject(ctx)
	})
	sc.Step(`^in project "([^"]*)" nothing is left$`, func(ctx context.Context, project string) error {
		return from(ctx).in(project).nothingInProject(ctx)
	})
}

// in is the scenario with another project.
func (s *scenario) in(project string) *scenario {
	other := *s
	other.project = project
	return &other
}

func (s *scenario) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

func (s *scenario) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.namespace, Name: name}
}

// rows reads a table with a header into a map per row.
func rows(table *godog.Table) []map[string]string {
	var result []map[string]string
	for _, row := range table.Rows[1:] {
		cells := map[string]string{}
		for i, cell := range row.Cells {
			cells[table.Rows[0].Cells[i].Value] = cell.Value
		}
		result = append(result, cells)
	}
	return result
}

func placementsFrom(table *godog.Table) ([]v1alpha.WorkloadPlacement, error) {
	var placements []v1alpha.WorkloadPlacement
	for _, row := range rows(table) {
		replicas, err := strconv.ParseInt(row["replicas"], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("replicas of placement %s: %w", row["placement"], err)
		}
		placement := v1alpha.WorkloadPlacement{
			Name:          row["placement"],
			ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: int32(replicas)},
		}
		for city := range strings.SplitSeq(row["cities"], ",") {
			placement.CityCodes = append(placement.CityCodes, strings.TrimSpace(city))
		}
		placements = append(placements, placement)
	}
	return placements, nil
}

func (s *scenario) workload(name string, table *godog.Table) (*v1alpha.Workload, error) {
	placements, err := placementsFrom(table)
	if err != nil {
		return nil, err
	}
	return s.workloadWith(name, placements), nil
}

func (s *scenario) workloadWith(name string, placements []v1alpha.WorkloadPlacement) *v1alpha.Workload {
	return &v1alpha.Workload{
		ObjectMeta: s.meta(name),
		Spec: v1alpha.WorkloadSpec{
			Template:   sampleTemplate(),
			Placements: placements,
		},
	}
}

func sampleTemplate() v1alpha.InstanceTemplateSpec {
	return v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
		Runtime: v1alpha.InstanceRuntimeSpec{
			Resources: v1alpha.InstanceRuntimeResources{InstanceType: "datumcloud/d1-standard-2"},
			Sandbox:   &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: sampleImage}}},
		},
		NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
	}}
}

func (s *scenario) createWorkload(ctx context.Context, name string, table *godog.Table) error {
	workload, err := s.workload(name, table)
	if err != nil {
		return err
	}
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	return c.Create(ctx, workload)
}

func (s *scenario) runWorkload(ctx context.Context, name string, table *godog.Table) error {
	if err := s.createWorkload(ctx, name, table); err != nil {
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
	return s.rememberInstances(ctx)
}

func (s *scenario) changeWorkload(ctx context.Context, name string, change func(*v1alpha.Workload)) error {
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		workload := &v1alpha.Workload{}
		if err := c.Get(ctx, s.key(name), workload); err != nil {
			return err
		}
		change(workload)
		return c.Update(ctx, workload)
	})
}

func (s *scenario) changePlacements(ctx context.Context, name string, table *godog.Table) error {
	placements, err := placementsFrom(table)
	if err != nil {
		return err
	}
	return s.changeWorkload(ctx, name, func(workload *v1alpha.Workload) { workload.Spec.Placements = placements })
}

func (s *scenario) deleteWorkload(ctx context.Context, name string) error {
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	return c.Delete(ctx, &v1alpha.Workload{ObjectMeta: s.meta(name)})
}

func (s *scenario) eventuallyWorkload(ctx context.Context, name string, check func(*v1alpha.Workload) error) error {
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		workload := &v1alpha.Workload{}
		if err := c.Get(ctx, s.key(name), workload); err != nil {
			return err
		}
		return check(workload)
	})
}

func (s *scenario) eventuallyDeployment(ctx context.Context, name string, check func(*v1alpha.WorkloadDeployment) error) error {
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		deployment := &v1alpha.WorkloadDeployment{}
		if err := c.Get(ctx, s.key(name), deployment); err != nil {
			return err
		}
		return check(deployment)
	})
}

// isAvailable waits until a Workload is available and settled, with these counts and as many ready Instances.
func (s *scenario) isAvailable(ctx context.Context, name string, ready int) error {
	wanted := v1alpha.ReplicaCounts{
		Replicas: int32(ready), CurrentReplicas: int32(ready), DesiredReplicas: int32(ready), ReadyReplicas: int32(ready), //nolint:gosec // a number in a scenario.
	}
	if err := s.eventuallyWorkload(ctx, name, func(workload *v1alpha.Workload) error {
		conditions := workload.Status.Conditions
		if workload.Status.ReplicaCounts != wanted || workload.Status.ObservedGeneration != workload.Generation ||
			!meta.IsStatusConditionTrue(conditions, v1alpha.ConditionAvailable) || !meta.IsStatusConditionFalse(conditions, v1alpha.ConditionProgressing) {
			return fmt.Errorf("status of Workload %s is %+v", name, workload.Status)
		}
		return nil
	}); err != nil {
		return err
	}
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		var instances v1alpha.InstanceList
		if err := c.List(ctx, &instances, client.InNamespace(s.namespace), client.MatchingLabels{v1alpha.LabelWorkloadName: name}); err != nil {
			return err
		}
		count := 0
		for i := range instances.Items {
			if meta.IsStatusConditionTrue(instances.Items[i].Status.Conditions, v1alpha.ConditionReady) {
				count++
			}
		}
		if count != ready || len(instances.Items) != ready {
			return fmt.Errorf("%d of %d Instances in the project are Ready, not %d", count, len(instances.Items), ready)
		}
		return nil
	})
}

func (s *scenario) hasDeployments(ctx context.Context, table *godog.Table) error {
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	var wanted []string
	for _, row := range rows(table) {
		wanted = append(wanted, strings.Join([]string{row["name"], row["city"], row["replicas"]}, " "))
	}
	slices.Sort(wanted)
	return eventually(ctx, func(ctx context.Context) error {
		var deployments v1alpha.WorkloadDeploymentList
		if err := c.List(ctx, &deployments, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		var found []string
		for i := range deployments.Items {
			spec := &deployments.Items[i].Spec
			found = append(found, fmt.Sprintf("%s %s %d", deployments.Items[i].Name, spec.CityCode, spec.ScaleSettings.MinReplicas))
		}
		slices.Sort(found)
		if !slices.Equal(found, wanted) {
			return fmt.Errorf("the deployments are %q, not %q", found, wanted)
		}
		return nil
	})
}

func (s *scenario) placementSays(ctx context.Context, workload, placement, message string) error {
	return s.eventuallyWorkload(ctx, workload, func(found *v1alpha.Workload) error {
		for i := range found.Status.Placements {
			condition := meta.FindStatusCondition(found.Status.Placements[i].Conditions, v1alpha.ConditionAvailable)
			if found.Status.Placements[i].Name == placement && condition != nil && strings.Contains(condition.Message, message) {
				return nil
			}
		}
		return fmt.Errorf("placements are %+v", found.Status.Placements)
	})
}

func (s *scenario) conditionsAreNew(ctx context.Context, name string) error {
	return s.eventuallyWorkload(ctx, name, func(workload *v1alpha.Workload) error {
		var old []error
		for _, condition := range workload.Status.Conditions {
			if condition.ObservedGeneration != workload.Generation {
				old = append(old, fmt.Errorf("condition %s is of generation %d, not %d", condition.Type, condition.ObservedGeneration, workload.Generation))
			}
		}
		if len(workload.Status.Conditions) == 0 {
			return errors.New("no conditions")
		}
		return errors.Join(old...)
	})
}

func (s *scenario) deploymentNamesAreShort(ctx context.Context) error {
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	var deployments v1alpha.WorkloadDeploymentList
	if err := c.List(ctx, &deployments, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	if len(deployments.Items) == 0 {
		return errors.New("there is no deployment")
	}
	for i := range deployments.Items {
		if name := deployments.Items[i].Name; len(name) > 63 {
			return fmt.Errorf("%s has %d characters", name, len(name))
		}
	}
	return nil
}

func (s *scenario) nothingInProject(ctx context.Context) error {
	c, err := s.client("project/"+s.project, admin)
	if err != nil {
		return err
	}
	for _, list := range []client.ObjectList{&v1alpha.WorkloadList{}, &v1alpha.WorkloadDeploymentList{}, &v1alpha.InstanceList{}} {
		if err := eventually(ctx, func(ctx context.Context) error { return empty(ctx, c, list, s.namespace) }); err != nil {
			return err
		}
	}
	return nil
}
