// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/federation"
)

// surroundings are the other objects and Clusters of a measurement.
type surroundings struct {
	// number of the measurement.
	number int
	// objects are other objects of each kind, and cells further Clusters.
	objects, cells int
}

func (s surroundings) String() string {
	switch {
	case s.cells > 0:
		return fmt.Sprintf("beside %d, %d more Clusters", s.objects, s.cells)
	case s.objects > 0:
		return fmt.Sprintf("beside %d", s.objects)
	default:
		return "alone"
	}
}

// rounds returns the surroundings of the measurements: alone, beside more and more objects, beside more and more Clusters.
func (o *readyOptions) rounds() []surroundings {
	rounds := []surroundings{{}}
	add := func(objects, cells int) {
		rounds = append(rounds, surroundings{number: len(rounds), objects: objects, cells: cells})
	}
	for _, objects := range o.beside {
		add(objects, 0)
	}
	for _, cells := range o.cells {
		add(rounds[len(rounds)-1].objects, cells)
	}
	return rounds
}

// addCells adds Clusters until there are count besides the cell. They share its API server: Karmada probes them, collects their status,
// and schedules and watches with them, and the add-on has them in its cache. They have no city and so no agent.
func (s *stage) addCells(ctx context.Context, count int) error {
	if count == 0 {
		return nil
	}
	hub, err := s.client(hubPlane, federation.Admin)
	if err != nil {
		return err
	}
	clusters := hub.Resource(clusterResource)
	joined, err := clusters.Get(ctx, cell, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for i := range count {
		spec, _, err := unstructured.NestedMap(joined.Object, "spec")
		if err != nil {
			return err
		}
		name := fmt.Sprintf("further-%d", i)
		spec["id"] = name
		added := object(clusterResource.GroupVersion().String(), "Cluster", name, map[string]any{"spec": spec})
		if _, err := clusters.Create(ctx, added, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return eventually(ctx, func(ctx context.Context) error {
		for i := range count {
			further, err := clusters.Get(ctx, fmt.Sprintf("further-%d", i), metav1.GetOptions{})
			if err != nil {
				return err
			}
			if !isReady(further) {
				return fmt.Errorf("Cluster %s is not Ready", further.GetName())
			}
		}
		return nil
	})
}

// idle returns the CPU time that each process takes in a second at rest.
func (s *stage) idle(ctx context.Context) (cpuTimes, error) {
	const seconds = 20
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	before := s.cpu()
	select {
	case <-time.After(seconds * time.Second):
		return s.cpu().since(before).each(seconds), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// idleRows are the CPU times a second at rest of the hub's processes.
func idleRows(around string, idle cpuTimes) [][]string {
	var rows [][]string
	for _, name := range hubProcesses {
		rows = append(rows, []string{around, name, millis(idle[name])})
	}
	return rows
}
