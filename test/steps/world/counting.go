// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/counts"
)

// countsTag is the tag of scenarios in which every status is watched: no count may be outside of what is possible.
const countsTag = "@counts"

// counting watches the counts of a scenario. It is safe for concurrent use.
type counting struct {
	// ctx ends the watches.
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	histories map[string]*counts.History
	// watched are the cells that are watched, by project and name.
	watched map[[2]string]bool
}

// newCounting returns nil for a scenario without the tag.
func newCounting(run *godog.Scenario) *counting {
	for _, tag := range run.Tags {
		if tag.Name == countsTag {
			ctx, cancel := context.WithCancel(context.Background())
			return &counting{ctx: ctx, cancel: cancel, histories: map[string]*counts.History{}, watched: map[[2]string]bool{}}
		}
	}
	return nil
}

// WatchCounts watches the scenario's namespace of a project from its begin on, if the scenario asks for it.
func (s *Scenario) WatchCounts(project string) {
	c := s.counting
	if c == nil {
		return
	}
	c.mu.Lock()
	history := counts.NewHistory()
	c.histories[project] = history
	c.mu.Unlock()
	in := s.In(project)
	plane := s.Client(in.Plane(""), Admin)
	c.follow(&following{client: plane, list: &v1alpha.WorkloadList{}, namespace: in.Namespace, see: func(object runtime.Object, deleted bool) {
		if w, ok := object.(*v1alpha.Workload); ok && !deleted {
			history.Workload(time.Now(), w)
		}
	}})
	c.follow(&following{
		client: plane, list: &v1alpha.WorkloadDeploymentList{}, namespace: in.Namespace,
		see: func(object runtime.Object, deleted bool) {
			if d, ok := object.(*v1alpha.WorkloadDeployment); ok {
				history.Deployment(time.Now(), d, deleted)
			}
		},
	})
	s.watchCells()
}

// watchCells watches the Instances in all cells that the scenario may use.
func (s *Scenario) watchCells() {
	c := s.counting
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for project, history := range c.histories {
		for _, cell := range s.Cells() {
			key := [2]string{project, cell}
			if c.watched[key] {
				continue
			}
			c.watched[key] = true
			c.follow(&following{
				client: s.Client("cell/"+cell, Admin), list: &v1alpha.InstanceList{}, namespace: s.HubNamespaces[project],
				all: func(list client.ObjectList) {
					if instances, ok := list.(*v1alpha.InstanceList); ok {
						history.Cell(time.Now(), cell, instances.Items)
					}
				},
				see: func(object runtime.Object, deleted bool) {
					if i, ok := object.(*v1alpha.Instance); ok {
						history.Instance(time.Now(), cell, i, deleted)
					}
				},
				broken: func() { history.Blind(time.Now(), cell) },
			})
		}
	}
}

// end ends the watches, and returns what they have found.
func (c *counting) end() error {
	if c == nil {
		return nil
	}
	c.cancel()
	c.running.Wait()
	var found []string
	for _, history := range c.histories {
		found = append(found, history.Impossible()...)
	}
	if len(found) == 0 {
		return nil
	}
	const enough = 8
	slices.Sort(found)
	return errors.New("counts that are not possible: " + strings.Join(found[:min(enough, len(found))], "; "))
}

// following follows the objects of one kind in a namespace.
type following struct {
	client    client.WithWatch
	list      client.ObjectList
	namespace string
	// all gets a list, and see each object; broken is called while nothing can be watched.
	all    func(client.ObjectList)
	see    func(object runtime.Object, deleted bool)
	broken func()
}

func (c *counting) follow(f *following) {
	c.running.Go(func() {
		for ctx := c.ctx; ctx.Err() == nil; {
			// An API server that is down answers later.
			_ = f.once(ctx)
			if f.broken != nil && ctx.Err() == nil {
				f.broken()
			}
			_ = Pause(ctx, lastInterval)
		}
	})
}

// once lists and watches until the watch ends.
func (f *following) once(ctx context.Context) error {
	if err := f.client.List(ctx, f.list, client.InNamespace(f.namespace)); err != nil {
		return err
	}
	if f.all != nil {
		f.all(f.list)
	} else if err := meta.EachListItem(f.list, func(object runtime.Object) error {
		f.see(object.DeepCopyObject(),
			false)
		return nil
	}); err != nil {
		return err
	}
	events, err := f.client.Watch(ctx, f.list, client.InNamespace(f.namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: f.list.GetResourceVersion()}})
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		switch event.Type {
		case watch.Added, watch.Modified, watch.Deleted:
			f.see(event.Object, event.Type == watch.Deleted)
		default:
			return fmt.Errorf("the watch ended: %v", event.Object)
		}
	}
	return nil
}
