// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// settle is how long changes are collected before the table is replaced.
const settle = 50 * time.Millisecond

// enforce keeps the node's table of nftables as the NetworkPolicies of the cell require, until ctx ends.
func (n *Node) enforce(ctx context.Context, subnet Subnet, log *slog.Logger) error {
	config, err := clientcmd.BuildConfigFromFlags("", n.Kubeconfig)
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(clients, 0)
	changed := make(chan struct{}, 1)
	notify := func(any) {
		select {
		case changed <- struct{}{}:
		default: // it is noted already
		}
	}
	namespaces, pods, policies := factory.Core().V1().Namespaces(), factory.Core().V1().Pods(), factory.Networking().V1().NetworkPolicies()
	for _, informer := range []cache.SharedIndexInformer{namespaces.Informer(), pods.Informer(), policies.Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: notify, UpdateFunc: func(_, changed any) { notify(changed) }, DeleteFunc: notify,
		}); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	factory.WaitForCacheSync(ctx.Done())
	for last := ""; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		time.Sleep(settle)
		c, err := &cluster{}, error(nil)
		if c.namespaces, err = namespaces.Lister().List(labels.Everything()); err != nil {
			return err
		}
		if c.pods, err = pods.Lister().List(labels.Everything()); err != nil {
			return err
		}
		if c.policies, err = policies.Lister().List(labels.Everything()); err != nil {
			return err
		}
		slices.SortFunc(c.pods, func(a, b *corev1.Pod) int { return strings.Compare(string(a.UID), string(b.UID)) })
		table := c.table(subnet)
		if table == last {
			continue
		}
		if err := nft(ctx, table); err != nil && ctx.Err() == nil {
			return err
		}
		last = table
		log.Info("the network policies are enforced", "policies", len(c.policies))
	}
}

// nft loads a file of nftables.
func nft(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(text)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("nft: %w: %s\n%s", err, output, text)
	}
	return nil
}
