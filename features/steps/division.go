// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"strings"

	"github.com/cucumber/godog"
	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// addDivisionSteps are the sentences about several cells in one city.
func addDivisionSteps(sc *godog.ScenarioContext) {
	sc.Step(`^cells "([^"]*)" run (\d+) Instances, each at least (\d+), and none twice$`, func(ctx context.Context, cells string, all, least int) error {
		return from(ctx).divided(ctx, splitNames(cells), all, least)
	})
	sc.Step(`^cell "([^"]*)" runs (\d+) Instances$`, func(ctx context.Context, cell string, count int) error {
		return from(ctx).divided(ctx, []string{cell}, count, count)
	})
	sc.Step(`^none of the Instances in cells "([^"]*)" was replaced$`, func(ctx context.Context, cells string) error {
		return from(ctx).noneReplaced(ctx, splitNames(cells))
	})
	sc.Step(`^cell "([^"]*)" does not serve the city$`, func(ctx context.Context, cell string) error {
		return from(ctx).moveCell(ctx, cell, "")
	})
	sc.Step(`^cell "([^"]*)" serves ([A-Z]+)$`, func(ctx context.Context, cell, city string) error {
		return from(ctx).moveCell(ctx, cell, city)
	})
	sc.Step(`^cell "([^"]*)" has room for a quarter of what cell "([^"]*)" has room for$`, func(ctx context.Context, small, large string) error {
		return from(ctx).shrink(ctx, small, large)
	})
	sc.Step(`^deployment "([^"]*)" says of ([A-Za-z]+) "([^"]*)"$`, func(ctx context.Context, name, condition, message string) error {
		return from(ctx).eventuallyDeployment(ctx, name, func(deployment *v1alpha.WorkloadDeployment) error {
			found := meta.FindStatusCondition(deployment.Status.Conditions, condition)
			if found == nil || found.Status != metav1.ConditionFalse || !strings.Contains(found.Message, message) {
				return fmt.Errorf("%s is %+v", condition, found)
			}
			return nil
		})
	})
}

// divided waits until cells run so many Instances together, each so many at least, all Ready and no name twice. What is
// seen there for the first time is remembered.
func (s *scenario) divided(ctx context.Context, cells []string, all, least int) error {
	return eventually(ctx, func(ctx context.Context) error {
		where := map[string]string{}
		for _, cell := range cells {
			instances, err := s.instances(ctx, cell)
			if err != nil {
				return err
			}
			if len(instances) < least {
				return fmt.Errorf("cell %s runs %d Instances", cell, len(instances))
			}
			for i := range instances {
				name := instances[i].Name
				if where[name] != "" {
					return fmt.Errorf("Instance %s is in cells %s and %s", name, where[name], cell)
				}
				if !meta.IsStatusConditionTrue(instances[i].Status.Conditions, v1alpha.ConditionReady) {
					return fmt.Errorf("Instance %s in cell %s is not Ready", name, cell)
				}
				where[name] = cell
			}
		}
		if len(where) != all {
			return fmt.Errorf("cells %v run %v", cells, where)
		}
		return s.rememberInstancesIn(ctx, cells)
	})
}

// noneReplaced compares the Instances of cells with those that were seen there first.
func (s *scenario) noneReplaced(ctx context.Context, cells []string) error {
	for _, cell := range cells {
		instances, err := s.instances(ctx, cell)
		if err != nil {
			return err
		}
		for i := range instances {
			before, seen := s.seen[s.seenKey(cell, instances[i].Name)]
			if seen && before != instances[i].UID {
				return fmt.Errorf("Instance %s in cell %s is another one", instances[i].Name, cell)
			}
		}
	}
	return nil
}

// moveCell has a cell serve a city, or none. restoreCells puts it back.
func (s *scenario) moveCell(ctx context.Context, cell, city string) error {
	hub, err := s.client("hub", admin)
	if err != nil {
		return err
	}
	cluster := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cell}}
	return updateWhenFree(ctx, hub, cluster, func(cluster *clusterv1alpha1.Cluster) {
		if _, moved := s.moved[cell]; !moved {
			s.moved[cell] = cluster.Labels[v1alpha.LabelTopologyCity]
		}
		cluster.Labels[v1alpha.LabelTopologyCity] = v1alpha.CityLabel(city)
	})
}

// shrink gives the nodes of a cell a quarter of what those of another have, and waits until Karmada knows.
func (s *scenario) shrink(ctx context.Context, small, large string) error {
	s.shrunk = small
	if err := s.resizeNodes(ctx, small, 4); err != nil {
		return err
	}
	hub, err := s.client("hub", admin)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		room := map[string]*resource.Quantity{}
		for _, cell := range []string{small, large} {
			cluster := &clusterv1alpha1.Cluster{}
			if err := hub.Get(ctx, client.ObjectKey{Name: cell}, cluster); err != nil {
				return err
			}
			if cluster.Status.ResourceSummary == nil {
				return fmt.Errorf("Karmada does not know yet what cell %s has room for", cell)
			}
			room[cell] = cluster.Status.ResourceSummary.Allocatable.Cpu()
		}
		if 4*room[small].MilliValue() != room[large].MilliValue() {
			return fmt.Errorf("Karmada knows of room for %s and %s CPUs", room[small], room[large])
		}
		return nil
	})
}

// resizeNodes gives the nodes of a cell what they have by nature, divided.
func (s *scenario) resizeNodes(ctx context.Context, cell string, divisor int64) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return err
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
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

// restoreCells puts back what the scenario changed about cells.
func (s *scenario) restoreCells(ctx context.Context) error {
	if s.shrunk != "" {
		if err := s.resizeNodes(ctx, s.shrunk, 1); err != nil {
			return err
		}
	}
	for cell, city := range s.moved {
		if err := s.moveCell(ctx, cell, city); err != nil {
			return err
		}
	}
	return nil
}
