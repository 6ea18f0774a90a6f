// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// addedNode returns another node of the host, of the same size.
func addedNode(name string) processNode {
	added := hostNode
	added.name, added.extra = name, name
	return added
}

// AddHostNode starts another node of the host, which runs Pods as processes, and waits until it is Ready.
func (f *Federation) AddHostNode(ctx context.Context, name string) error {
	if !f.state.Host {
		return errors.New("this federation has no nodes of processes: start it with Options.Host")
	}
	return f.startNode(ctx, addedNode(name))
}

// RemoveHostNode drains a node that AddHostNode has started, and removes it.
func (f *Federation) RemoveHostNode(ctx context.Context, name string) error {
	host, err := f.plane(planeHost)
	if err != nil {
		return err
	}
	nodes, pods := host.dynamic.Resource(nodeResource), host.dynamic.Resource(podResource)
	// The Pods tolerate a cordon, as they tolerate every taint, and select this label.
	if _, err := nodes.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"type":null}}}`),
		metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("remove the label of node %s: %w", name, err)
	}
	on := metav1.ListOptions{FieldSelector: "spec.nodeName=" + name}
	if err := pods.Namespace(karmadaSystem).DeleteCollection(ctx, metav1.DeleteOptions{}, on); err != nil {
		return fmt.Errorf("delete the Pods of node %s: %w", name, err)
	}
	err = wait.PollUntilContextTimeout(ctx, podInterval, ReadyTimeout, true, func(ctx context.Context) (bool, error) {
		left, err := pods.List(ctx, on)
		return err == nil && len(left.Items) == 0, err
	})
	if err != nil {
		return fmt.Errorf("drain node %s: %w", name, err)
	}
	return errors.Join(f.StopProcess(addedNode(name).process()), nodes.Delete(ctx, name, metav1.DeleteOptions{}))
}
