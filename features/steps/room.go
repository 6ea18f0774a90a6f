// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// addRoomSteps are the sentences about which city a cell serves and what it has room for. Karmada divides replicas by what it
// knew of the cells at that moment, and it learns every few seconds; so each waits until Karmada knows.
func addRoomSteps(sc sentences) {
	sc.Step(`^cell "([^"]*)" (?:serves ([A-Z]+)|does not serve the city)$`, func(ctx context.Context, cell, city string) error {
		return from(ctx).moveCell(ctx, cell, city)
	})
	sc.Step(`^cell "([^"]*)" belongs to no city$`, func(ctx context.Context, cell string) error {
		return from(ctx).moveCell(ctx, cell, "")
	})
	sc.Step(`^cell "([^"]*)" is (forgotten|no longer forgotten)$`, func(ctx context.Context, cell, what string) error {
		s := from(ctx)
		if what == "forgotten" {
			return s.forgetCell(ctx, cell)
		}
		return s.disturbed.now(ctx, "the oblivion of cell "+cell)
	})
	sc.Step(`^cell "([^"]*)" has room for a quarter of what cell "([^"]*)" has room for$`, func(ctx context.Context, small, large string) error {
		return from(ctx).shrink(ctx, small, large)
	})
}

// knownToBeEmpty waits until Karmada knows a cell to be Ready, with all the room that it has by nature and nothing in it.
func (s *scenario) knownToBeEmpty(ctx context.Context, cell string) error {
	return s.known(ctx, cell, 1)
}

// known waits until Karmada knows a cell to be Ready and empty, each node with a part of its capacity as room. What Karmada
// counts is nodes by the grade of what is free there: a single Pod moves a node into a lower grade, which halves it.
func (s *scenario) known(ctx context.Context, cell string, divisor int64) error {
	c := s.client("cell/"+cell, admin)
	return eventually(ctx, func(ctx context.Context) error {
		var nodes corev1.NodeList
		var agents corev1.PodList
		if err := errors.Join(c.List(ctx, &nodes), c.List(ctx, &agents, client.InNamespace(agentNamespace))); err != nil {
			return err
		}
		var room int64
		for i := range nodes.Items {
			capacity := nodes.Items[i].Status.Capacity.Cpu().MilliValue()
			if runsInstances(&nodes.Items[i]) {
				capacity /= divisor
			}
			room += capacity
		}
		cluster, err := s.cluster(ctx, cell)
		if err != nil {
			return err
		}
		summary := cluster.Status.ResourceSummary
		if summary == nil || !meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady) {
			return fmt.Errorf("Karmada does not know yet what cell %s has room for", cell)
		}
		runs := summary.Allocated.Pods().Value() + summary.Allocating.Pods().Value() - int64(len(agents.Items))
		if free := summary.Allocatable.Cpu().MilliValue(); runs != 0 || free != room || room == 0 {
			return fmt.Errorf("Karmada knows of %d Pods in cell %s and of room for %dm of %dm CPU", runs, cell, free, room)
		}
		return nil
	})
}

// agentNamespace is the namespace of the add-on's agents in the cells.
const agentNamespace = "karmada-compute-system"

// runsInstances says whether a node is for Instances. The add-on's agent has one of its own.
func runsInstances(node *corev1.Node) bool { return node.Labels["type"] == "kwok" }

// forgetCell says that a cell is gone for good.
func (s *scenario) forgetCell(ctx context.Context, cell string) error {
	annotate := func(ctx context.Context, value string) error {
		cluster := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cell}}
		return updateWhenFree(ctx, s.client("hub", admin), cluster, func(cluster *clusterv1alpha1.Cluster) {
			metav1.SetMetaDataAnnotation(&cluster.ObjectMeta, v1alpha.AnnotationForget, value)
			if value == "" {
				delete(cluster.Annotations, v1alpha.AnnotationForget)
			}
		})
	}
	s.disturbed.add("the oblivion of cell "+cell, func(ctx context.Context) error { return annotate(ctx, "") })
	return annotate(ctx, "true")
}

// moveCell has a cell serve a city, or none.
func (s *scenario) moveCell(ctx context.Context, cell, city string) error {
	hub := s.client("hub", admin)
	move := func(ctx context.Context, city string) error {
		cluster := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cell}}
		return updateWhenFree(ctx, hub, cluster, func(cluster *clusterv1alpha1.Cluster) {
			if city == "" {
				delete(cluster.Labels, v1alpha.LabelTopologyCity)
				return
			}
			metav1.SetMetaDataLabel(&cluster.ObjectMeta, v1alpha.LabelTopologyCity, naming.CityLabel(city))
		})
	}
	known, ok := s.extra[cell]
	if !ok {
		return fmt.Errorf("cell %q is not this scenario's to move", cell)
	}
	s.made.add("the city of cell "+cell, func(ctx context.Context) error { return move(ctx, known.City) })
	return move(ctx, city)
}

// shrink gives the nodes of a cell a quarter of what those of another have, and waits until Karmada knows.
func (s *scenario) shrink(ctx context.Context, small, large string) error {
	s.made.add("the nodes of cell "+small, func(ctx context.Context) error { return s.resizeNodes(ctx, small, 1) })
	if err := s.resizeNodes(ctx, small, 4); err != nil {
		return err
	}
	return errors.Join(s.known(ctx, small, 4), s.known(ctx, large, 1))
}

// resizeNodes gives the nodes of a cell what they have by nature, divided.
func (s *scenario) resizeNodes(ctx context.Context, cell string, divisor int64) error {
	c := s.client("cell/"+cell, admin)
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return err
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if !runsInstances(node) {
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
