// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

type latencyOptions struct{ n, warmup, clients int }

func latencyCommand() *cobra.Command {
	var o latencyOptions
	cmd := &cobra.Command{
		Use:   "latency",
		Short: "Measure what admission adds to the creation of a Workload",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.n < 1 || o.warmup < 0 || o.clients < 1 {
				return fmt.Errorf("--n=%d, --warmup=%d, --clients=%d: use numbers above 0", o.n, o.warmup, o.clients)
			}
			return runLatency(cmd, o)
		},
	}
	cmd.Flags().IntVar(&o.n, "n", 2000, "how many creates of each kind are measured")
	cmd.Flags().IntVar(&o.warmup, "warmup", 100, "how many creates of each kind come before the measurement")
	cmd.Flags().IntVar(&o.clients, "clients", 4, "how many clients create at once")
	return cmd
}

func runLatency(cmd *cobra.Command, o latencyOptions) error {
	crd, err := floorCRD("workloads")
	if err != nil {
		return err
	}
	report := newReport(cmd, "What admission adds to a create", "dry-run create", "p50", "p90", "p99", "mean")
	progress := newProgress(cmd)
	var floor, ours samples
	if err := withStage(cmd.Context(), cmd.ErrOrStderr(), func(ctx context.Context, s *stage) error {
		if err := s.install(ctx, crd); err != nil {
			return fmt.Errorf("install the floor: %w", err)
		}
		progress.printf("creating %d of each kind as a warm-up", o.warmup)
		if err := s.createBoth(ctx, o.clients, o.warmup, &samples{}, &samples{}); err != nil {
			return err
		}
		progress.printf("creating %d of each kind", o.n)
		return s.createBoth(ctx, o.clients, o.n, &floor, &ours)
	}); err != nil {
		return err
	}
	tableOfLatency(report, floor.summary(), ours.summary())
	report.note("%d creates of each kind by %d clients, one floor and one Workload in turn, after %d of each as a warm-up.", o.n, o.clients,
		o.warmup)
	report.note("Added is the difference of the two rows above it, not a percentile of differences.")
	report.note("Floor: the same object on the same kube-apiserver in a kind with the same schema, in group %s, that no webhook asks about.",
		floorGroup)
	report.note("A Workload passes the validating webhook, through a TCP balancer. In it are the lookup of the project (30 " +
		"s), of its cities, its quota and the user's permissions (5 s each) when the cache is too old.")
	report.note("All processes, the clients too, share the machine's CPUs: a kube-apiserver for the project, one for Milo's " +
		"root and one for the hub, etcd, two cells.")
	return report.write(cmd.OutOrStdout())
}

func tableOfLatency(r *report, floor, ours summary) {
	values := func(s summary) []time.Duration { return []time.Duration{s.p50, s.p90, s.p99, s.mean} }
	of := func(name string, cell func(i int) string) {
		row := []string{name}
		for i := range values(floor) {
			row = append(row, cell(i))
		}
		r.add(row...)
	}
	of("floor: no webhook", func(i int) string { return millis(values(floor)[i]) })
	of("Workload", func(i int) string { return millis(values(ours)[i]) })
	of("added", func(i int) string { return millis(values(ours)[i] - values(floor)[i]) })
	of("ratio to the floor", func(i int) string { return ratio(values(ours)[i].Seconds(), values(floor)[i].Seconds()) })
}

// install installs the floor in the project and waits until the consumer may create both kinds.
func (s *stage) install(ctx context.Context, crd *unstructured.Unstructured) error {
	admin, err := s.client(plane, federation.Admin)
	if err != nil {
		return err
	}
	if _, err := admin.Resource(crdResource).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	c, err := s.client(plane, consumer)
	if err != nil {
		return err
	}
	for _, resource := range []schema.GroupVersionResource{floorResource, workloadResource} {
		sample, err := sampleAs(resource)
		if err != nil {
			return err
		}
		if err := eventually(ctx, func(ctx context.Context) error { return dryCreate(ctx, c, resource, sample) }); err != nil {
			return err
		}
	}
	return nil
}

func dryCreate(ctx context.Context, c dynamic.Interface, resource schema.GroupVersionResource, sample *unstructured.Unstructured) error {
	_, err := c.Resource(resource).Namespace(namespace).Create(ctx, sample, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return fmt.Errorf("create a %s of group %s: %w", sample.GetKind(), resource.Group, err)
	}
	return nil
}

// createBoth creates n objects of each kind, with several clients.
func (s *stage) createBoth(ctx context.Context, clients, n int, floor, ours *samples) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range clients {
		group.Go(func() error {
			c, err := s.client(plane, consumer)
			if err != nil {
				return err
			}
			for {
				i := next.Add(1)
				if i > int64(n) {
					return nil
				}
				if err := createPair(ctx, c, i, floor, ours); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// createPair creates an object of each kind, in alternating order.
func createPair(ctx context.Context, c dynamic.Interface, i int64, floor, ours *samples) error {
	turns := []struct {
		resource schema.GroupVersionResource
		into     *samples
	}{{floorResource, floor}, {workloadResource, ours}}
	for turn := range turns {
		this := turns[(turn+int(i))%len(turns)]
		sample, err := sampleAs(this.resource)
		if err != nil {
			return err
		}
		sample.SetName("bench-" + strconv.FormatInt(i, 10))
		began := time.Now()
		if err := dryCreate(ctx, c, this.resource, sample); err != nil {
			return err
		}
		this.into.add(time.Since(began))
	}
	return nil
}
