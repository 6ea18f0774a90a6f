// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"errors"
	"fmt"
	"maps"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addRoomSteps adds the sentences about the city and the capacity of a cell. Karmada divides replicas by its last known
// state of the cells, which it updates every few seconds; so each sentence waits until Karmada knows the change.
func addRoomSteps(sc world.Sentences) {
	sc.Step(`^cell "([^"]*)" (?:serves ([A-Z]+)|does not serve the city|belongs to no city)$`,
		func(ctx context.Context, cell, city string) error {
			return from(ctx).moveCell(ctx, cell, city)
		})
	sc.Step(`^cell "([^"]*)" is (forgotten|no longer forgotten)$`, func(ctx context.Context, cell, what string) error {
		s := from(ctx)
		if what == "forgotten" {
			return s.forgetCell(ctx, cell)
		}
		return s.Disturbed.Now(ctx, "the oblivion of cell "+cell)
	})
	sc.Step(`^cell "([^"]*)" has a quarter of the capacity of cell "([^"]*)"$`, func(ctx context.Context, small, large string) error {
		return from(ctx).shrink(ctx, small, large)
	})
	sc.Step(`^cells "([^"]*)" have (almost no|all their) capacity$`, func(ctx context.Context, cells, how string) error {
		var problems []error
		for _, cell := range world.SplitNames(cells) {
			if how == "almost no" {
				problems = append(problems, from(ctx).resize(ctx, cell, almostAll))
				continue
			}
			// Instances may start before Karmada reports the room: nothing is waited for.
			problems = append(problems, from(ctx).resizeNodes(ctx, cell, 1))
		}
		return errors.Join(problems...)
	})
}

// forgetCell declares a cell as permanently lost.
func (s Steps) forgetCell(ctx context.Context, cell string) error {
	annotate := func(ctx context.Context, value string) error {
		works := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "karmada-es-" + cell}}
		return world.UpdateWhenFree(ctx, s.Client("hub", world.Admin), works, func(works *corev1.Namespace) {
			metav1.SetMetaDataAnnotation(&works.ObjectMeta, v1alpha.AnnotationForget, value)
			if value == "" {
				delete(works.Annotations, v1alpha.AnnotationForget)
			}
		})
	}
	s.Disturbed.Add("the oblivion of cell "+cell, func(ctx context.Context) error { return annotate(ctx, "") })
	return annotate(ctx, "true")
}

// moveCell moves a cell to a city, or out of its city.
func (s Steps) moveCell(ctx context.Context, cell, city string) error {
	hub := s.Client("hub", world.Admin)
	move := func(ctx context.Context, city string) error {
		label := func(object client.Object) {
			labels := map[string]string{}
			maps.Copy(labels, object.GetLabels())
			labels[v1alpha.LabelTopologyCity] = naming.CityLabel(city)
			if city == "" {
				delete(labels, v1alpha.LabelTopologyCity)
			}
			object.SetLabels(labels)
		}
		cluster := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cell}}
		if err := world.UpdateWhenFree(ctx, hub, cluster, func(cluster *clusterv1alpha1.Cluster) { label(cluster) }); err != nil {
			return err
		}
		// The confirmation, which the agents of other cells make necessary.
		works := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: karmadanames.GenerateExecutionSpaceName(cell)}}
		return world.UpdateWhenFree(ctx, hub, works, func(works *corev1.Namespace) { label(works) })
	}
	known, ok := s.Extra[cell]
	if !ok {
		return fmt.Errorf("cell %q is not this scenario's to move", cell)
	}
	s.Made.Add("the city of cell "+cell, func(ctx context.Context) error { return move(ctx, known.City) })
	return move(ctx, city)
}

// shrink gives the nodes of a cell a quarter of the capacity of another cell's nodes, and waits until Karmada knows.
func (s Steps) shrink(ctx context.Context, small, large string) error {
	return errors.Join(s.resize(ctx, small, 4), s.Known(ctx, large, 1))
}

// almostAll divides the capacity of a node so that one Instance fits at most.
const almostAll = 32

// resize divides the capacity of the nodes of a cell until the end of the scenario, and waits until Karmada knows.
func (s Steps) resize(ctx context.Context, cell string, divisor int64) error {
	s.Made.Add("the nodes of cell "+cell, func(ctx context.Context) error { return s.resizeNodes(ctx, cell, 1) })
	if err := s.resizeNodes(ctx, cell, divisor); err != nil {
		return err
	}
	return s.Known(ctx, cell, divisor)
}

// resizeNodes sets the capacity of the nodes of a cell to their full capacity, divided by divisor.
func (s Steps) resizeNodes(ctx context.Context, cell string, divisor int64) error {
	c := s.Client("cell/"+cell, world.Admin)
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return err
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if !world.RunsInstances(node) {
			continue
		}
		before := node.DeepCopy()
		for name, capacity := range node.Status.Capacity {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourcePods {
				node.Status.Allocatable[name] = *resource.NewQuantity(capacity.Value()/divisor, capacity.Format)
			}
		}
		if err := c.Status().Patch(ctx, node, client.MergeFrom(before)); err != nil {
			return err
		}
	}
	return nil
}
