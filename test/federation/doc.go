// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package federation runs a real Karmada federation as plain processes on one
// machine: etcd, a hub with all of Karmada, member clusters ("cells") with
// kwok nodes, and a stand-in for Milo with one kube-apiserver per project.
//
// A federation has one folder for its certificates, kubeconfigs, logs, audit
// logs and a record of every process, by which [Open] finds it again. A
// detached federation outlives the program that started it; any other ends with
// that program, even when it is killed.
//
// With Options.Host there is a host, too: the cluster that runs Karmada's Pods and
// ours. Its node, and one of each cell, runs Pods as processes (package node).
//
// A cell may have nodes that run containers instead of kwok nodes (package
// containers).
//
// Cells are members in push mode or in pull mode. In pull mode the cell's
// karmada-agent runs in a network namespace from which it reaches only the
// kube-apiservers of the hub and of the cell.
package federation
