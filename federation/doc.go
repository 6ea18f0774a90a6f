// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package federation runs a real Karmada federation as plain processes on one
// machine: etcd, a hub with all of Karmada, member clusters ("cells") with
// kwok nodes, and a stand-in for Milo with one kube-apiserver per project.
//
// Everything of one federation lies in one folder: certificates, kubeconfigs,
// logs, audit logs and a record of every process. The processes outlive the
// program that started them; [Open] finds them again by that folder.
//
// The hub reaches into a cell, as Karmada's push mode has it, or a cell in pull
// mode asks the hub: then its karmada-agent runs in a network namespace from
// which the kube-apiservers of the hub and of the cell are reached and nothing
// else.
package federation
