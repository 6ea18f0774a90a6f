// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

var (
	podResource   = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	leaseResource = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
)

// scaleBench has Workloads in a project, and changes the Pods of their Instances.
type scaleBench struct {
	*stage
	*scaleOptions

	hub, project, writer dynamic.Interface
	members              map[string]dynamic.Interface
	shown                *shownInstances
	progress             *progress
	// filled is the number of Workloads.
	filled int
	// pods are the Pods that are changed, in the order in which they are.
	pods []*scalePod
	next int
}

// scalePod is a Pod of an Instance.
type scalePod struct {
	cell            dynamic.ResourceInterface
	name, namespace string
	instance        string
	ready           bool
}

func (s *stage) openScale(ctx context.Context, o *scaleOptions) (*scaleBench, error) {
	b := &scaleBench{stage: s, scaleOptions: o, members: map[string]dynamic.Interface{}}
	for _, of := range []struct {
		at, user string
		into     *dynamic.Interface
	}{{hubPlane, federation.Admin, &b.hub}, {plane, federation.Admin, &b.project}, {plane, consumer, &b.writer}} {
		var err error
		if *of.into, err = s.client(of.at, of.user); err != nil {
			return nil, err
		}
	}
	for _, cell := range s.cells {
		client, err := s.client("cell/"+cell.Name, federation.Admin)
		if err != nil {
			return nil, err
		}
		b.members[cell.Name] = client
	}
	b.shown = followInstances(ctx, b.project.Resource(instanceResource).Namespace(namespace))
	return b, nil
}

// fill creates Workloads and waits until the project shows all Instances as Ready.
func (b *scaleBench) fill(ctx context.Context, r *scaleResult) error {
	if err := b.settled(ctx); err != nil {
		return err
	}
	if err := b.findAgents(ctx); err != nil {
		return err
	}
	added := r.deployments - b.filled
	requests, err := b.requests(ctx)
	if err != nil {
		return err
	}
	stored, err := b.storedBytes(ctx)
	if err != nil {
		return err
	}
	cpu, begin := b.cpu(), time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(b.burst)
	for ; b.filled < r.deployments; b.filled++ {
		workload, err := b.workload(b.filled)
		if err != nil {
			return err
		}
		group.Go(func() error {
			_, err := b.writer.Resource(workloadResource).Namespace(namespace).Create(groupCtx, workload, metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := b.shown.await(ctx, b.patience, func() (string, bool) {
		ready := b.shown.readyCount()
		return fmt.Sprintf("%d of %d Instances are Ready", ready, r.instances), ready >= r.instances
	}); err != nil {
		return err
	}
	r.filled, r.added = time.Since(begin), added
	if err := b.settled(ctx); err != nil {
		return err
	}
	r.cpu = b.cpu().since(cpu).each(added)
	after, err := b.requests(ctx)
	if err != nil {
		return err
	}
	r.writes = eachAdded(requests, after, added)
	storedAfter, err := b.storedBytes(ctx)
	r.bytes = eachAdded(stored, storedAfter, added)
	return err
}

// eachAdded returns the differences between two counts, divided by a number of deployments.
func eachAdded(before, after map[string]int, added int) map[string]float64 {
	each := map[string]float64{}
	for name, count := range after {
		each[name] = float64(count-before[name]) / float64(added)
	}
	return each
}

// workload returns the Workload of a number. The cities get the Workloads in turn.
func (b *scaleBench) workload(number int) (*unstructured.Unstructured, error) {
	o, err := newWorkload(fmt.Sprintf("scale-%d", number))
	if err != nil {
		return nil, err
	}
	placement := map[string]any{
		"name": "main", "cityCodes": []any{b.cells[number%len(b.cells)].City},
		"scaleSettings": map[string]any{"minReplicas": int64(b.instances), "instanceManagementPolicy": string(v1alpha.Parallel)},
	}
	return o, unstructured.SetNestedSlice(o.Object, []any{placement}, "spec", "placements")
}

// settle measures memory at rest, and finds the Pods to change.
func (b *scaleBench) settle(ctx context.Context, r *scaleResult) error {
	before := slices.Clone(b.agentPIDs)
	if err := b.findAgents(ctx); err != nil {
		return err
	}
	if !slices.Equal(before, b.agentPIDs) {
		b.progress.printf("agents have restarted: the CPU time of the ended processes is not counted")
	}
	r.memory = b.memory()
	return b.choosePods(ctx)
}

// choosePods chooses the Pods of some deployments: neighbours in the list are of different ones.
func (b *scaleBench) choosePods(ctx context.Context) error {
	stormed := min(b.stormed, b.filled)
	by := map[string][]*scalePod{}
	for i := range stormed {
		number := i * b.filled / stormed
		cell := b.cells[number%len(b.cells)].Name
		workload := fmt.Sprintf("scale-%d", number)
		pods, err := b.podsOf(ctx, cell, workload)
		if err != nil {
			return err
		}
		by[workload] = pods
	}
	b.pods, b.next = nil, 0
	for index := range b.instances {
		for i := range stormed {
			pods := by[fmt.Sprintf("scale-%d", i*b.filled/stormed)]
			if index < len(pods) {
				b.pods = append(b.pods, pods[index])
			}
		}
	}
	if len(b.pods) < stormed*b.instances {
		return fmt.Errorf("the cells have %d of %d Pods of %d deployments", len(b.pods), stormed*b.instances, stormed)
	}
	return nil
}

// podsOf returns the Pods of a Workload in a cell.
func (b *scaleBench) podsOf(ctx context.Context, cell, workload string) ([]*scalePod, error) {
	list, err := b.members[cell].Resource(podResource).List(ctx, metav1.ListOptions{LabelSelector: v1alpha.LabelWorkloadName + "=" + workload})
	if err != nil {
		return nil, fmt.Errorf("list Pods of cell %s: %w", cell, err)
	}
	var pods []*scalePod
	for i := range list.Items {
		of := &list.Items[i]
		pods = append(pods, &scalePod{
			cell: b.members[cell].Resource(podResource).Namespace(of.GetNamespace()), name: of.GetName(), namespace: of.GetNamespace(),
			instance: of.GetName(), ready: true,
		})
	}
	return pods, nil
}

// toggle changes condition Ready of a Pod, as its probe does. The project shall show that.
func (b *scaleBench) toggle(ctx context.Context, pod *scalePod) error {
	pod.ready = !pod.ready
	status := metav1.ConditionFalse
	if pod.ready {
		status = metav1.ConditionTrue
	}
	b.shown.expect(pod.instance, pod.ready)
	text := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"lastTransitionTime":%q}]}}`, status,
		time.Now().UTC().Format(time.RFC3339))
	if _, err := pod.cell.Patch(ctx, pod.name, types.StrategicMergePatchType, []byte(text), metav1.PatchOptions{}, "status"); err != nil {
		return fmt.Errorf("change Pod %s: %w", pod.name, err)
	}
	return nil
}

// chosen returns the next Pod whose last change is shown, or nil.
func (b *scaleBench) chosen() *scalePod {
	for range b.pods {
		pod := b.pods[b.next]
		b.next = (b.next + 1) % len(b.pods)
		if !b.shown.expects(pod.instance) {
			return pod
		}
	}
	return nil
}

// calm measures changes one after the other.
func (b *scaleBench) calm(ctx context.Context, r *scaleResult) error {
	b.shown.reset()
	for range b.changes {
		if err := b.toggle(ctx, b.chosen()); err != nil {
			return err
		}
		if err := b.shown.awaitAll(ctx, b.patience); err != nil {
			return err
		}
	}
	r.calm = b.shown.lag.summary()
	return nil
}

// blow measures many changes a second.
func (b *scaleBench) blow(ctx context.Context, r *scaleResult) error {
	if err := b.settled(ctx); err != nil {
		return err
	}
	b.shown.reset()
	cpu, begin := b.cpu(), time.Now()
	ticker := time.NewTicker(time.Second / time.Duration(b.storm))
	defer ticker.Stop()
	group, groupCtx := errgroup.WithContext(ctx)
	changed, refused := 0, 0
	for time.Since(begin) < b.stormFor {
		if pod := b.chosen(); pod != nil {
			changed++
			b.shown.expect(pod.instance, !pod.ready)
			group.Go(func() error { return b.toggle(groupCtx, pod) })
		} else {
			refused++
		}
		select {
		case <-ticker.C:
		case <-groupCtx.Done():
			return group.Wait()
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	r.stormRate = float64(changed) / time.Since(begin).Seconds()
	if err := b.shown.awaitAll(ctx, b.patience); err != nil {
		return err
	}
	r.stormShown = float64(changed) / time.Since(begin).Seconds()
	r.storm = b.shown.lag.summary()
	if refused > 0 {
		b.progress.printf("%d changes were left out: the change before was not shown", refused)
	}
	if err := b.settled(ctx); err != nil {
		return err
	}
	r.stormCPU = b.cpu().since(cpu).each(changed)
	return nil
}

// takeOver kills the replica that has the project, changes a Pod, and waits until the project shows that.
func (b *scaleBench) takeOver(ctx context.Context, r *scaleResult) error {
	var owner int
	if err := eventually(ctx, func(ctx context.Context) (err error) {
		owner, err = b.owner(ctx)
		return err
	}); err != nil {
		return err
	}
	b.shown.reset()
	begin := time.Now()
	if err := b.addOn.Kill(ctx, owner); err != nil {
		return err
	}
	if err := b.toggle(ctx, b.chosen()); err != nil {
		return err
	}
	if err := b.shown.awaitAll(ctx, b.patience); err != nil {
		return err
	}
	r.takeover = time.Since(begin)
	return b.addOn.Start(ctx, owner)
}

// heal returns all Pods to Ready.
func (b *scaleBench) heal(ctx context.Context, _ *scaleResult) error {
	for _, pod := range b.pods {
		if pod.ready {
			continue
		}
		if err := b.toggle(ctx, pod); err != nil {
			return err
		}
	}
	return b.shown.awaitAll(ctx, b.patience)
}

// owner returns the replica that has the project, when each replica has shards.
func (b *scaleBench) owner(ctx context.Context) (int, error) {
	record, err := b.hub.Resource(leaseResource).Namespace("karmada-system").Get(ctx, v1alpha.LeaseShards, metav1.GetOptions{})
	if err != nil {
		return 0, fmt.Errorf("read the record of the shards: %w", err)
	}
	by, err := v1alpha.ParseShards(record.GetAnnotations()[v1alpha.AnnotationShards])
	if err != nil {
		return 0, err
	}
	holder := map[int]string{}
	for replica, shards := range by {
		for _, shard := range shards {
			holder[shard] = replica
		}
	}
	found := -1
	for i := range b.addOn.Replicas() {
		name, err := b.addOn.ReplicaName(i)
		if err != nil {
			return 0, err
		}
		if len(by[name]) == 0 {
			return 0, fmt.Errorf("replica %s has no shards: %v", name, by)
		}
		if holder[naming.ProjectKey(project).Shard(len(holder))] == name {
			found = i
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("no replica has the project's shard: %v", by)
	}
	return found, nil
}
