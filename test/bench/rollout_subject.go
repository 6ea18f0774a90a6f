// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/policies"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// rolledOut is the name of the Workload, and the begin of the names of the StatefulSets.
const rolledOut = "rolled"

// rolloutBench has a Workload in several cities, and the floor: a StatefulSet for each.
type rolloutBench struct {
	*stage
	*rolloutOptions

	sets, workloads dynamic.ResourceInterface
	// inCells are the StatefulSets in the cells, by the name of the cell.
	inCells  map[string]dynamic.ResourceInterface
	progress *progress
	// bare are the writes of the second floor.
	bare *bareWrites
	// idle is the CPU time of each process in idleFor at rest.
	idle cpuTimes
	// size is the number of Instances, template the number of the present template, and floorImage the image that the
	// floor has.
	size, template int
	floorImage     string
}

// openRollout prepares the hub for the floor.
func (s *stage) openRollout(ctx context.Context, o *rolloutOptions) (*rolloutBench, error) {
	if err := s.findAgents(ctx); err != nil {
		return nil, err
	}
	hub, err := s.client(hubPlane, federation.Admin)
	if err != nil {
		return nil, err
	}
	writer, err := s.client(plane, consumer)
	if err != nil {
		return nil, err
	}
	if _, err := hub.Resource(namespaceResource).Create(ctx, object("v1", "Namespace", readyNamespace, map[string]any{}),
		metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	inCells := map[string]dynamic.ResourceInterface{}
	for _, cell := range s.cells {
		member, err := s.client("cell/"+cell.Name, federation.Admin)
		if err != nil {
			return nil, err
		}
		inCells[cell.Name] = member.Resource(statefulSetResource).Namespace(readyNamespace)
		// As the deployments of the Workload, the floor names nothing.
		policy := policies.CityPolicy(readyNamespace, policies.City{Code: cell.City, Cells: []string{cell.Name}, Independent: true})
		policy.Spec.ResourceSelectors = []policyv1alpha1.ResourceSelector{{
			APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: readyNamespace, Name: setOf(cell),
		}}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(policy)
		if err != nil {
			return nil, err
		}
		applied := object(policyv1alpha1.GroupVersion.String(), "PropagationPolicy", policy.Name, fields)
		if _, err := hub.Resource(policyResource).Namespace(readyNamespace).Create(ctx, applied, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	b := &rolloutBench{
		stage: s, rolloutOptions: o, inCells: inCells, sets: hub.Resource(statefulSetResource).Namespace(readyNamespace),
		workloads: writer.Resource(workloadResource).Namespace(namespace),
	}
	b.bare, err = b.openBare(ctx)
	return b, err
}

// setOf returns the name of the StatefulSet in a cell.
func setOf(cell federation.Cell) string { return rolledOut + "-" + cell.Name }

// resize creates or scales the floor and the Workload, and waits until all Pods and Instances are Ready.
func (b *rolloutBench) resize(ctx context.Context, instances int) error {
	first := b.size == 0
	if first {
		b.floorImage = b.image()
	}
	each := int64(instances / b.cityCount)
	b.size = int(each) * b.cityCount
	for _, cell := range b.cells {
		if err := b.write(ctx, b.sets, first, b.set(cell, each), "spec", "replicas"); err != nil {
			return err
		}
	}
	for _, cell := range b.cells {
		if err := b.waitSet(ctx, cell, each); err != nil {
			return err
		}
	}
	workload, err := b.workload(each)
	if err != nil {
		return err
	}
	if err := b.write(ctx, b.workloads, first, workload, "spec", "placements"); err != nil {
		return err
	}
	if err := b.bare.resize(ctx); err != nil {
		return err
	}
	return b.waitWorkload(ctx)
}

// write creates an object, or replaces one of its fields.
func (b *rolloutBench) write(
	ctx context.Context, at dynamic.ResourceInterface, first bool, wanted *unstructured.Unstructured, field ...string,
) error {
	if first {
		_, err := at.Create(ctx, wanted, metav1.CreateOptions{})
		return err
	}
	value, _, _ := unstructured.NestedFieldNoCopy(wanted.Object, field...)
	changed := map[string]any{}
	if err := unstructured.SetNestedField(changed, runtime.DeepCopyJSONValue(value), field...); err != nil {
		return err
	}
	return patch(ctx, at, wanted.GetName(), changed)
}

// patch merges fields into an object.
func patch(ctx context.Context, at dynamic.ResourceInterface, name string, fields map[string]any) error {
	text, err := encode(fields)
	if err != nil {
		return err
	}
	_, err = at.Patch(ctx, name, types.MergePatchType, text, metav1.PatchOptions{})
	return err
}

func encode(fields map[string]any) ([]byte, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encode a patch: %w", err)
	}
	return text, nil
}

// image returns the image of the present template.
func (b *rolloutBench) image() string { return fmt.Sprintf("registry.example.com/app:%d", b.template) }

// containers returns the containers of the present template.
func (b *rolloutBench) containers() []any {
	return []any{map[string]any{"name": "app", "image": b.image()}}
}

// set returns the StatefulSet of a cell.
func (b *rolloutBench) set(cell federation.Cell, replicas int64) *unstructured.Unstructured {
	name := setOf(cell)
	labels := map[string]any{"app": name}
	o := object("apps/v1", "StatefulSet", name, map[string]any{"spec": map[string]any{
		"replicas": replicas, "serviceName": name, "podManagementPolicy": "Parallel", "selector": map[string]any{"matchLabels": labels},
		"updateStrategy": map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": b.unavailable}},
		"template":       map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": b.requesting()}},
	}})
	o.SetNamespace(readyNamespace)
	return o
}

// requesting returns the containers of the present template with requests, as a StatefulSet has them.
func (b *rolloutBench) requesting() []any {
	containers := b.containers()
	//nolint:forcetypeassert // containers returns maps
	containers[0].(map[string]any)["resources"] = map[string]any{"requests": smallRequests()}
	return containers
}

// workload returns the Workload with so many Instances in each city.
func (b *rolloutBench) workload(each int64) (*unstructured.Unstructured, error) {
	o, err := newWorkload(rolledOut)
	if err != nil {
		return nil, err
	}
	placement := map[string]any{
		"name": "main", "cityCodes": toAny(rolloutCities[:b.cityCount]),
		"scaleSettings": map[string]any{"minReplicas": each, "instanceManagementPolicy": string(v1alpha.Parallel)},
	}
	if err := unstructured.SetNestedSlice(o.Object, []any{placement}, "spec", "placements"); err != nil {
		return nil, err
	}
	return o, unstructured.SetNestedField(o.Object, map[string]any{"maxUnavailable": b.unavailable, "maxSurge": int64(0)}, "spec", "rollout")
}

func toAny(texts []string) []any {
	values := make([]any, 0, len(texts))
	for _, text := range texts {
		values = append(values, text)
	}
	return values
}

// rollFloor gives the StatefulSets the present template, and waits until all Pods have it and are Ready.
func (b *rolloutBench) rollFloor(ctx context.Context, mode rolloutMode) error {
	each := int64(b.size / b.cityCount)
	b.floorImage = b.image()
	for begin := 0; begin < len(b.cells); begin += mode.atOnce {
		group := b.cells[begin:min(begin+mode.atOnce, len(b.cells))]
		for _, cell := range group {
			if err := patch(ctx, b.sets, setOf(cell), map[string]any{
				"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": b.requesting()}}},
			}); err != nil {
				return err
			}
		}
		for _, cell := range group {
			if err := b.waitSet(ctx, cell, each); err != nil {
				return err
			}
		}
	}
	return nil
}

// rollWorkload gives the Workload the present template, and waits until the rollout is complete.
func (b *rolloutBench) rollWorkload(ctx context.Context, mode rolloutMode) error {
	rollout := map[string]any{"citiesAtOnce": int64(mode.atOnce), "batch": nil}
	if mode.batch != "" {
		rollout["batch"] = mode.batch
	}
	if err := patch(ctx, b.workloads, rolledOut, map[string]any{"spec": map[string]any{
		"rollout":  rollout,
		"template": map[string]any{"spec": map[string]any{"runtime": map[string]any{"sandbox": map[string]any{"containers": b.containers()}}}},
	}}); err != nil {
		return err
	}
	return b.waitWorkload(ctx)
}

// waitSet waits until all Pods of a StatefulSet have its template and are Ready, and the hub shows that. Karmada's
// counts alone may belong to the template before.
func (b *rolloutBench) waitSet(ctx context.Context, cell federation.Cell, replicas int64) error {
	image := b.floorImage
	if err := b.wait(ctx, b.inCells[cell.Name], setOf(cell),
		func(set *unstructured.Unstructured) string { return setProgress(set, image, replicas) }); err != nil {
		return err
	}
	return b.wait(ctx, b.sets, setOf(cell), func(set *unstructured.Unstructured) string {
		return lacking(set, replicas, "replicas", "readyReplicas", "updatedReplicas")
	})
}

// waitWorkload waits until the project shows that all Instances have the template of the Workload and are Available.
func (b *rolloutBench) waitWorkload(ctx context.Context) error {
	return b.wait(ctx, b.workloads, rolledOut, func(workload *unstructured.Unstructured) string {
		return workloadProgress(workload,
			int64(b.size))
	})
}

// wait waits until missing returns "" for an object, and returns its last answer after the deadline.
func (b *rolloutBench) wait(
	ctx context.Context, at dynamic.ResourceInterface, name string, missing func(*unstructured.Unstructured) string,
) error {
	last := "it was never read"
	err := wait.PollUntilContextTimeout(ctx, interval, b.deadline, true, func(ctx context.Context) (bool, error) {
		read, err := at.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			last = err.Error()
			return false, nil //nolint:nilerr // it is retried until the deadline
		}
		last = missing(read)
		return last == "", nil
	})
	if err != nil {
		return fmt.Errorf("%s is not complete after %s: %s: %w", name, b.deadline.Round(time.Second), last, err)
	}
	return nil
}

// setProgress returns what a StatefulSet in a cell lacks until all of its Pods have an image, or "".
func setProgress(set *unstructured.Unstructured, image string, replicas int64) string {
	containers, _, _ := unstructured.NestedSlice(set.Object, "spec", "template", "spec", "containers")
	if len(containers) != 1 || containers[0].(map[string]any)["image"] != image { //nolint:forcetypeassert // containers are objects
		return "it has another template"
	}
	observed, _, _ := unstructured.NestedInt64(set.Object, "status", "observedGeneration")
	if observed != set.GetGeneration() {
		return fmt.Sprintf("generation %d of %d is observed", observed, set.GetGeneration())
	}
	return lacking(set, replicas, "replicas", "readyReplicas", "updatedReplicas")
}

// workloadProgress returns what a Workload lacks until its rollout is complete, or "".
func workloadProgress(workload *unstructured.Unstructured, replicas int64) string {
	observed, _, _ := unstructured.NestedInt64(workload.Object, "status", "observedGeneration")
	phase, _, _ := unstructured.NestedString(workload.Object, "status", "rollout", "phase")
	if observed != workload.GetGeneration() || phase != string(v1alpha.RolloutComplete) {
		message, _, _ := unstructured.NestedString(workload.Object, "status", "rollout", "message")
		return fmt.Sprintf("generation %d of %d is observed, the rollout is %s: %s", observed, workload.GetGeneration(), phase, message)
	}
	return lacking(workload, replicas, "replicas", "readyReplicas", "updatedReplicas")
}

// lacking returns the counts of a status that differ from the wanted one.
func lacking(o *unstructured.Unstructured, wanted int64, names ...string) string {
	var differ []string
	for _, name := range names {
		if count, _, _ := unstructured.NestedInt64(o.Object, "status", name); count != wanted {
			differ = append(differ, fmt.Sprintf("%s is %d of %d", name, count, wanted))
		}
	}
	return strings.Join(differ, ", ")
}
