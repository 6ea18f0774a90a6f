// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	vknode "github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	// TaintKey is the key of the taint of a node that repels Pods without its toleration.
	TaintKey = "karmada-compute.dev/processes"
	// TypeLabel is the kind of node: "process", or "kwok" for nodes that simulate Pods.
	TypeLabel = "type"
	// TypeProcess is the value of TypeLabel.
	TypeProcess = "process"
)

// object returns the Node.
func (n *node) object() *corev1.Node {
	object := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.options.Name, Labels: map[string]string{
			corev1.LabelHostname: n.options.Name, corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH, TypeLabel: TypeProcess,
		}},
		Status: corev1.NodeStatus{
			Capacity: n.options.Capacity, Allocatable: n.options.Capacity,
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: hostIP}, {Type: corev1.NodeHostName, Address: n.options.Name}},
			NodeInfo: corev1.NodeSystemInfo{
				OperatingSystem: runtime.GOOS, Architecture: runtime.GOARCH, KubeletVersion: "v1.35.0-processes",
				ContainerRuntimeVersion: "process://1",
			},
			Conditions: []corev1.NodeCondition{condition(corev1.NodeReady, corev1.ConditionTrue, "the node runs Pods as processes")},
		},
	}
	for _, pressure := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		object.Status.Conditions = append(object.Status.Conditions, condition(pressure, corev1.ConditionFalse, "it is not measured"))
	}
	if n.options.Taint {
		object.Spec.Taints = []corev1.Taint{{Key: TaintKey, Effect: corev1.TaintEffectNoSchedule}}
	}
	return object
}

func condition(kind corev1.NodeConditionType, status corev1.ConditionStatus, message string) corev1.NodeCondition {
	return corev1.NodeCondition{Type: kind, Status: status, Reason: "ProcessNode", Message: message, LastTransitionTime: metav1.Now()}
}

// register registers the Node and keeps it alive until ctx ends. The API server may be down at the start.
func (n *node) register(ctx context.Context, controller *vknode.NodeController) error {
	err := wait.PollUntilContextCancel(ctx, retryDelay, true, func(ctx context.Context) (bool, error) {
		_, err := n.client.CoreV1().Nodes().Get(ctx, n.options.Name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			n.options.Log.Warn("the API server does not answer yet", "error", err)
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	if err := controller.Run(ctx); err != nil {
		return fmt.Errorf("register node %s: %w", n.options.Name, err)
	}
	return nil
}

// nodesClient is a client that hides the errors of an ended context: with these the controller takes a request for a
// success, and panics because it has no Node.
type nodesClient struct{ corev1client.NodeInterface }

// Get returns a Node.
func (c nodesClient) Get(ctx context.Context, name string, options metav1.GetOptions) (*corev1.Node, error) {
	object, err := c.NodeInterface.Get(ctx, name, options)
	return object, withoutContext(err)
}

// Patch changes a Node.
func (c nodesClient) Patch(
	ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string,
) (*corev1.Node, error) {
	object, err := c.NodeInterface.Patch(ctx, name, kind, data, options, subresources...)
	return object, withoutContext(err)
}

func withoutContext(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return errors.New(err.Error())
	}
	return err
}

// registerAgain recreates a deleted Node.
func (n *node) registerAgain(ctx context.Context, err error) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	_, err = n.client.CoreV1().Nodes().Create(ctx, n.object(), metav1.CreateOptions{})
	return err
}
