// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo"
)

const (
	// atOnce is how many projects are engaged at once, as in the original.
	atOnce = 20
	// sayEvery is the number of projects between two reports to the parent.
	sayEvery = 10
)

// caches is a replica of the original system: it has a cluster with a cache for each project, engaged by a
// multicluster-runtime provider. Choices are made in its favour: managed fields are stripped, informers sync concurrently,
// and there is no discovery.
type caches struct {
	scheme *runtime.Scheme
	mapper meta.RESTMapper
	root   *rest.Config
	say    func(format string, args ...any)

	known cluster.Cluster

	mu      sync.Mutex
	engaged map[string]cluster.Cluster
}

// startCaches engages every project.
func startCaches(ctx context.Context, root *rest.Config, say func(string, ...any)) (cities, error) {
	c := &caches{scheme: runtime.NewScheme(), root: root, say: say, engaged: map[string]cluster.Cluster{}}
	if err := errors.Join(v1alpha.AddToScheme(c.scheme), milo.AddToScheme(c.scheme)); err != nil {
		return nil, fmt.Errorf("build the scheme: %w", err)
	}
	var err error
	if c.mapper, err = milo.NewRESTMapper(c.scheme); err != nil {
		return nil, err
	}
	if c.known, err = c.start(ctx, root, &milo.Project{}); err != nil {
		return nil, fmt.Errorf("watch the projects: %w", err)
	}
	var projects milo.ProjectList
	if err := c.known.GetCache().List(ctx, &projects); err != nil {
		return nil, fmt.Errorf("list the projects: %w", err)
	}
	// Not the group's context: the caches must outlive the group.
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range projects.Items {
		group.Go(func() error { return c.engage(ctx, projects.Items[i].Name) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return c.cities, nil
}

// start starts a cluster and waits until informers for the kinds have synced.
func (c *caches) start(ctx context.Context, config *rest.Config, kinds ...client.Object) (cluster.Cluster, error) {
	cl, err := cluster.New(config, func(o *cluster.Options) {
		o.Scheme = c.scheme
		o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return c.mapper, nil }
		o.Cache.DefaultTransform = cache.TransformStripManagedFields()
	})
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		if _, err := cl.GetCache().GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return nil, fmt.Errorf("watch %T: %w", kind, err)
		}
	}
	go func() {
		if err := cl.Start(ctx); err != nil && ctx.Err() == nil {
			c.say("problem %v", err)
		}
	}()
	if !cl.GetCache().WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("informers did not sync: %w", context.Cause(ctx))
	}
	return cl, nil
}

func (c *caches) engage(ctx context.Context, project string) error {
	config, err := milo.ProjectConfig(c.root, project)
	if err != nil {
		return err
	}
	cl, err := c.start(ctx, config, &v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}, &v1alpha.Instance{}, milo.Locations{}.Object())
	if err != nil {
		return fmt.Errorf("engage %s: %w", project, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.engaged[project] = cl
	if len(c.engaged)%sayEvery == 0 {
		c.say("engaged %d", len(c.engaged))
	}
	return nil
}

func (c *caches) cities(ctx context.Context, name string) ([]string, error) {
	if err := c.known.GetCache().Get(ctx, client.ObjectKey{Name: name}, &milo.Project{}); err != nil {
		return nil, err
	}
	c.mu.Lock()
	cl := c.engaged[name]
	c.mu.Unlock()
	if cl == nil {
		return nil, fmt.Errorf("project %s is not engaged", name)
	}
	return milo.Locations{}.CityCodes(ctx, cl.GetCache())
}
