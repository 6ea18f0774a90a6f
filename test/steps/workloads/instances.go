// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addInstanceSteps adds the sentences about Instances.
func addInstanceSteps(sc world.Sentences) {
	sc.Step(`^cell "([^"]*)" runs exactly the Pods "([^"]*)"$`, func(ctx context.Context, cell, names string) error {
		return from(ctx).runsPods(ctx, cell, world.SplitNames(names))
	})
	sc.Step(`^in cell "([^"]*)" (each Instance was created after the previous one was Ready|the Instances were replaced from the highest index down, each when the one above was Ready)$`,
		func(ctx context.Context, cell, order string) error {
			return from(ctx).madeInOrder(ctx, cell, strings.HasPrefix(order, "the Instances were replaced"))
		})
	sc.Step(`^every Instance is Ready in the project at most (\d+) seconds after its cell$`, func(ctx context.Context, seconds int) error {
		return from(ctx).readyInProjectAfterCell(ctx, time.Duration(seconds)*time.Second)
	})
	sc.Step(`^the Instances in the project show the addresses of their Pods$`, func(ctx context.Context) error {
		return from(ctx).showAddresses(ctx)
	})
	sc.Step(`^cells? "([^"]*)" runs? (\d+) Instances(?:, each at least (\d+), and none twice)?$`,
		func(ctx context.Context, cells string, all int, least string) error {
			wanted := division{cells: world.SplitNames(cells), all: all, least: all}
			if least != "" {
				if _, err := fmt.Sscan(least, &wanted.least); err != nil {
					return err
				}
			}
			return from(ctx).divided(ctx, wanted)
		})
	sc.Step(`^no name has a Pod in two of cells "([^"]*)"$`, func(ctx context.Context, cells string) error {
		return from(ctx).noPodTwice(ctx, world.SplitNames(cells))
	})
	sc.Step(`^none of the Instances in cells? "([^"]*)" was replaced$`, func(ctx context.Context, cells string) error {
		return from(ctx).noneReplaced(ctx, world.SplitNames(cells))
	})
}

// rememberInstances records the running Instances, so that a later sentence can detect replaced ones.
func (s Steps) rememberInstances(ctx context.Context, cells []string) error {
	for _, cell := range cells {
		found, err := s.List(ctx, "cell/"+cell, "instances")
		if err != nil {
			return err
		}
		for i := range found {
			s.Remember("cell/"+cell, &found[i])
		}
	}
	return nil
}

// noneReplaced compares the Instances of cells with the first ones seen there.
func (s Steps) noneReplaced(ctx context.Context, cells []string) error {
	for _, cell := range cells {
		found, err := s.List(ctx, "cell/"+cell, "instances")
		if err != nil {
			return err
		}
		for i := range found {
			before, seen := s.Seen[world.MemoryOf("cell/"+cell, &found[i], found[i].GetKind())]
			if seen && before != world.Identity(&found[i]) {
				return fmt.Errorf("Instance %s in cell %s is another one", found[i].GetName(), cell)
			}
		}
	}
	return nil
}

func (s Steps) runsPods(ctx context.Context, cell string, wanted []string) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		pods, err := s.List(ctx, "cell/"+cell, "pods")
		if err != nil {
			return err
		}
		running := []string{}
		for i := range pods {
			if phase, err := world.Field(&pods[i], "status.phase"); err != nil || phase != string(corev1.PodRunning) {
				return fmt.Errorf("phase of Pod %s is %s", pods[i].GetName(), phase)
			}
			running = append(running, pods[i].GetName())
		}
		if !slices.Equal(running, wanted) {
			return fmt.Errorf("the Pods are %v", running)
		}
		return nil
	})
}

// division is the expected number of Instances in all cells together, and the minimum in each.
type division struct {
	cells      []string
	all, least int
}

// divided waits until cells run the expected number of Instances, all Ready and with unique names. Instances that are
// seen there for the first time are remembered.
func (s Steps) divided(ctx context.Context, wanted division) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		where := map[string]string{}
		for _, cell := range wanted.cells {
			instances, err := s.List(ctx, "cell/"+cell, "instances")
			if err != nil {
				return err
			}
			if len(instances) < wanted.least {
				return fmt.Errorf("cell %s runs %d Instances", cell, len(instances))
			}
			for i := range instances {
				name, conditions := instances[i].GetName(), world.ConditionsOf(&instances[i])
				if where[name] != "" {
					return fmt.Errorf("Instance %s is in cells %s and %s", name, where[name], cell)
				}
				if !meta.IsStatusConditionTrue(conditions, v1alpha.ConditionReady) {
					return fmt.Errorf("Instance %s in cell %s is %s", name, cell, world.Describe(conditions))
				}
				where[name] = cell
			}
		}
		if len(where) != wanted.all {
			return fmt.Errorf("cells %v run %v", wanted.cells, where)
		}
		return s.rememberInstances(ctx, wanted.cells)
	})
}

// noPodTwice fails if a name has a Pod in two cells, including Pods that are being deleted.
func (s Steps) noPodTwice(ctx context.Context, cells []string) error {
	where := map[string]string{}
	for _, cell := range cells {
		pods, err := s.List(ctx, "cell/"+cell, "pods")
		if err != nil {
			return err
		}
		for i := range pods {
			if other := where[pods[i].GetName()]; other != "" {
				return fmt.Errorf("Pod %s is in cells %s and %s", pods[i].GetName(), other, cell)
			}
			where[pods[i].GetName()] = cell
		}
	}
	return nil
}

// madeInOrder compares the creation time of each Instance with the time when its predecessor became Ready; both have a
// resolution of one second.
func (s Steps) madeInOrder(ctx context.Context, cell string, downwards bool) error {
	ordered, err := s.List(ctx, "cell/"+cell, "instances")
	if err != nil {
		return err
	}
	if len(ordered) < 2 {
		return fmt.Errorf("%d Instances have no order", len(ordered))
	}
	slices.SortFunc(ordered, func(a, b unstructured.Unstructured) int { return indexOf(&a) - indexOf(&b) })
	if downwards {
		slices.Reverse(ordered)
	}
	var problems []error
	for i := 1; i < len(ordered); i++ {
		before := meta.FindStatusCondition(world.ConditionsOf(&ordered[i-1]), v1alpha.ConditionReady)
		if before == nil || before.Status != metav1.ConditionTrue {
			return fmt.Errorf("not Ready: Instance %s", ordered[i-1].GetName())
		}
		made, err := s.startedAt(ctx, cell, &ordered[i])
		if err != nil {
			return err
		}
		if made.Before(&before.LastTransitionTime) {
			problems = append(problems, fmt.Errorf("%s was made at %s, before %s was Ready at %s",
				ordered[i].GetName(), made, ordered[i-1].GetName(), before.LastTransitionTime))
		}
	}
	return errors.Join(problems...)
}

// startedAt is when the Pod of an Instance was created. An Instance that gets another template in its place is older.
func (s Steps) startedAt(ctx context.Context, cell string, instance *unstructured.Unstructured) (metav1.Time, error) {
	pods, err := s.List(ctx, "cell/"+cell, "pods")
	if err != nil {
		return metav1.Time{}, err
	}
	for i := range pods {
		if pods[i].GetName() == instance.GetName() {
			return pods[i].GetCreationTimestamp(), nil
		}
	}
	return metav1.Time{}, fmt.Errorf("Instance %s has no Pod", instance.GetName())
}

func indexOf(instance *unstructured.Unstructured) int {
	index, _ := naming.InstanceIndex(instance.GetLabels()[v1alpha.LabelDeploymentName], instance.GetName())
	return index
}

// readyAt holds the times when Instances were seen to be Ready, by name.
type readyAt map[string]time.Time

// watchReady watches the Instances of a namespace until the expected number is Ready.
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

// readyInProjectAfterCell compares when watches of the cells and of the project saw each of two Instances per cell
// become Ready.
func (s Steps) readyInProjectAfterCell(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, world.Patience)
	defer cancel()
	const perCell = 2
	planes := []string{s.Plane(""), "cell/dfw", "cell/ord"}
	seen := make([]readyAt, len(planes))
	var watches errgroup.Group
	for i, plane := range planes {
		count := perCell
		if i == 0 {
			count = perCell * (len(planes) - 1)
		}
		watches.Go(func() (err error) {
			seen[i], err = watchReady(ctx, s.Client(plane, world.Admin), s.NamespaceIn(plane), count)
			return err
		})
	}
	if err := watches.Wait(); err != nil {
		return err
	}
	var late []error
	worst := time.Duration(0)
	for _, cell := range seen[1:] {
		for name, at := range cell {
			delay := seen[0][name].Sub(at)
			worst = max(worst, delay)
			if delay > limit {
				late = append(late, fmt.Errorf("%s was Ready in the project %s after its cell", name, delay))
			}
		}
	}
	fmt.Fprintf(s.Out, "Instances were Ready in the project at most %s after their cells\n", worst.Round(time.Millisecond))
	return errors.Join(late...)
}

// showAddresses compares the addresses of the project's Instances with the addresses of the Pods in the cells.
func (s Steps) showAddresses(ctx context.Context) error {
	addresses := map[string]string{}
	for _, cell := range s.Cells() {
		pods, err := s.List(ctx, "cell/"+cell, "pods")
		if err != nil {
			return err
		}
		for i := range pods {
			if addresses[pods[i].GetName()], err = world.Field(&pods[i], "status.podIP"); err != nil {
				return err
			}
		}
	}
	const address = "status.networkInterfaces[0].assignments.networkIP"
	return world.Eventually(ctx, func(ctx context.Context) error {
		found, err := s.Named(ctx, "every instance")
		if err != nil {
			return err
		}
		for i := range found {
			name := found[i].GetName()
			if shown, err := world.Field(&found[i], address); err != nil || shown == "" || shown != addresses[name] {
				return fmt.Errorf("address of Instance %s is %q, its Pod has %q", name, shown, addresses[name])
			}
		}
		return nil
	})
}
