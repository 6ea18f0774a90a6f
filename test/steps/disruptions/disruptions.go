// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package disruptions has the sentences about disruptions in cells: evictions, deletions, drains and cordons, and their
// limits by disruption budgets.
package disruptions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubectl/pkg/drain"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/steps/attempts"
	"github.com/karmada-compute/karmada-compute/test/steps/objects"
	"github.com/karmada-compute/karmada-compute/test/steps/workloads"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about disruptions.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// state returns the watch of the scenario.
func (s Steps) state() *readyWatch { return world.State[readyWatch](s.Scenario) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	sc.Step(`^a deployment "([^"]*)" of (\d+) Instances, of which (\d+) stay Available, is put into cell "([^"]*)"(?:, with minReadySeconds (\d+))?$`, func(ctx context.Context, name string, replicas, floor int32, cell string, minReady string) error {
		wanted := floored{replicas: replicas, floor: floor, minReadySeconds: 1}
		if _, err := fmt.Sscan(minReady, &wanted.minReadySeconds); err != nil && minReady != "" {
			return err
		}
		return from(ctx).putBudget(ctx, cell, name, wanted)
	})
	sc.Step(`^the floor of deployment "([^"]*)" in cell "([^"]*)" is in force$`, func(ctx context.Context, name, cell string) error {
		return from(ctx).floorInForce(ctx, cell, name)
	})
	sc.Step(`^`+world.Someone+` tries to (evict|dry-run the eviction of|delete) `+world.AnObject+`$`,
		func(ctx context.Context, who, verb, object string) error {
			s := from(ctx)
			attempts.In(s.Scenario).Try(ctx, func(ctx context.Context) error { return s.disrupt(ctx, who, verb, object) })
			return nil
		})
	sc.Step(`^the Ready Pods of deployment "([^"]*)" in cells? "([^"]*)" are watched$`, func(ctx context.Context, name, cells string) error {
		return from(ctx).watchReady(ctx, name, world.SplitNames(cells))
	})
	sc.Step(`^at every moment at least (\d+) of the watched Pods were Ready, and (fewer|as many) than at first for a while$`,
		func(ctx context.Context, least int, fewer string) error {
			return from(ctx).state().check(least, fewer == "fewer")
		})
	sc.Step(`^(\d+) evictions of Pods of deployment "([^"]*)" at once are requested in cells "([^"]*)"$`,
		func(ctx context.Context, count int, name, cells string) error {
			return from(ctx).evictMany(ctx, name, world.SplitNames(cells), count)
		})
	sc.Step(`^kubectl drains every node but one of cell "([^"]*)"$`, func(ctx context.Context, cell string) error {
		return from(ctx).drain(ctx, cell)
	})
	sc.Step(`^all nodes of cell "([^"]*)" are (cordoned|uncordoned)$`, func(ctx context.Context, cell, what string) error {
		return from(ctx).cordonAll(ctx, cell, what == "cordoned")
	})
}

// floored holds the number of Instances of a deployment, how many of them stay Available, and when an Instance is
// Available.
type floored struct{ replicas, floor, minReadySeconds int32 }

// putBudget creates a deployment in a cell as Karmada does, with a floor as the hub divides it.
func (s Steps) putBudget(ctx context.Context, cell, name string, wanted floored) error {
	return workloads.In(s.Scenario).PutDeployment(ctx, cell, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{v1alpha.AnnotationWorkNamespace: "karmada-es-" + cell}},
		Spec: v1alpha.WorkloadDeploymentSpec{
			MinReadySeconds: new(wanted.minReadySeconds),
			ScaleSettings:   v1alpha.HorizontalScaleSettings{MinReplicas: wanted.replicas, InstanceManagementPolicy: v1alpha.Parallel},
			Assignment: &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{{
				Name: cell, Indices: []v1alpha.IndexRange{{Last: wanted.replicas - 1}},
				Floor: &v1alpha.AvailabilityFloor{MinAvailable: wanted.floor, Sequence: 1},
			}}},
		},
	})
}

// floorInForce waits until the cell confirms the floor of a deployment, and counts all of its Instances.
func (s Steps) floorInForce(ctx context.Context, cell, name string) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		deployment := &v1alpha.WorkloadDeployment{}
		if err := s.Client("cell/"+cell, world.Admin).Get(ctx, client.ObjectKey{Namespace: s.HubNamespace(), Name: name},
			deployment); err != nil {
			return err
		}
		own := deployment.Spec.Assignment.Cells[0]
		if got := deployment.Status.Indices; len(got) != 1 || got[0].FloorSequence != own.Floor.Sequence ||
			got[0].Available != deployment.Spec.ScaleSettings.MinReplicas {
			return fmt.Errorf("the cell reports %+v", got)
		}
		return nil
	})
}

// disrupt evicts or deletes a Pod as a user.
func (s Steps) disrupt(ctx context.Context, who, verb, words string) error {
	plane, object, err := s.Object(words)
	if err != nil {
		return err
	}
	if verb == "delete" {
		return objects.In(s.Scenario).Delete(ctx, who, words)
	}
	var options []client.SubResourceCreateOption
	if verb != "evict" {
		options = append(options, client.DryRunAll)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()}}
	return s.Client(plane, world.User(who)).SubResource("eviction").Create(ctx, pod,
		&policyv1.Eviction{ObjectMeta: pod.ObjectMeta}, options...)
}

// readyWatch counts the Ready Pods.
type readyWatch struct {
	mu    sync.Mutex
	first int
	cells map[string]*readyInCell
}

// readyInCell holds the present number of Ready Pods of one cell, and the lowest number after any change.
type readyInCell struct {
	now    map[string]bool
	fewest int
	err    error
}

func (r *readyWatch) see(cell string, event watch.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.cells[cell]
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		of.err = fmt.Errorf("the watch of cell %s ended: %v", cell, event.Object)
		return
	}
	if event.Type != watch.Deleted && isReady(pod) {
		of.now[pod.Name] = true
	} else {
		delete(of.now, pod.Name)
	}
	of.fewest = min(of.fewest, len(of.now))
}

// check checks the lowest number of Ready Pods. Events of two cells have no order: the sum is of the lowest number of
// each.
func (r *readyWatch) check(least int, fewer bool) error {
	if r.cells == nil {
		return errors.New("nothing is watched")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := 0
	for _, of := range r.cells {
		if of.err != nil {
			return of.err
		}
		sum += of.fewest
	}
	if sum < least || fewer != (sum < r.first) {
		return fmt.Errorf("of %d Pods %d were Ready", r.first, sum)
	}
	return nil
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp.IsZero()
		}
	}
	return false
}

// watchReady follows the Pods of a deployment until the scenario ends.
func (s Steps) watchReady(ctx context.Context, name string, cells []string) error {
	ready := s.state()
	ready.cells = map[string]*readyInCell{}
	for _, cell := range cells {
		c, of := s.Client("cell/"+cell, world.Admin), &readyInCell{now: map[string]bool{}}
		ready.cells[cell] = of
		pods := &corev1.PodList{}
		selected := []client.ListOption{client.InNamespace(s.HubNamespace()), client.MatchingLabels{v1alpha.LabelDeploymentName: name}}
		if err := c.List(ctx, pods, selected...); err != nil {
			return err
		}
		for i := range pods.Items {
			if isReady(&pods.Items[i]) {
				of.now[pods.Items[i].Name] = true
			}
		}
		of.fewest = len(of.now)
		ready.first += of.fewest
		following, err := c.Watch(context.WithoutCancel(ctx), &corev1.PodList{}, append(selected,
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: pods.ResourceVersion}})...)
		if err != nil {
			return err
		}
		s.Made.Add("watch of Pods in "+cell, func(context.Context) error { following.Stop(); return nil })
		go func() {
			for event := range following.ResultChan() {
				ready.see(cell, event)
			}
		}()
	}
	return nil
}

// evictMany sends concurrent evictions, to each Pod in turn, and repeats refused ones, for some seconds.
func (s Steps) evictMany(ctx context.Context, name string, cells []string, count int) error {
	var group sync.WaitGroup
	var accepted, refused atomic.Int32
	var problems sync.Map
	for i := range count {
		cell := cells[i%len(cells)]
		group.Go(func() {
			c, pods := s.Client("cell/"+cell, world.Admin), &corev1.PodList{}
			if err := c.List(ctx, pods, client.InNamespace(s.HubNamespace()), client.MatchingLabels{v1alpha.LabelDeploymentName: name}); err != nil {
				problems.Store(err.Error(), err)
				return
			}
			pod := &pods.Items[(i/len(cells))%len(pods.Items)]
			eviction := &policyv1.Eviction{
				ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
				DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
			}
			switch err := c.SubResource("eviction").Create(ctx, pod, eviction); {
			case err == nil:
				accepted.Add(1)
			case apierrors.IsTooManyRequests(err):
				refused.Add(1)
			case !apierrors.IsConflict(err) && !apierrors.IsNotFound(err):
				problems.Store(err.Error(), err)
			}
		})
	}
	group.Wait()
	var failed error
	problems.Range(func(_, problem any) bool { failed, _ = problem.(error); return false })
	if failed == nil && (accepted.Load() == 0 || refused.Load() == 0) {
		failed = fmt.Errorf("%d evictions were accepted, %d refused", accepted.Load(), refused.Load())
	}
	return failed
}

// drain drains nodes one after the other with kubectl's own code.
func (s Steps) drain(ctx context.Context, cell string) error {
	config, err := s.Federation.Config("cell/"+cell, world.Admin)
	if err != nil {
		return err
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	nodes, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var output bytes.Buffer
	helper := &drain.Helper{
		Ctx: ctx, Client: c, GracePeriodSeconds: -1, IgnoreAllDaemonSets: true, Timeout: world.Patience, Out: &output, ErrOut: &output,
		// Other Pods of the cell are not drained.
		PodSelector: v1alpha.LabelDeploymentName, EvictErrorRetryDelay: time.Second,
	}
	for i := range nodes.Items[1:] {
		node := &nodes.Items[i+1]
		s.uncordonLater(cell)
		if err := drain.RunCordonOrUncordon(helper, node, true); err != nil {
			return err
		}
		if err := drain.RunNodeDrain(helper, node.Name); err != nil {
			return fmt.Errorf("drain node %s: %w: %s", node.Name, err, strings.TrimSpace(output.String()))
		}
	}
	return nil
}

// uncordonLater uncordons the nodes of a cell when the scenario ends.
func (s Steps) uncordonLater(cell string) {
	s.Disturbed.Add("cordon in cell "+cell, func(ctx context.Context) error { return s.cordonAll(ctx, cell, false) })
}

// cordonAll cordons or uncordons all nodes of a cell.
func (s Steps) cordonAll(ctx context.Context, cell string, cordoned bool) error {
	if cordoned {
		s.uncordonLater(cell)
	}
	c, nodes := s.Client("cell/"+cell, world.Admin), &corev1.NodeList{}
	if err := c.List(ctx, nodes); err != nil {
		return err
	}
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, cordoned)
	for i := range nodes.Items {
		if err := c.Patch(ctx, &nodes.Items[i], client.RawPatch(types.MergePatchType, patch)); err != nil {
			return err
		}
	}
	return nil
}
