// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// nodeUser is the user of nodes that run Pods as processes.
const nodeUser = "federation-node"

// Images of the add-on, by the last element of their repositories, and the
// commands of the repository that stand for them.
var ownImages = []string{"karmada-compute", "karmada-compute-cell"}

// hostControllers are the controllers that a release of the add-on needs.
var hostControllers = []string{
	"serviceaccount-token-controller", "serviceaccount-controller", "root-ca-certificate-publisher-controller",
	"clusterrole-aggregation-controller",
	"deployment-controller", "replicaset-controller", "job-controller", "endpointslice-controller", "disruption-controller",
	"node-lifecycle-controller", "pod-garbage-collector-controller",
}

// processNode is a node of a plane that runs Pods as processes.
type processNode struct {
	plane    string
	name     string
	capacity string
	// taint repels Pods that do not tolerate node.TaintKey.
	taint bool
	// extra is the name of the process of a node that was added to a plane.
	extra string
}

// process returns the name of the process of the node.
func (n processNode) process() string { return cmp.Or(n.extra, NodeProcess(n.plane)) }

// folder returns the name of the folder of the node's Pods.
func (n processNode) folder() string { return cmp.Or(n.extra, planeName(n.plane)) }

// hostNode is the node with which the host starts.
var hostNode = processNode{plane: planeHost, name: "host-node", capacity: "cpu=16,memory=32Gi,pods=100"}

// cellNode returns the node of a cell for the add-on's agent. It has capacity for two agents, as a rollout needs, and
// for no other Pod: Karmada counts the capacity of all nodes, and Instances run on the kwok nodes.
func cellNode(cell Cell) processNode {
	return processNode{plane: planeCell + cell.Name, name: cell.Name + "-processes", capacity: "cpu=20m,memory=32Mi,pods=2", taint: true}
}

// startHost starts the host: kube-apiserver, controllers, scheduler and a node.
func (f *Federation) startHost(ctx context.Context) error {
	if err := f.startAPIServer(ctx, apiServer{plane: planeHost, port: f.port(planeHost)}); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return f.startControllerManager(ctx, controllerManager{
			plane: planeHost, port: f.port(planeHost + "-kube-controller-manager"), controllers: hostControllers,
		})
	})
	group.Go(func() error { return f.startScheduler(ctx, planeHost) })
	group.Go(func() error { return f.startNode(ctx, hostNode) })
	return group.Wait()
}

// startNode starts a node and waits until its Node is Ready. The add-on's images stand for the binaries that buildOwn
// has built by the time a Pod starts.
func (f *Federation) startNode(ctx context.Context, n processNode) error {
	kubeconfig, err := f.Kubeconfig(n.plane, nodeUser)
	if err != nil {
		return err
	}
	client, err := f.plane(n.plane)
	if err != nil {
		return err
	}
	args := []string{
		"node", "--kubeconfig=" + kubeconfig, "--node=" + n.name, "--capacity=" + n.capacity, fmt.Sprintf("--taint=%t", n.taint),
		"--folder=" + filepath.Join(f.folder, "nodes", n.folder()), "--logs=" + filepath.Join(f.folder, "log"),
		// After an outage of its API server a Pod restarts soon: longer delays would only slow the tests down.
		"--initial-backoff=1s", "--max-backoff=5s",
	}
	for _, image := range ownImages {
		args = append(args, "--images="+image+"="+filepath.Join(f.binFolder(), image),
			"--images="+image+earlierImage+"="+filepath.Join(f.earlierFolder(), image))
	}
	return f.start(ctx, Process{
		Name: n.process(), Path: f.ownBinary(), Args: args,
		Ready: func(ctx context.Context) error { return client.hasCondition(ctx, nodeResource, n.name, "Ready") },
		stage: stageGuest, // Pods end while everything that they use still runs
	})
}

// NodeProcess returns the name of the process of a plane's node. When it ends, the processes of the node's Pods end,
// too.
func NodeProcess(plane string) string { return planeName(plane) + "-node" }
