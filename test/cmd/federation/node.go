// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/karmada-compute/karmada-compute/test/federation/containers"
	"github.com/karmada-compute/karmada-compute/test/federation/node"
)

// nodeCommand runs a node whose Pods are processes; up starts one for the host and one for each cell.
func nodeCommand() *cobra.Command {
	var options node.Options
	var kubeconfig string
	capacity := map[string]string{}
	cmd := &cobra.Command{
		Use:    "node",
		Short:  "Run the Pods of one Node as processes",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Log = processLog()
			var err error
			if options.Config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
				return fmt.Errorf("--kubeconfig: %w", err)
			}
			// Not throttled: starts and ends of Pods must not wait for one another.
			options.Config.QPS = -1
			if options.Capacity, err = parseCapacity(capacity); err != nil {
				return err
			}
			return node.Run(cmd.Context(), options)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of an administrator of the cluster")
	flags.StringVar(&options.Name, "node", "", "name of the Node")
	flags.StringToStringVar(&options.Images, "images", nil,
		"IMAGE=PATH of the binary that stands for an image: a full reference, or the last element of a repository (repeatable)")
	flags.StringVar(&options.Folder, "folder", "", "folder of the Pods' volumes")
	flags.StringVar(&options.Logs, "logs", "", "folder of the containers' logs (default: log in the folder)")
	flags.BoolVar(&options.Taint, "taint", false, "admit only Pods that tolerate the taint "+node.TaintKey)
	flags.StringToStringVar(&capacity, "capacity", nil, "cpu, memory and pods of the Node (default cpu=4,memory=4Gi,pods=50)")
	flags.DurationVar(&options.InitialBackoff, "initial-backoff", 10*time.Second,
		"wait before the second restart of a container; it doubles with each further one")
	flags.DurationVar(&options.MaxBackoff, "max-backoff", 5*time.Minute, "longest wait before a restart")
	return cmd
}

// containersCommand runs a node of containers, in separate namespaces.
func containersCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "containers FILE",
		Short:  "Run the node that a file describes with kubelet and containerd",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			node, err := containers.Read(args[0])
			if err != nil {
				return err
			}
			return node.Run(cmd.Context(), processLog())
		},
	}
}

func parseCapacity(values map[string]string) (corev1.ResourceList, error) {
	list := corev1.ResourceList{}
	for name, value := range values {
		quantity, err := resource.ParseQuantity(value)
		if err != nil {
			return nil, fmt.Errorf("--capacity %s=%s: %w", name, value, err)
		}
		list[corev1.ResourceName(name)] = quantity
	}
	return list, nil
}
