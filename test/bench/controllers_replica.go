// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo"
	"github.com/karmada-compute/karmada-compute/milo/marks"
)

// controllersReplica is the name of the hidden subcommand.
const controllersReplica = "controllers-replica"

// controllersFlags are the flags of a replica with controllers.
type controllersFlags struct {
	milo, ca, name string
	all            bool
	lease          time.Duration
}

// controllersReplicaCommand is what a replica has of projects when controllers run in it: the Provider, the Coordinator and the marks of
// the add-on. It says how many projects are engaged whenever that changes.
func controllersReplicaCommand() *cobra.Command {
	var o controllersFlags
	cmd := &cobra.Command{Use: controllersReplica, Hidden: true, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		ctx, _, cancel := parent(cmd.Context(), cmd.InOrStdin())
		defer cancel()
		return o.run(ctx, func(engaged int64) { fmt.Fprintf(cmd.OutOrStdout(), "engaged %d\n", engaged) })
	}}
	cmd.Flags().StringVar(&o.milo, "milo", "", "address of Milo and the hub")
	cmd.Flags().StringVar(&o.ca, "ca", "", "file with the CA of both")
	cmd.Flags().StringVar(&o.name, "name", "", "name of the replica")
	cmd.Flags().BoolVar(&o.all, "all", false, "engage every project")
	cmd.Flags().DurationVar(&o.lease, "lease-duration", 0, "as of karmada-compute")
	return cmd
}

func (o *controllersFlags) run(ctx context.Context, say func(int64)) error {
	ca, err := os.ReadFile(o.ca)
	if err != nil {
		return fmt.Errorf("read the CA: %w", err)
	}
	root := &rest.Config{
		Host: "https://" + o.milo, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: ca},
		// The stand-ins do not speak protobuf.
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON},
	}
	group, ctx := errgroup.WithContext(ctx)
	provider, err := o.provider(root, func(start func(context.Context) error) { group.Go(func() error { return start(ctx) }) })
	if err != nil {
		return err
	}
	leases, err := client.New(root, client.Options{Scheme: clientgoscheme.Scheme, Mapper: leaseMapper()})
	if err != nil {
		return fmt.Errorf("make a client for the Leases: %w", err)
	}
	coordinator := milo.NewCoordinator(provider, milo.CoordinatorOptions{
		Client: leases, Namespace: hubNamespace, Replica: o.name, LeaseDuration: o.lease, Clock: clock.RealClock{}, Log: logr.Discard(),
	})
	counted := &engagedProjects{}
	coordinator.AddAware(counted)
	patience, err := milo.NewPatience(milo.PatienceOptions{Root: root, Clock: clock.RealClock{}, Log: logr.Discard()})
	if err != nil {
		return err
	}
	group.Go(func() error { return milo.NewWatch(root, patience, provider).Start(ctx) })
	group.Go(func() error { return provider.Start(ctx, nil) })
	group.Go(func() error { return coordinator.Runnable().Start(ctx) })
	group.Go(func() error { counted.follow(ctx, say); return nil })
	return group.Wait()
}

// provider is one for all projects, or for those that have Workloads.
func (o *controllersFlags) provider(root *rest.Config, start func(func(context.Context) error)) (*milo.Provider, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha.AddToScheme(scheme), milo.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("build the scheme: %w", err)
	}
	options := milo.ProviderOptions{
		Root: root, Scheme: scheme, Shards: 16, Log: logr.Discard(),
		Kinds: []client.Object{&v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}, &v1alpha.Instance{}, milo.Locations{}.Object()},
	}
	if !o.all {
		made, err := marks.New(marks.Options{Hub: root, Namespace: hubNamespace, Clock: clock.RealClock{}, Log: logr.Discard()})
		if err != nil {
			return nil, err
		}
		start(made.Start)
		// Nothing is let go, and nothing is visited, while the benchmark runs.
		options.Marks, options.IdleAfter = made, 24*time.Hour
		options.Using = []client.Object{&v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}}
	}
	return milo.NewProvider(options)
}

// engagedProjects counts the projects that controllers are engaged with.
type engagedProjects struct{ count atomic.Int64 }

// Engage counts a project until ctx ends.
func (e *engagedProjects) Engage(ctx context.Context, _ multicluster.ClusterName, _ cluster.Cluster) error {
	e.count.Add(1)
	context.AfterFunc(ctx, func() { e.count.Add(-1) })
	return nil
}

// follow says how many there are whenever that has changed.
func (e *engagedProjects) follow(ctx context.Context, say func(int64)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	said := int64(-1)
	for {
		if count := e.count.Load(); count != said {
			said = count
			say(count)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
