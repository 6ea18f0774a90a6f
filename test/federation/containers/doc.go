// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package containers runs a node with kubelet, kube-proxy, containerd, runc and the CNI plugins bridge and host-local.
//
// A node is one process tree in namespaces of its own (network, mount, PID, IPC, UTS), in which everything ends and
// disappears with its first process: mounts, interfaces, routes, tables of nftables, processes. Only the node's cgroups
// remain, which RemoveCgroups removes. A link connects the node with this machine: node i has the subnet
// 10.213.i.0/24, its Pods the upper half. Nodes do not reach each other, and nothing beyond this machine.
//
// Images are OCI archives that the node imports before the kubelet starts: there is no registry.
package containers
