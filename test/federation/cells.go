// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/test/federation/containers"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// nodesPerCell is the default number of kwok nodes of a cell.
const nodesPerCell = 3

func (c Cell) nodes() int {
	if c.Containers > 0 {
		return c.Nodes
	}
	return cmp.Or(c.Nodes, nodesPerCell)
}

var nodeResource = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}

// ownGroup is the API group of the add-on, and cellKinds are its kinds in cells, as the chart propagates them. A
// kube-apiserver of an older version may refuse the CRDs of the other kinds.
const ownGroup = "compute.datumapis.com"

var cellKinds = []string{"workloaddeployments", "instances", "instanceslices", "cells", "instancetypes"}

// startCell starts one member cluster: kube-apiserver, controllers, scheduler,
// nodes whose Pods kwok simulates, and nodes that run containers.
func (f *Federation) startCell(ctx context.Context, cell Cell) error {
	name := planeCell + cell.Name
	if err := f.startCellAPIServer(ctx, cell); err != nil {
		return err
	}
	client, err := f.plane(name)
	if err != nil {
		return err
	}
	if err := f.applyOwnCRDs(ctx, client, cellKinds...); err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return f.startCellControllerManager(groupCtx, cell) })
	group.Go(func() error { return f.startScheduler(groupCtx, name) })
	if cell.nodes() > 0 {
		group.Go(func() error { return f.startKwok(groupCtx, cell) })
	}
	if cell.Containers > 0 {
		group.Go(func() error { return f.startContainerNodes(groupCtx, cell) })
	}
	if f.state.Host {
		group.Go(func() error { return f.startNode(groupCtx, cellNode(cell)) })
	}
	group.Go(func() error {
		if cell.nodes() > 0 && !f.olderThan(planeCell+cell.Name, "1.30") {
			if err := client.applyFile(groupCtx, "kwok-policy.yaml", nil); err != nil {
				return err
			}
		}
		for i := range cell.nodes() {
			if err := client.applyFile(groupCtx, "kwok-node.yaml", map[string]string{"name": nodeName(cell, i)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for i := range cell.nodes() {
		if err := client.waitCondition(ctx, nodeResource, nodeName(cell, i), "Ready"); err != nil {
			return err
		}
	}
	f.progress.printf("cell %s has %d nodes", cell.Name, cell.nodes()+cell.Containers)
	return nil
}

func (f *Federation) startCellAPIServer(ctx context.Context, cell Cell) error {
	plane := planeCell + cell.Name
	return f.startAPIServer(ctx, apiServer{plane: plane, port: f.port(plane), kubelets: cell.Containers > 0})
}

func (f *Federation) startCellControllerManager(ctx context.Context, cell Cell) error {
	plane := planeCell + cell.Name
	controllers := append([]string{
		"serviceaccount-token-controller", "serviceaccount-controller", "clusterrole-aggregation-controller",
		"deployment-controller", "replicaset-controller", "node-lifecycle-controller", "taint-eviction-controller",
		"pod-garbage-collector-controller", "horizontal-pod-autoscaler-controller", "disruption-controller",
		"endpointslice-controller",
	}, cell.Controllers...)
	if f.state.Host {
		controllers = append(controllers, "root-ca-certificate-publisher-controller")
	}
	// The Pods of a node without a heartbeat for that long are marked as not ready. A kubelet corrects that when its
	// heartbeats continue; kwok never does, so that an API server that was down, or slow, would leave Pods not ready
	// forever.
	grace := "1h"
	if cell.Containers > 0 && cell.nodes() == 0 {
		grace = containers.GracePeriod
	}
	return f.startControllerManager(ctx, controllerManager{
		plane: plane, port: f.port(plane + "-kube-controller-manager"), controllers: controllers,
		// An autoscaler considers a new Pod at once and acts within seconds, not minutes: test programs need no warm-up.
		args: []string{
			"--horizontal-pod-autoscaler-sync-period=3s", "--horizontal-pod-autoscaler-downscale-stabilization=5s",
			"--horizontal-pod-autoscaler-cpu-initialization-period=1s", "--horizontal-pod-autoscaler-initial-readiness-delay=1s",
			"--node-monitor-grace-period=" + grace, "--node-monitor-period=2s",
		},
	})
}

func schedulerName(plane string) string { return planeName(plane) + "-kube-scheduler" }

func (f *Federation) startScheduler(ctx context.Context, plane string) error {
	port := f.port(plane + "-kube-scheduler")
	args, err := f.kubeComponent(plane, "kube-scheduler", port)
	if err != nil {
		return err
	}
	return f.start(ctx, Process{
		Name: schedulerName(plane), Path: f.binaryOf(plane, tools.KubeScheduler),
		Args:  append(args, "--kube-api-qps=1000", "--kube-api-burst=2000"),
		Ready: f.httpsReady(port, "/healthz"), stage: stageController, // older versions have no /readyz
	})
}

func (f *Federation) startKwok(ctx context.Context, cell Cell) error {
	plane := planeCell + cell.Name
	kubeconfig, err := f.Kubeconfig(plane, "kwok")
	if err != nil {
		return err
	}
	server := address(f.port(plane + "-kwok"))
	args := []string{
		"--kubeconfig=" + kubeconfig, "--manage-nodes-with-label-selector=type=kwok", "--server-address=" + server,
		"--node-lease-duration-seconds=40",
	}
	if cell.StartTime > 0 {
		config, err := f.podStages(cell)
		if err != nil {
			return err
		}
		args = append(args, "--config="+config)
	}
	return f.start(ctx, Process{
		Name: planeName(plane) + "-kwok", Path: f.binary("kwok"), Args: args,
		Ready: httpReady(plainClient, "http://"+server+"/healthz"), stage: stageController,
	})
}

// podStages writes kwok's configuration of Pods that take a while to start, and returns its path.
func (f *Federation) podStages(cell Cell) (string, error) {
	content, err := embedded("kwok-pods.yaml", map[string]string{"milliseconds": strconv.FormatInt(cell.StartTime.Milliseconds(), 10)})
	if err != nil {
		return "", err
	}
	path := filepath.Join(f.folder, "config", planeName(planeCell+cell.Name)+"-kwok.yaml")
	return path, writeFile(path, content)
}

func nodeName(cell Cell, i int) string { return fmt.Sprintf("%s-node-%d", cell.Name, i) }

// StopCell kills the kube-apiserver of a cell, which does not wait for watches
// to end, and its karmada-agent if it has one. The other processes of the cell
// keep running without an API server, as in a network partition.
func (f *Federation) StopCell(ctx context.Context, name string) error {
	cell, err := f.cell(name)
	if err != nil {
		return err
	}
	processes := []string{apiServerName(planeCell + cell.Name)}
	if cell.Pull {
		processes = append(processes, agentProcess(cell))
	}
	for _, process := range processes {
		rec, err := f.record(process)
		if err != nil {
			return fmt.Errorf("cell %s was never started: %w", name, err)
		}
		if err := rec.stop(ctx, syscall.SIGKILL); err != nil {
			return err
		}
	}
	return nil
}

// StartCell restarts a stopped cell at the same addresses.
func (f *Federation) StartCell(ctx context.Context, name string) error {
	cell, err := f.cell(name)
	if err != nil {
		return err
	}
	if err := f.startCellAPIServer(ctx, cell); err != nil {
		return err
	}
	// A scheduler ends by itself ("cache is corrupted") when a Pod that it has missed the deletion of is recreated. A
	// kubelet would restart it.
	scheduler := schedulerName(planeCell + cell.Name)
	if err := f.StopProcess(scheduler); err != nil {
		return err
	}
	if err := f.StartAgain(ctx, scheduler); err != nil || !cell.Pull {
		return err
	}
	return f.startAgent(ctx, cell)
}

func (f *Federation) cell(name string) (Cell, error) {
	cells := f.Cells()
	i := slices.IndexFunc(cells, func(c Cell) bool { return c.Name == name })
	if i < 0 {
		return Cell{}, fmt.Errorf("no cell %q in this federation, there are %v", name, cells)
	}
	return cells[i], nil
}
