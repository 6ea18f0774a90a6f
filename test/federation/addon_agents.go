// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/karmada-compute/karmada-compute/test/federation/node"
)

// agentNamespace is the namespace of the add-on's agents in the cells.
const agentNamespace = "karmada-compute-system"

// KillAgent ends the process of the add-on's agent in a cell without warning and waits until it is gone. The cell's
// node starts the container of the Pod again, as kubelet does; WaitAgent waits for that. The error is ErrNotRunning if
// it had ended before.
func (a *AddOn) KillAgent(ctx context.Context, cell string) error {
	ids, err := a.AgentProcessIDs(ctx, cell)
	if err != nil {
		return err
	}
	killed := 0
	for _, id := range ids {
		rec := record{Name: "agent of cell " + cell, PID: id}
		var ended bool
		if rec.StartTime, ended, err = processStat(id); err != nil || ended {
			continue // it has ended before
		}
		if err := rec.stop(ctx, syscall.SIGKILL); err != nil {
			return fmt.Errorf("kill the agent of cell %s: %w", cell, err)
		}
		killed++
	}
	if killed == 0 {
		return fmt.Errorf("the agent of cell %s: %w", cell, ErrNotRunning)
	}
	return nil
}

// AgentProcessIDs returns the process ids of the add-on's agent in a cell. While it is being replaced there are
// several.
func (a *AddOn) AgentProcessIDs(ctx context.Context, cell string) ([]int, error) {
	client, err := a.cell(cell)
	if err != nil {
		return nil, err
	}
	pods, err := client.CoreV1().Pods(agentNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("find the agent of cell %s: %w", cell, err)
	}
	var ids []int
	for i := range pods.Items {
		if id := processOf(&pods.Items[i]); id != 0 {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// WaitAgent waits until the agent that Karmada propagates to a cell is ready.
func (a *AddOn) WaitAgent(ctx context.Context, cell string) error {
	client, err := a.cell(cell)
	if err != nil {
		return err
	}
	err = await(ctx, podInterval, func(ctx context.Context) error {
		_, err := readyAgent(ctx, client)
		return err
	})
	if err != nil {
		return fmt.Errorf("the agent of cell %s is not ready: %w", cell, err)
	}
	return nil
}

// readyAgent returns the Pod of the agent that is ready.
func readyAgent(ctx context.Context, cell kubernetes.Interface) (*corev1.Pod, error) {
	pods, err := cell.CoreV1().Pods(agentNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(pods.Items, func(pod corev1.Pod) bool { return pod.DeletionTimestamp == nil && node.IsReady(&pod) })
	if i < 0 {
		return nil, errors.New("no Pod is ready")
	}
	return &pods.Items[i], nil
}

func (a *AddOn) cell(name string) (kubernetes.Interface, error) {
	if _, err := a.federation.cell(name); err != nil {
		return nil, err
	}
	config, err := a.federation.Config(planeCell+name, "federation")
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}
