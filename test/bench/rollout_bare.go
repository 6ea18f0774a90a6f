// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// bareResource are objects like Instances that no controller watches.
var bareResource = schema.GroupVersionResource{Group: floorGroup, Version: "v1alpha", Resource: "instances"}

// bareWriters is how many plain clients write to a plane at once.
const bareWriters = 4

// bareWrites are the writes without which no rollout of Instances can be seen: in the cell and in the project, each
// Instance gets the next template, and a status with it.
type bareWrites struct {
	*rolloutBench
	// project has an object for each Instance of all cells, and inCells for each of a cell, by its name.
	project dynamic.ResourceInterface
	inCells map[string]dynamic.ResourceInterface
	made    int
}

// openBare installs the kind of the objects in the project and in the cells.
func (b *rolloutBench) openBare(ctx context.Context) (*bareWrites, error) {
	bare := &bareWrites{rolloutBench: b, inCells: map[string]dynamic.ResourceInterface{}}
	install := func(plane string) (dynamic.ResourceInterface, error) {
		crd, err := floorCRD("instances")
		if err != nil {
			return nil, err
		}
		admin, err := b.client(plane, federation.Admin)
		if err != nil {
			return nil, err
		}
		if _, err := admin.Resource(crdResource).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
		objects := admin.Resource(bareResource).Namespace("default")
		return objects, eventually(ctx, func(ctx context.Context) error {
			_, err := objects.List(ctx, metav1.ListOptions{Limit: 1})
			return err
		})
	}
	var err error
	if bare.project, err = install(plane); err != nil {
		return nil, err
	}
	for _, cell := range b.cells {
		if bare.inCells[cell.Name], err = install("cell/" + cell.Name); err != nil {
			return nil, err
		}
	}
	return bare, nil
}

// eachObject calls do for each object from the given number on, some at once in each plane.
func (b *bareWrites) eachObject(ctx context.Context, from int, do func(context.Context, dynamic.ResourceInterface, string) error) error {
	all, ctx := errgroup.WithContext(ctx)
	per := b.size / b.cityCount
	for _, cell := range b.cells {
		for _, at := range []dynamic.ResourceInterface{b.inCells[cell.Name], b.project} {
			all.Go(func() error {
				group, ctx := errgroup.WithContext(ctx)
				group.SetLimit(bareWriters)
				for i := from; i < per; i++ {
					group.Go(func() error { return do(ctx, at, fmt.Sprintf("%s-%s-%d", rolledOut, cell.Name, i)) })
				}
				return group.Wait()
			})
		}
	}
	return all.Wait()
}

// resize creates the missing objects.
func (b *bareWrites) resize(ctx context.Context) error {
	spec := b.bareSpec()
	spec["location"] = map[string]any{"name": "dfw"}
	err := b.eachObject(ctx, b.made, func(ctx context.Context, at dynamic.ResourceInterface, name string) error {
		_, err := at.Create(ctx, object(floorGroup+"/v1alpha", v1alpha.KindInstance, name, map[string]any{"spec": spec}), metav1.CreateOptions{})
		return err
	})
	b.made = b.size / b.cityCount
	return err
}

func (b *bareWrites) bareSpec() map[string]any {
	workload, err := b.workload(1)
	if err != nil {
		return nil
	}
	spec, _, _ := unstructured.NestedMap(workload.Object, "spec", "template", "spec")
	spec["controller"] = map[string]any{"templateHash": fmt.Sprintf("template-%d", b.template)}
	return spec
}

// roll changes the template of all objects, and then the status of each.
func (b *bareWrites) roll(ctx context.Context) error {
	hash := fmt.Sprintf("template-%d", b.template)
	changed, err := encode(map[string]any{"spec": map[string]any{
		"controller": map[string]any{"templateHash": hash}, "runtime": map[string]any{"sandbox": map[string]any{"containers": b.containers()}},
	}})
	if err != nil {
		return err
	}
	var conditions []any
	for _, kind := range []string{v1alpha.ConditionReady, v1alpha.ConditionAvailable, v1alpha.ConditionProgrammed} {
		conditions = append(conditions, map[string]any{
			"type": kind, "status": "True", "reason": "Available", "message": hash,
			"lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": int64(b.template),
		})
	}
	status, err := encode(map[string]any{
		"status": map[string]any{"conditions": conditions, "controller": map[string]any{"observedTemplateHash": hash}},
	})
	if err != nil {
		return err
	}
	return b.eachObject(ctx, 0, func(ctx context.Context, at dynamic.ResourceInterface, name string) error {
		if _, err := at.Patch(ctx, name, types.MergePatchType, changed, metav1.PatchOptions{}); err != nil {
			return err
		}
		_, err := at.Patch(ctx, name, types.MergePatchType, status, metav1.PatchOptions{}, "status")
		return err
	})
}
