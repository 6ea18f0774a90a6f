// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// availability follows the Pods of a namespace in all cells: how many are Available at each moment, and how many
// Instances are replaced. It is safe for concurrent use.
type availability struct {
	// protected counts Pods with the label that a budget selects only.
	protected bool

	mu sync.Mutex
	// available are the Pods in each cell that are, and owners the UIDs and templates of the Instances of all Pods, by
	// their names.
	available map[string]map[string]bool
	owners    map[string]string
	fewest    int
	replaced  int
	low       string
}

// watchAvailability watches all cells until ctx ends. protected is true if the Instances have a budget.
func watchAvailability(ctx context.Context, f *federation.Federation, namespace string, protected bool) (*availability, error) {
	a := &availability{protected: protected, available: map[string]map[string]bool{}, owners: map[string]string{}}
	for _, cell := range f.Cells() {
		config, err := f.Config("cell/"+cell.Name, federation.Admin)
		if err != nil {
			return nil, err
		}
		config.QPS = -1
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("watch cell %s: %w", cell.Name, err)
		}
		a.available[cell.Name] = map[string]bool{}
		go func() {
			for ctx.Err() == nil {
				// An API server that is down answers later. Without it, nothing in its cell changes.
				_ = a.follow(ctx, cell.Name, c.CoreV1().Pods(namespace))
				select {
				case <-ctx.Done():
				case <-time.After(lookInterval):
				}
			}
		}()
	}
	return a, nil
}

// follow lists and watches the Pods of a cell until the watch ends.
func (a *availability) follow(ctx context.Context, cell string, pods typedcorev1.PodInterface) error {
	selector := metav1.ListOptions{LabelSelector: v1alpha.LabelDeploymentName}
	list, err := pods.List(ctx, selector)
	if err != nil {
		return err
	}
	a.replace(cell, list.Items)
	selector.ResourceVersion = list.ResourceVersion
	events, err := pods.Watch(ctx, selector)
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			return fmt.Errorf("the watch of cell %s ended: %v", cell, event.Object)
		}
		a.see(cell, pod, event.Type == watch.Deleted)
	}
	return nil
}

func (a *availability) replace(cell string, pods []corev1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.available[cell])
	for i := range pods {
		a.set(cell, &pods[i], false)
	}
	a.measure(cell)
}

func (a *availability) see(cell string, pod *corev1.Pod, deleted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set(cell, pod, deleted)
	a.measure(cell + " " + pod.Name)
}

// set notes a Pod. With a budget it counts as Available with the label that the budget selects, which the agent sets before
// it reports that, and else as soon as it is Ready.
func (a *availability) set(cell string, pod *corev1.Pod, deleted bool) {
	delete(a.available[cell], pod.Name)
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue && !deleted && pod.DeletionTimestamp == nil &&
			(!a.protected || pod.Labels[v1alpha.LabelProtected] == v1alpha.ProtectedTrue) {
			a.available[cell][pod.Name] = true
		}
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		// An Instance that gets another template in its place keeps its UID.
		now := string(owner.UID) + " " + pod.Labels[v1alpha.LabelTemplateHash]
		if before := a.owners[pod.Name]; before != "" && before != now {
			a.replaced++
		}
		a.owners[pod.Name] = now
	}
}

// measure notes how many are Available.
func (a *availability) measure(after string) {
	sum := 0
	for _, pods := range a.available {
		sum += len(pods)
	}
	if sum < a.fewest {
		a.fewest, a.low = sum, time.Now().Format(time.StampMilli)+" after an event of "+after
	}
}

// begin begins to count.
func (a *availability) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fewest, a.replaced, a.low = len(a.owners)+1, 0, ""
	a.measure("the begin")
}

// end returns how many were Available at least, when that was, and how many Instances were replaced, since the begin.
func (a *availability) end() (fewest, replaced int, when string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fewest, a.replaced, a.low
}
