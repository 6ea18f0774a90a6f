// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cucumber/godog"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func addInstanceSteps(sc *godog.ScenarioContext) {
	sc.Step(`^the project has exactly the Instances "([^"]*)"$`, func(ctx context.Context, names string) error {
		s := from(ctx)
		c, err := s.client("project/"+s.project, consumer)
		if err != nil {
			return err
		}
		return exactly(ctx, c, &v1alpha.InstanceList{}, names, client.InNamespace(s.namespace))
	})
	sc.Step(`^every Instance in the project shows image "([^"]*)"$`, func(ctx context.Context, image string) error {
		return from(ctx).eventuallyInstances(ctx, func(instance *v1alpha.Instance) error {
			if found := instance.Spec.Runtime.Sandbox.Containers[0].Image; found != image {
				return fmt.Errorf("image of Instance %s is %s", instance.Name, found)
			}
			return nil
		})
	})
	sc.Step(`^the consumer tries to give the projected Instance "([^"]*)" image "([^"]*)"$`, func(ctx context.Context, name, image string) error {
		s := from(ctx)
		s.refused = s.editInstance(ctx, consumer, name, func(instance *v1alpha.Instance) {
			instance.Spec.Runtime.Sandbox.Containers[0].Image = image
		})
		return nil
	})
	sc.Step(`^the projected Instance "([^"]*)" is given image "([^"]*)" by hand$`, func(ctx context.Context, name, image string) error {
		return from(ctx).editInstance(ctx, addOnUser, name, func(instance *v1alpha.Instance) {
			instance.Spec.Runtime.Sandbox.Containers[0].Image = image
		})
	})
	sc.Step(`^the projected Instance "([^"]*)" is given a volume by hand$`, func(ctx context.Context, name string) error {
		return from(ctx).editInstance(ctx, addOnUser, name, func(instance *v1alpha.Instance) {
			instance.Spec.Volumes = []v1alpha.InstanceVolume{{
				Name: "added", InstanceVolumeSource: v1alpha.InstanceVolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "added"},
				}},
			}}
		})
	})
	sc.Step(`^the projected Instance "([^"]*)" has no volume$`, func(ctx context.Context, name string) error {
		return from(ctx).eventuallyInstances(ctx, func(instance *v1alpha.Instance) error {
			if instance.Name == name && len(instance.Spec.Volumes) > 0 {
				return fmt.Errorf("volumes of Instance %s: %v", name, instance.Spec.Volumes)
			}
			return nil
		})
	})
	sc.Step(`^the projected Instance "([^"]*)" is deleted by hand$`, func(ctx context.Context, name string) error {
		s := from(ctx)
		c, err := s.client("project/"+s.project, consumer)
		if err != nil {
			return err
		}
		return c.Delete(ctx, &v1alpha.Instance{ObjectMeta: s.meta(name)})
	})
	sc.Step(`^every Instance is Ready in the project at most (\d+) seconds after its cell$`, func(ctx context.Context, seconds int) error {
		return from(ctx).readyInProjectAfterCell(ctx, time.Duration(seconds)*time.Second)
	})
	sc.Step(`^the Instances in the project show the addresses of their Pods$`, func(ctx context.Context) error {
		return from(ctx).showAddresses(ctx)
	})
}

// editInstance writes a changed Instance as a user. Only the add-on's own may, so what is done by hand is done in its
// name.
func (s *scenario) editInstance(ctx context.Context, user, name string, edit func(*v1alpha.Instance)) error {
	c, err := s.client("project/"+s.project, user)
	if err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		instance := &v1alpha.Instance{}
		if err := c.Get(ctx, s.key(name), instance); err != nil {
			return err
		}
		patched := instance.DeepCopy()
		edit(patched)
		return c.Patch(ctx, patched, client.MergeFromWithOptions(instance, client.MergeFromWithOptimisticLock{}))
	})
}

// eventuallyInstances waits until there are Instances in the project and each passes the check.
func (s *scenario) eventuallyInstances(ctx context.Context, check func(*v1alpha.Instance) error) error {
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		var instances v1alpha.InstanceList
		if err := c.List(ctx, &instances, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		if len(instances.Items) == 0 {
			return errors.New("there is no Instance")
		}
		var problems []error
		for i := range instances.Items {
			problems = append(problems, check(&instances.Items[i]))
		}
		return errors.Join(problems...)
	})
}

// readyAt is when Instances were seen to be Ready, by name.
type readyAt map[string]time.Time

// watchReady follows the Instances of a namespace until so many are Ready.
func watchReady(ctx context.Context, c client.WithWatch, namespace string, count int) (readyAt, error) {
	watcher, err := c.Watch(ctx, &v1alpha.InstanceList{}, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	defer watcher.Stop()
	ready := readyAt{}
	for len(ready) < count {
		select {
		case <-ctx.Done():
			return ready, fmt.Errorf("only %d of %d Instances became Ready: %w", len(ready), count, ctx.Err())
		case event, open := <-watcher.ResultChan():
			if !open {
				return ready, errors.New("the watch of Instances ended")
			}
			instance, ok := event.Object.(*v1alpha.Instance)
			if !ok {
				return ready, fmt.Errorf("the watch of Instances answered %v", event.Object)
			}
			if _, seen := ready[instance.Name]; !seen && meta.IsStatusConditionTrue(instance.Status.Conditions, v1alpha.ConditionReady) {
				ready[instance.Name] = time.Now()
			}
		}
	}
	return ready, nil
}

// readyInProjectAfterCell compares when watches of the cells and of the project saw each Instance become Ready.
func (s *scenario) readyInProjectAfterCell(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	type seen struct {
		place string
		ready readyAt
		err   error
	}
	places := []struct {
		plane, namespace string
		count            int
	}{
		{"cell/dfw", s.hubNamespaces[s.project], 2}, {"cell/ord", s.hubNamespaces[s.project], 2}, {"project/" + s.project, s.namespace, 4},
	}
	results := make(chan seen, len(places))
	for _, place := range places {
		c, err := s.client(place.plane, admin)
		if err != nil {
			return err
		}
		go func() {
			ready, err := watchReady(ctx, c, place.namespace, place.count)
			results <- seen{place.plane, ready, err}
		}()
	}
	cells, project := readyAt{}, readyAt{}
	for range places {
		result := <-results
		if result.err != nil {
			return fmt.Errorf("%s: %w", result.place, result.err)
		}
		for name, at := range result.ready {
			if result.place == "project/"+s.project {
				project[name] = at
			} else {
				cells[name] = at
			}
		}
	}
	var late []error
	worst := time.Duration(0)
	for name, at := range cells {
		delay := project[name].Sub(at)
		worst = max(worst, delay)
		if delay > limit {
			late = append(late, fmt.Errorf("%s was Ready in the project %s after its cell", name, delay))
		}
	}
	fmt.Fprintf(s.out, "Instances were Ready in the project at most %s after their cells\n", worst.Round(time.Millisecond))
	return errors.Join(late...)
}

// showAddresses compares the addresses of the project's Instances with those of the Pods in the cells.
func (s *scenario) showAddresses(ctx context.Context) error {
	addresses := map[string]string{}
	for _, cell := range s.cells() {
		pods, err := s.pods(ctx, cell)
		if err != nil {
			return err
		}
		for i := range pods {
			addresses[pods[i].Name] = pods[i].Status.PodIP
		}
	}
	return s.eventuallyInstances(ctx, func(instance *v1alpha.Instance) error {
		interfaces := instance.Status.NetworkInterfaces
		if len(interfaces) == 0 || interfaces[0].Assignments.NetworkIP == nil || *interfaces[0].Assignments.NetworkIP == "" ||
			*interfaces[0].Assignments.NetworkIP != addresses[instance.Name] {
			return fmt.Errorf("addresses of Instance %s are %+v, its Pod has %s", instance.Name, interfaces, addresses[instance.Name])
		}
		return nil
	})
}

// byIndex sorts Instances of one deployment by their index.
func byIndex(deployment string, instances []v1alpha.Instance) []v1alpha.Instance {
	slices.SortFunc(instances, func(a, b v1alpha.Instance) int {
		one, _ := v1alpha.InstanceIndex(deployment, a.Name)
		other, _ := v1alpha.InstanceIndex(deployment, b.Name)
		return one - other
	})
	return instances
}

// becameReady is when an Instance says it became Ready, to the second.
func becameReady(instance *v1alpha.Instance) (metav1.Time, error) {
	condition := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionReady)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return metav1.Time{}, fmt.Errorf("not Ready: Instance %s", instance.Name)
	}
	return condition.LastTransitionTime, nil
}
