// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
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
	cellAgentPattern  = "cell-%s-karmada-agent"
)

// Prefixes of the names of planes: cells, and the control planes of projects behind Milo.
const cellPlane, projectPlane = "cell/", "project-plane/"

// backUp takes a backup of each plane. No move is in progress, and its traces are in no backup.
func (y *Year) backUp(ctx context.Context) error {
	planes := []string{hubPlane}
	for _, cell := range y.Federation.Cells() {
		planes = append(planes, cellPlane+cell.Name)
	}
	if !y.Federation.WithoutMilo() {
		for _, project := range y.Projects {
			planes = append(planes, projectPlane+project)
		}
	}
	y.backups = map[string]*federation.Backup{}
	for _, plane := range planes {
		backup, err := y.Federation.Backup(ctx, plane)
		if err != nil {
			return err
		}
		y.backups[plane] = backup
	}
	y.printf("backups are taken of %s", strings.Join(planes, ", "))
	return nil
}

// restoreCell sets a cell back to its backup at the end of the move.
func restoreCell(_ context.Context, y *Year, s step) (func(context.Context) error, error) {
	return func(ctx context.Context) error {
		return y.restore(ctx, y.backups[cellPlane+s.Cell], fmt.Sprintf(cellServerPattern, s.Cell))
	}, nil
}

// restoreHub sets the hub back to its backup at the end of the move, without Milo with all projects. Karmada's controllers are down
// meanwhile, as docs/runbooks/inventory.md tells operators: they would not write again what they have written since the backup.
func restoreHub(_ context.Context, y *Year, _ step) (func(context.Context) error, error) {
	var projects []string
	if y.Federation.WithoutMilo() {
		projects = y.Projects
	}
	processes := []string{hubServer, aggregatedServer, "karmada-controller-manager", "karmada-scheduler"}
	for _, cell := range y.Federation.Cells() {
		if cell.Pull {
			processes = append(processes, fmt.Sprintf(cellAgentPattern, cell.Name))
		}
	}
	return func(ctx context.Context) error {
		return y.setBack(ctx, projects, func() error {
			return errors.Join(y.restore(ctx, y.backups[hubPlane], processes...), y.awaitClusters(ctx))
		})
	}, nil
}

// restoreProject sets a project's control plane back to its backup at the end of the move.
func restoreProject(_ context.Context, y *Year, s step) (func(context.Context) error, error) {
	return func(ctx context.Context) error {
		return y.setBack(ctx, []string{s.Project}, func() error {
			return y.restore(ctx, y.backups[projectPlane+s.Project], projectServer(s.Project))
		})
	}, nil
}

// setBack sets projects back. Requests that fail meanwhile are excused, and afterwards the consumer wants what exists.
func (y *Year) setBack(ctx context.Context, projects []string, restore func() error) error {
	for _, project := range projects {
		y.consumer.goesBack(project)
	}
	before := y.consumer.failed()
	err := restore()
	for _, project := range projects {
		if err == nil {
			err = y.consumer.adopt(ctx, project, startTimeout)
		}
	}
	if len(projects) > 0 {
		y.mu.Lock()
		y.excused += y.consumer.failed() - before
		y.mu.Unlock()
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
		backup, err := y.Federation.Backup(ctx, cellPlane+cell.Name)
		if err != nil {
			return err
		}
		y.empty[cell.Name] = backup
	}
	return nil
}

// restore sets a storage back while its API servers and what else must not run are down. They start in the order of processes.
func (y *Year) restore(ctx context.Context, backup *federation.Backup, processes ...string) error {
	var failed []error
	for _, process := range processes {
		failed = append(failed, y.processes.Kill(ctx, process))
	}
	if failed = append(failed, y.Federation.Restore(ctx, backup)); errors.Join(failed...) == nil {
		y.printf("%s: set back", processes[0])
	}
	for _, process := range processes {
		failed = append(failed, y.processes.Start(ctx, process))
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
