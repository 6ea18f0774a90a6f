// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cucumber/godog"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func addCellSteps(sc *godog.ScenarioContext) {
	sc.Step(`^cell "([^"]*)" has exactly the deployments "([^"]*)"$`, func(ctx context.Context, cell, names string) error {
		s := from(ctx)
		c, err := s.client("cell/"+cell, admin)
		if err != nil {
			return err
		}
		return exactly(ctx, c, &v1alpha.WorkloadDeploymentList{}, names, client.InNamespace(s.hubNamespaces[s.project]))
	})
	sc.Step(`^cell "([^"]*)" has not even the namespace$`, func(ctx context.Context, cell string) error {
		return from(ctx).noNamespaceIn(ctx, cell)
	})
	sc.Step(`^cell "([^"]*)" runs exactly the Pods "([^"]*)"$`, func(ctx context.Context, cell, names string) error {
		return from(ctx).runsPods(ctx, cell, names)
	})
	sc.Step(`^in cell "([^"]*)" each Instance was made after the one before was Ready$`, func(ctx context.Context, cell string) error {
		return from(ctx).madeInOrder(ctx, cell, false)
	})
	sc.Step(`^in cell "([^"]*)" the Instances were replaced from the highest index down, each when the one above was Ready$`,
		func(ctx context.Context, cell string) error { return from(ctx).madeInOrder(ctx, cell, true) })
	sc.Step(`^no Instance in cell "([^"]*)" has a scheduling gate$`, func(ctx context.Context, cell string) error {
		return from(ctx).noGates(ctx, cell)
	})
	sc.Step(`^Instance "([^"]*)" in cell "([^"]*)" was (not )?replaced$`, func(ctx context.Context, name, cell, not string) error {
		return from(ctx).wasReplaced(ctx, cell, name, not == "")
	})
	sc.Step(`^all (\d+) Pods of "([^"]*)" in cell "([^"]*)" run "([^"]*)"$`, func(ctx context.Context, count int, deployment, cell, image string) error {
		return from(ctx).allRun(ctx, cell, deployment, image, count)
	})
	sc.Step(`^Instance "([^"]*)" in cell "([^"]*)" becomes another one$`, func(ctx context.Context, name, cell string) error {
		s := from(ctx)
		return eventually(ctx, func(ctx context.Context) error { return s.wasReplaced(ctx, cell, name, true) })
	})
	sc.Step(`^the namespace in cell "([^"]*)" is deleted by hand$`, func(ctx context.Context, cell string) error {
		s := from(ctx)
		c, err := s.client("cell/"+cell, admin)
		if err != nil {
			return err
		}
		return c.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.hubNamespaces[s.project]}})
	})
	sc.Step(`^the Pod "([^"]*)" in cell "([^"]*)" is deleted by hand$`, func(ctx context.Context, name, cell string) error {
		return from(ctx).deletePod(ctx, cell, name)
	})
	sc.Step(`^the Pod "([^"]*)" in cell "([^"]*)" is a new one and runs$`, func(ctx context.Context, name, cell string) error {
		return from(ctx).podIsNew(ctx, cell, name)
	})
	sc.Step(`^a deployment "([^"]*)" with a quota that grants nothing is put into cell "([^"]*)"$`, func(ctx context.Context, name, cell string) error {
		return from(ctx).putDeployment(ctx, cell, name)
	})
	sc.Step(`^Instance "([^"]*)" in cell "([^"]*)" is not Ready because of "([^"]*)"$`, func(ctx context.Context, name, cell, reason string) error {
		return from(ctx).notReadyBecause(ctx, cell, name, reason)
	})
	sc.Step(`^the quota of deployment "([^"]*)" in cell "([^"]*)" grants "([^"]*)"$`, func(ctx context.Context, name, cell, instance string) error {
		return from(ctx).editCellDeployment(ctx, cell, name, func(deployment *v1alpha.WorkloadDeployment) {
			deployment.Spec.Quota.GrantedInstances = append(deployment.Spec.Quota.GrantedInstances, instance)
		})
	})
	sc.Step(`^cell "([^"]*)" reports Instance "([^"]*)" for deployment "([^"]*)"$`, func(ctx context.Context, cell, instance, deployment string) error {
		return from(ctx).reportInstance(ctx, cell, deployment, instance)
	})
	sc.Step(`^cell "([^"]*)" reports a deployment "([^"]*)" of its own in the same namespace$`, func(ctx context.Context, cell, name string) error {
		return from(ctx).reportStray(ctx, cell, name)
	})
	sc.Step(`^cell "([^"]*)" goes down$`, func(ctx context.Context, cell string) error { return from(ctx).federation.StopCell(ctx, cell) })
	sc.Step(`^cell "([^"]*)" comes back$`, func(ctx context.Context, cell string) error {
		s := from(ctx)
		if err := s.federation.StartCell(ctx, cell); err != nil {
			return err
		}
		// The agent ends when it cannot renew its lease; a kubelet starts it again.
		if err := s.addOn.StopAgent(cell); err != nil {
			return err
		}
		return s.addOn.StartAgent(ctx, cell)
	})
}

func (s *scenario) cellKey(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.hubNamespaces[s.project], Name: name}
}

func (s *scenario) instances(ctx context.Context, cell string) ([]v1alpha.Instance, error) {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return nil, err
	}
	var list v1alpha.InstanceList
	if err := c.List(ctx, &list, client.InNamespace(s.hubNamespaces[s.project])); err != nil {
		return nil, err
	}
	return list.Items, nil
}

func (s *scenario) pods(ctx context.Context, cell string) ([]corev1.Pod, error) {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return nil, err
	}
	var list corev1.PodList
	if err := c.List(ctx, &list, client.InNamespace(s.hubNamespaces[s.project])); err != nil {
		return nil, err
	}
	return list.Items, nil
}

// rememberInstances notes which Instances run, to say later whether they were replaced.
func (s *scenario) rememberInstances(ctx context.Context) error {
	return s.rememberInstancesIn(ctx, s.cells())
}

func (s *scenario) rememberInstancesIn(ctx context.Context, cells []string) error {
	for _, cell := range cells {
		instances, err := s.instances(ctx, cell)
		if err != nil {
			return err
		}
		for i := range instances {
			if _, seen := s.seen[s.seenKey(cell, instances[i].Name)]; !seen {
				s.seen[s.seenKey(cell, instances[i].Name)] = instances[i].UID
			}
		}
	}
	return nil
}

func (s *scenario) seenKey(cell, name string) string { return s.project + "/" + cell + "/" + name }

func (s *scenario) wasReplaced(ctx context.Context, cell, name string, wanted bool) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	instance := &v1alpha.Instance{}
	if err := eventually(ctx, func(ctx context.Context) error { return c.Get(ctx, s.cellKey(name), instance) }); err != nil {
		return err
	}
	before, seen := s.seen[s.seenKey(cell, name)]
	if !seen {
		return fmt.Errorf("no Instance %s was seen to run", name)
	}
	if replaced := instance.UID != before; replaced != wanted {
		return fmt.Errorf("replaced is %[2]t for Instance %[1]s", name, replaced)
	}
	return nil
}

func (s *scenario) noNamespaceIn(ctx context.Context, cell string) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		name := types.NamespacedName{Name: s.hubNamespaces[s.project]}
		return notFound(c.Get(ctx, name, &corev1.Namespace{}), "namespace "+name.Name)
	})
}

func (s *scenario) runsPods(ctx context.Context, cell, names string) error {
	wanted := splitNames(names)
	return eventually(ctx, func(ctx context.Context) error {
		pods, err := s.pods(ctx, cell)
		if err != nil {
			return err
		}
		running := []string{}
		for i := range pods {
			if pods[i].Status.Phase != corev1.PodRunning {
				return fmt.Errorf("phase of Pod %s is %s", pods[i].Name, pods[i].Status.Phase)
			}
			running = append(running, pods[i].Name)
		}
		slices.Sort(running)
		if !slices.Equal(running, wanted) {
			return fmt.Errorf("the Pods are %v, not %v", running, wanted)
		}
		return nil
	})
}

// madeInOrder compares when each Instance was made with when its predecessor became Ready; both are to the second.
func (s *scenario) madeInOrder(ctx context.Context, cell string, downwards bool) error {
	instances, err := s.instances(ctx, cell)
	if err != nil {
		return err
	}
	if len(instances) < 2 {
		return fmt.Errorf("%d Instances have no order", len(instances))
	}
	ordered := byIndex(instances[0].Labels[v1alpha.LabelDeploymentName], instances)
	if downwards {
		slices.Reverse(ordered)
	}
	var problems []error
	for i := 1; i < len(ordered); i++ {
		ready, err := becameReady(&ordered[i-1])
		if err != nil {
			return err
		}
		if ordered[i].CreationTimestamp.Before(&ready) {
			problems = append(problems, fmt.Errorf("%s was made at %s, before %s was Ready at %s",
				ordered[i].Name, ordered[i].CreationTimestamp, ordered[i-1].Name, ready))
		}
	}
	return errors.Join(problems...)
}

func (s *scenario) noGates(ctx context.Context, cell string) error {
	instances, err := s.instances(ctx, cell)
	if err != nil {
		return err
	}
	for i := range instances {
		if controller := instances[i].Spec.Controller; controller != nil && len(controller.SchedulingGates) > 0 {
			return fmt.Errorf("gates of Instance %s: %v", instances[i].Name, controller.SchedulingGates)
		}
	}
	return nil
}

func (s *scenario) allRun(ctx context.Context, cell, deployment, image string, count int) error {
	return eventually(ctx, func(ctx context.Context) error {
		pods, err := s.pods(ctx, cell)
		if err != nil {
			return err
		}
		running := 0
		for i := range pods {
			if _, ours := v1alpha.InstanceIndex(deployment, pods[i].Name); ours &&
				pods[i].Spec.Containers[0].Image == image && pods[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if running != count || len(pods) != count {
			return fmt.Errorf("%d of %d Pods run %s", running, len(pods), image)
		}
		return nil
	})
}

func (s *scenario) deletePod(ctx context.Context, cell, name string) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	pod := &corev1.Pod{}
	if err := c.Get(ctx, s.cellKey(name), pod); err != nil {
		return err
	}
	s.seen["pod/"+name] = pod.UID
	return c.Delete(ctx, pod)
}

func (s *scenario) podIsNew(ctx context.Context, cell, name string) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		pod := &corev1.Pod{}
		if err := c.Get(ctx, s.cellKey(name), pod); err != nil {
			return err
		}
		if pod.UID == s.seen["pod/"+name] || pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("phase of Pod %s with UID %s is %s", name, pod.UID, pod.Status.Phase)
		}
		return nil
	})
}

// putDeployment puts a deployment straight into a cell, in a namespace made for it.
func (s *scenario) putDeployment(ctx context.Context, cell, name string) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.hubNamespaces[s.project]}}
	if err := c.Create(ctx, namespace); err != nil {
		return err
	}
	s.strays = append(s.strays, stray{cell, namespace})
	return c.Create(ctx, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: name},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef:   v1alpha.WorkloadReference{Name: name, UID: "none"},
			PlacementName: "main", CityCode: "DFW", Template: sampleTemplate(),
			ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
			Quota:         &v1alpha.WorkloadDeploymentQuota{},
		},
	})
}

func (s *scenario) notReadyBecause(ctx context.Context, cell, name, reason string) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		instance := &v1alpha.Instance{}
		if err := c.Get(ctx, s.cellKey(name), instance); err != nil {
			return err
		}
		condition := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionReady)
		if condition == nil || condition.Status != metav1.ConditionFalse || condition.Reason != reason {
			return fmt.Errorf("condition Ready is %+v", condition)
		}
		return nil
	})
}

func (s *scenario) editCellDeployment(ctx context.Context, cell, name string, edit func(*v1alpha.WorkloadDeployment)) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		deployment := &v1alpha.WorkloadDeployment{}
		if err := c.Get(ctx, s.cellKey(name), deployment); err != nil {
			return err
		}
		edit(deployment)
		return c.Update(ctx, deployment)
	})
}

// reportInstance makes a cell report an Instance that does not belong to the deployment.
func (s *scenario) reportInstance(ctx context.Context, cell, name, instance string) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		deployment := &v1alpha.WorkloadDeployment{}
		if err := c.Get(ctx, s.cellKey(name), deployment); err != nil {
			return err
		}
		deployment.Status.Instances = append(deployment.Status.Instances, v1alpha.ReportedInstance{Name: instance})
		return c.Status().Update(ctx, deployment)
	})
}

// reportStray makes a cell that was sent nothing report a deployment of the same name and namespace.
func (s *scenario) reportStray(ctx context.Context, cell, name string) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	if err := s.putDeployment(ctx, cell, name); err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		deployment := &v1alpha.WorkloadDeployment{}
		if err := c.Get(ctx, s.cellKey(name), deployment); err != nil {
			return err
		}
		if len(deployment.Status.Instances) == 0 {
			return errors.New("the cell reports no Instance yet")
		}
		return nil
	})
}
