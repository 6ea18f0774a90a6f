// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// API servers whose storage is set back.
const (
	hubServer         = "hub-kube-apiserver"
	aggregatedServer  = "karmada-aggregated-apiserver"
	cellServerPattern = "cell-%s-kube-apiserver"
)

// projectPlane is the prefix of the name of a project's control plane behind Milo.
const projectPlane = "project-plane/"

// restoreCell takes a backup of a cell, and sets the cell back to it at the end of the move.
func restoreCell(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	backup, err := y.Federation.Backup(ctx, "cell/"+s.Cell)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return y.restore(ctx, backup, fmt.Sprintf(cellServerPattern, s.Cell)) }, nil
}

// restoreHub takes a backup of the hub, and sets the hub back to it at the end of the move.
func restoreHub(ctx context.Context, y *Year, _ step) (func(context.Context) error, error) {
	backup, err := y.Federation.Backup(ctx, hubPlane)
	if err != nil {
		return nil, err
	}
	var projects []string
	if y.Federation.WithoutMilo() {
		projects = y.Projects
	}
	return func(ctx context.Context) error {
		return y.setBack(ctx, projects, func() error {
			return errors.Join(y.restore(ctx, backup, hubServer, aggregatedServer), y.awaitClusters(ctx))
		})
	}, nil
}

// restoreProject takes a backup of a project's control plane, and sets the project back to it at the end of the move.
func restoreProject(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	backup, err := y.Federation.Backup(ctx, projectPlane+s.Project)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return y.setBack(ctx, []string{s.Project}, func() error { return y.restore(ctx, backup, projectServer(s.Project)) })
	}, nil
}

// setBack sets projects back. Meanwhile requests of their consumer may fail, and afterwards it wants what is there.
func (y *Year) setBack(ctx context.Context, projects []string, restore func() error) error {
	for _, project := range projects {
		y.consumer.goesBack(project)
		y.mu.Lock()
		y.excused = math.MaxInt32
		y.mu.Unlock()
	}
	err := restore()
	for _, project := range projects {
		if err == nil {
			err = y.consumer.adopt(ctx, project, startTimeout)
		}
	}
	return err
}

// awaitClusters waits until the hub serves Clusters again: its kube-apiserver looks for karmada-aggregated-apiserver now and then.
func (y *Year) awaitClusters(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, time.Second, startTimeout, true, func(ctx context.Context) (bool, error) {
		last = y.collector.planes[hubPlane].List(ctx, &clusterv1alpha1.ClusterList{})
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the hub serves no Clusters: %w", errors.Join(err, last))
	}
	return nil
}

// rebuildCell sets a cell back to the time before the first Workload: whoever has rebuilt a cluster under its name has joined it
// with its former credentials, and nothing else is there.
func rebuildCell(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	return nil, y.restore(ctx, y.empty[s.Cell], fmt.Sprintf(cellServerPattern, s.Cell))
}

// backUpEmpty takes a backup of each cell before the first Workload.
func (y *Year) backUpEmpty(ctx context.Context) error {
	y.empty = map[string]*federation.Backup{}
	for _, cell := range y.Federation.Cells() {
		backup, err := y.Federation.Backup(ctx, "cell/"+cell.Name)
		if err != nil {
			return err
		}
		y.empty[cell.Name] = backup
	}
	return nil
}

// restore sets a storage back while its API servers are down.
func (y *Year) restore(ctx context.Context, backup *federation.Backup, servers ...string) error {
	var failed []error
	for _, server := range servers {
		failed = append(failed, y.processes.Kill(ctx, server))
	}
	if failed = append(failed, y.Federation.Restore(ctx, backup)); errors.Join(failed...) == nil {
		y.printf("%s: set back", servers[0])
	}
	for _, server := range servers {
		failed = append(failed, y.processes.Start(ctx, server))
	}
	return errors.Join(failed...)
}

// moveCity gives a cluster another city, and its own one back.
func moveCity(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	former := ""
	label := func(c *clusterv1alpha1.Cluster, city string) {
		metav1.SetMetaDataLabel(&c.ObjectMeta, v1alpha.LabelTopologyCity, city)
	}
	err := y.change(ctx, s.Cell, func(c *clusterv1alpha1.Cluster) {
		former = c.Labels[v1alpha.LabelTopologyCity]
		for _, city := range y.Cities {
			if !strings.EqualFold(city, former) {
				label(c, city)
			}
		}
	})
	return func(ctx context.Context) error {
		return y.change(ctx, s.Cell, func(c *clusterv1alpha1.Cluster) { label(c, former) })
	}, err
}
