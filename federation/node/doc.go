// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package node is a node of a Kubernetes cluster that runs the containers of its Pods as processes of this machine, as the
// user that runs it: no container engine, no root, no namespaces of Linux. It is what the local federation's own Pods run on.
//
// An image is the path of a binary ([Options.Images]). A Pod has an IP 10.x.y.z in the API; its processes listen on 127.x.y.z
// with the same last three numbers ([Local]), which is also what status.podIP gives them. Mount paths are folders of the Pod:
// arguments and values of variables that contain a mount path contain the folder instead. Programs that would use the in-cluster
// configuration find a kubeconfig of their service account in $KUBECONFIG.
//
// Resources and security contexts are accepted and not enforced. What else a Pod asks for and the node does not have is said in
// the Pod's status, and the Pod does not start.
package node
