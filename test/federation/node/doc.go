// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package node is a node of a Kubernetes cluster that runs the containers of its Pods as processes of this machine, as
// the user that runs it, without container engine, root and Linux namespaces. The local federation's own Pods run on
// it.
//
// An image is the path of a binary ([Options.Images]). A Pod has an IP 10.x.y.z in the API; its processes listen on
// 127.x.y.z with the same last three numbers ([Local]), and status.podIP has that address in the processes, too. Mount
// paths are folders of the Pod: in arguments and values of variables, a mount path is replaced by the folder. Programs
// that would use the in-cluster configuration find a kubeconfig of their service account in $KUBECONFIG.
//
// The node has the features that the Pods of the chart use. Resources and security contexts are accepted and not
// enforced. A Pod that requires another feature does not start, and its status names the field.
package node
