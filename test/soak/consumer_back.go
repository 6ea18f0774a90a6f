// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// goesBack lets the consumer know, before a project is set back to a backup, that a Workload may be missing afterwards that
// the consumer has created, and may exist that it has deleted: operations then create what they change, and change what they
// create.
func (c *consumer) goesBack(project string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setBack[project] = true
}

func (c *consumer) isSetBack(project string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.setBack[project]
}

// failed returns how many requests have failed.
func (c *consumer) failed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.failures)
}

// adopt waits until a project answers that was set back, and lets the consumer want the Workloads that exist: they are
// the project's. A Workload with an operation that is not done will be as the operation wants it.
func (c *consumer) adopt(ctx context.Context, project string, timeout time.Duration) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, retryDelay, timeout, true, func(ctx context.Context) (bool, error) {
		last = c.adoptOnce(ctx, project)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("list the Workloads of project %s, which was set back: %w (%w)", project, err, last)
	}
	return nil
}

// adoptOnce lists the Workloads under the lock: an operation that ends meanwhile is done after it, and is pending here.
func (c *consumer) adoptOnce(ctx context.Context, project string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	workloads := &v1alpha.WorkloadList{}
	if err := c.projects[project].List(ctx, workloads, client.InNamespace(c.namespaceIn(project))); err != nil {
		return err
	}
	found := byName(workloads.Items)
	for name := range c.wanted {
		if name.Project != project || c.pending[name] > 0 {
			continue
		}
		c.wanted[name] = nil
		if w := found[name.Workload]; w != nil && w.DeletionTimestamp == nil {
			c.wanted[name] = wantedOf(w)
		}
	}
	return nil
}

// wantedOf returns what the consumer has wanted when it wrote a Workload.
func wantedOf(workload *v1alpha.Workload) *Wanted {
	wanted := &Wanted{}
	if sandbox := workload.Spec.Template.Spec.Runtime.Sandbox; sandbox != nil && len(sandbox.Containers) == 1 {
		wanted.Image = sandbox.Containers[0].Image
	}
	for _, p := range workload.Spec.Placements {
		wanted.Placements = append(wanted.Placements, Placement{
			Name: p.Name, Cities: p.CityCodes, Replicas: int(p.ScaleSettings.MinReplicas),
		})
	}
	return wanted
}
