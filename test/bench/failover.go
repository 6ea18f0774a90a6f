// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

type failoverOptions struct {
	instances, kills int
	after, blink     time.Duration
	karmada, addOn   []string
}

func failoverCommand() *cobra.Command {
	o := failoverOptions{}
	cmd := &cobra.Command{
		Use:   "failover",
		Short: "Measure how soon the Instances of a lost cell are Ready in another one, what a cell costs that is away for a moment, and the takeover from a killed replica",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.instances < 2 || o.kills < 0 || o.blink < 0 {
				return errors.New("--instances: use 2 or more; --kills, --blink: use 0 or more")
			}
			return runFailover(cmd, &o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.instances, "instances", 8, "how many Instances two cells share")
	flags.IntVar(&o.kills, "kills", 4, "how many replicas are killed, one after the other")
	flags.DurationVar(&o.after, "cell-failover-after", 15*time.Second, "the add-on's flag")
	flags.DurationVar(&o.blink, "blink", 10*time.Second, "how long a cell is away before it is lost; 0: the cell is lost at once")
	// docs/reference/failover.md recommends these.
	flags.StringSliceVar(&o.karmada, "karmada-flags", []string{"--cluster-status-update-frequency=5s", "--cluster-failure-threshold=20s", "--cluster-success-threshold=30s"},
		"flags of karmada-controller-manager")
	flags.StringSliceVar(&o.addOn, "flags", nil, "more flags of the add-on, for example --peer-bind-address=0")
	return cmd
}

// Cells of the city.
const (
	keptCell = "kept"
	lostCell = "lost"
)

func runFailover(cmd *cobra.Command, o *failoverOptions) error {
	cells := newReport(cmd, "A cell that is away", "", "Instances there", "Cluster not Ready after", "all Ready elsewhere after", "Instances that moved", "writes project", "hub", "writes at rest project", "hub")
	takeovers := newReport(cmd, "A killed replica", "kill", "shards have owners after", "writes of Leases a second at rest")
	progress := newProgress(cmd)
	s := &stage{
		out: cmd.ErrOrStderr(), health: o.karmada, cells: []federation.Cell{{Name: keptCell, City: city}, {Name: lostCell, City: city}},
		addOnOptions: federation.AddOnOptions{Replicas: 2, Args: append([]string{"--cell-failover-after=" + o.after.String()}, o.addOn...)},
	}
	err := s.with(cmd.Context(), func(ctx context.Context, s *stage) error {
		f, err := s.openFailover(ctx, o)
		if err != nil {
			return err
		}
		for kill := range o.kills {
			progress.printf("replica %d is killed", kill%2)
			row, err := f.takeover(ctx, kill%2)
			if err != nil {
				return err
			}
			takeovers.add(row...)
		}
		if o.blink > 0 {
			progress.printf("the cell is away for %s", o.blink)
			row, err := f.away(ctx, o.blink)
			if err != nil {
				return err
			}
			cells.add(row...)
		}
		progress.printf("the cell is lost")
		row, err := f.away(ctx, 0)
		if err != nil {
			return err
		}
		cells.add(row...)
		return nil
	})
	cells.note("From the kill of the cell's kube-apiserver. Ready elsewhere: the other cell has all Instances, and the project shows all of them as Ready.")
	cells.note("Writes of all users but those of Leases and Events, and of the status of Clusters, in 60 s from the kill or until the Instances are Ready, and in a minute before.")
	cells.note("Karmada: %s. The add-on: --cell-failover-after=%s.", strings.Join(o.karmada, " "), o.after)
	takeovers.note("From the kill until the record of the shards no longer has the replica. Writes: those of the replicas' Leases and of the record, in 30 s before the kill.")
	for _, table := range []*report{cells, takeovers} {
		err = errors.Join(err, table.write(cmd.OutOrStdout()))
	}
	return err
}

// failover has what is watched.
type failover struct {
	*stage
	instances          int
	project, hub, kept dynamic.Interface
	lost               dynamic.Interface
}

var (
	clusterResource = schema.GroupVersionResource{Group: "cluster.karmada.io", Version: "v1alpha1", Resource: "clusters"}
	leaseResource   = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
)

// openFailover creates a Workload and waits until both cells have some of its Instances.
func (s *stage) openFailover(ctx context.Context, o *failoverOptions) (*failover, error) {
	f := &failover{stage: s, instances: o.instances}
	for at, into := range map[string]*dynamic.Interface{plane: &f.project, hubPlane: &f.hub, "cell/" + keptCell: &f.kept, "cell/" + lostCell: &f.lost} {
		var err error
		if *into, err = s.client(at, federation.Admin); err != nil {
			return nil, err
		}
	}
	writer, err := s.client(plane, consumer)
	if err != nil {
		return nil, err
	}
	workload, err := sampleAs(workloadResource)
	if err != nil {
		return nil, err
	}
	placements, _, _ := unstructured.NestedSlice(workload.Object, "spec", "placements")
	if err := unstructured.SetNestedField(placements[0].(map[string]any), int64(o.instances), "scaleSettings", "minReplicas"); err != nil { //nolint:forcetypeassert // the sample has it
		return nil, fmt.Errorf("set the replicas of the sample: %w", err)
	}
	if err := unstructured.SetNestedSlice(workload.Object, placements, "spec", "placements"); err != nil {
		return nil, fmt.Errorf("set the placements of the sample: %w", err)
	}
	if _, err := writer.Resource(workloadResource).Namespace(namespace).Create(ctx, workload, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("create the Workload: %w", err)
	}
	return f, eventually(ctx, func(ctx context.Context) error {
		kept, err := f.uids(ctx, f.kept)
		if err != nil {
			return err
		}
		if len(kept) == 0 || len(kept) == o.instances {
			return fmt.Errorf("cell %s has %d of %d Instances", keptCell, len(kept), o.instances)
		}
		return f.ready(ctx, o.instances)
	})
}

// uids are the Instances of a cell.
func (f *failover) uids(ctx context.Context, cell dynamic.Interface) (map[string]bool, error) {
	list, err := cell.Resource(instanceResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list Instances: %w", err)
	}
	uids := map[string]bool{}
	for i := range list.Items {
		uids[string(list.Items[i].GetUID())] = true
	}
	return uids, nil
}

// ready returns an error unless so many Instances are Ready in the project.
func (f *failover) ready(ctx context.Context, wanted int) error {
	list, err := f.project.Resource(instanceResource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list Instances of the project: %w", err)
	}
	ready := 0
	for i := range list.Items {
		if isReady(&list.Items[i]) {
			ready++
		}
	}
	if ready != wanted || len(list.Items) != wanted {
		return fmt.Errorf("%d of %d Instances are Ready, %d exist", ready, wanted, len(list.Items))
	}
	return nil
}

// isReady reports whether condition Ready of an object is True.
func isReady(object *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == "Ready" {
			return c["status"] == "True"
		}
	}
	return false
}

// observed is how long a minute of watching writes is.
const observed = time.Minute

// away kills the cell and measures. It is started again after some time, if that is not 0.
func (f *failover) away(ctx context.Context, back time.Duration) ([]string, error) {
	kept, err := f.uids(ctx, f.kept)
	if err != nil {
		return nil, err
	}
	rest := time.Now().Add(-observed)
	projectRest, hubRest, err := f.counted(rest, time.Now())
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := f.federation.StopCell(ctx, lostCell); err != nil {
		return nil, err
	}
	name, noticed, moved := "lost", "never", "-"
	if back > 0 {
		name = fmt.Sprintf("down for %s", back)
		if noticed, err = f.blink(ctx, begin, back); err != nil {
			return nil, err
		}
	} else if noticed, moved, err = f.lose(ctx, begin); err != nil {
		return nil, err
	}
	projectWrites, hubWrites, err := f.counted(begin, time.Now())
	if err != nil {
		return nil, err
	}
	now, err := f.uids(ctx, f.kept)
	if err != nil {
		return nil, err
	}
	return []string{
		name, fmt.Sprint(f.instances - len(kept)), noticed, moved, fmt.Sprint(len(now) - len(kept)),
		fmt.Sprint(projectWrites), fmt.Sprint(hubWrites), fmt.Sprint(projectRest), fmt.Sprint(hubRest),
	}, nil
}

// blink starts the cell again after some time, and watches for a minute whether its Cluster is Ready.
func (f *failover) blink(ctx context.Context, begin time.Time, back time.Duration) (noticed string, err error) {
	noticed = "never"
	started := false
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for time.Since(begin) < observed {
		if !started && time.Since(begin) >= back {
			if err := f.federation.StartCell(ctx, lostCell); err != nil {
				return "", err
			}
			started = true
		}
		if !f.clusterReady(ctx) && noticed == "never" {
			noticed = seconds(begin)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return noticed, nil
}

// lose waits until all Instances are Ready in the other cell.
func (f *failover) lose(ctx context.Context, begin time.Time) (noticed, moved string, err error) {
	err = eventually(ctx, func(ctx context.Context) error {
		if noticed == "" {
			if f.clusterReady(ctx) {
				return errors.New("the Cluster is still Ready")
			}
			noticed = seconds(begin)
		}
		uids, err := f.uids(ctx, f.kept)
		if err != nil {
			return err
		}
		if len(uids) != f.instances {
			return fmt.Errorf("cell %s has %d of %d Instances", keptCell, len(uids), f.instances)
		}
		return f.ready(ctx, f.instances)
	})
	return noticed, seconds(begin), err
}

func seconds(since time.Time) string { return fmt.Sprintf("%.1f s", time.Since(since).Seconds()) }

func (f *failover) clusterReady(ctx context.Context) bool {
	cluster, err := f.hub.Resource(clusterResource).Get(ctx, lostCell, metav1.GetOptions{})
	return err != nil || isReady(cluster)
}

// counted are the writes of the project and the hub in a time.
func (f *failover) counted(from, to time.Time) (project, hub int, err error) {
	count := func(plane string) (number int, err error) {
		writes, err := f.federation.Writes(plane, from)
		for _, write := range writes {
			switch {
			case strings.HasSuffix(write.Resource, "/leases"), strings.HasSuffix(write.Resource, "/events"), strings.Contains(write.Resource, "/clusters"):
			case write.Time.Before(to):
				number++
			}
		}
		return number, err
	}
	if project, err = count(plane); err != nil {
		return 0, 0, err
	}
	hub, err = count(hubPlane)
	return project, hub, err
}

// takeover kills a replica when both have shards, and starts it again.
func (f *failover) takeover(ctx context.Context, i int) ([]string, error) {
	name, err := f.addOn.ReplicaName(i)
	if err != nil {
		return nil, err
	}
	if err := eventually(ctx, func(ctx context.Context) error {
		text, err := f.shards(ctx)
		if err == nil && !strings.Contains(text, name) {
			err = fmt.Errorf("%s has no shards: %s", name, text)
		}
		return err
	}); err != nil {
		return nil, err
	}
	const rest = 30 * time.Second
	select {
	case <-time.After(rest):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	writes, err := f.federation.Writes(hubPlane, time.Now().Add(-rest))
	if err != nil {
		return nil, err
	}
	leases := 0
	for _, write := range writes {
		if strings.HasSuffix(write.Resource, "/leases") && strings.HasPrefix(write.Name, "karmada-compute-") {
			leases++
		}
	}
	begin := time.Now()
	if err := f.addOn.Kill(ctx, i); err != nil {
		return nil, err
	}
	err = eventually(ctx, func(ctx context.Context) error {
		text, err := f.shards(ctx)
		if err == nil && strings.Contains(text, name) {
			err = fmt.Errorf("%s has shards: %s", name, text)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	row := []string{name, seconds(begin), fmt.Sprintf("%.2f", float64(leases)/rest.Seconds())}
	return row, f.addOn.Start(ctx, i)
}

// shards are the text of the record of the shards.
func (f *failover) shards(ctx context.Context) (string, error) {
	record, err := f.hub.Resource(leaseResource).Namespace("karmada-system").Get(ctx, v1alpha.LeaseShards, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read the record of the shards: %w", err)
	}
	return record.GetAnnotations()[v1alpha.AnnotationShards], nil
}
