// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// waitAgents waits for the agents in the cells and reports their status. enable succeeds although a cell is unreachable: Karmada
// propagates the agent when the cell recovers. If no agents are rendered, there is nothing to wait for.
func (s *session) waitAgents(ctx context.Context) error {
	if !slices.ContainsFunc(s.rendered[onHub], func(e entry) bool { return e.Kind == "Deployment" }) {
		s.say("no agents are installed: the values disable them")
		return nil
	}
	said := ""
	err := wait.PollUntilContextTimeout(ctx, pollInterval, s.options.karmada.timeout, true, func(ctx context.Context) (bool, error) {
		missing, err := missingAgents(ctx, s.hub)
		if err != nil {
			return false, err
		}
		if missing != "" && missing != said {
			s.say("%s", missing)
			said = missing
		}
		return missing == "", nil
	})
	switch {
	case err == nil:
		s.say("every cell has its agent")
	case ctx.Err() == nil && wait.Interrupted(err):
		s.say("%s; Karmada keeps trying", said)
		return nil
	}
	return err
}

// agentBinding is the binding of the agents' Deployment on the hub, and agentDeployment that Deployment.
var (
	agentBinding    = client.ObjectKey{Namespace: "karmada-compute-system", Name: "karmada-compute-cell-deployment"}
	agentDeployment = client.ObjectKey{Namespace: agentBinding.Namespace, Name: "karmada-compute-cell"}
)

// missingAgents names the cells without a running agent of the hub's current version; "": none.
func missingAgents(ctx context.Context, hub *plane) (string, error) {
	clusters, err := hub.list(ctx, "cluster.karmada.io/v1alpha1", "Cluster", client.HasLabels{cityLabel})
	if err != nil || len(clusters) == 0 {
		return "", err
	}
	binding := reference{APIVersion: "work.karmada.io/v1alpha2", Kind: "ResourceBinding"}.object()
	deployment := &appsv1.Deployment{}
	if err = hub.Get(ctx, agentBinding, binding); err == nil {
		err = hub.Get(ctx, agentDeployment, deployment)
	}
	if err != nil {
		return "waiting for Karmada to propagate the agents", client.IgnoreNotFound(err)
	}
	present, err := presentAgents(binding, deployment.Generation)
	if err != nil {
		return "", err
	}
	var without []string
	for i := range clusters {
		if name := clusters[i].GetName(); !present[name] {
			without = append(without, name)
		}
	}
	if len(without) == 0 {
		return "", nil
	}
	return fmt.Sprintf("the agent is not ready in %v", without), nil
}

// presentAgents are the cells that report a healthy agent of this generation of its Deployment.
func presentAgents(binding *unstructured.Unstructured, generation int64) (map[string]bool, error) {
	items, _, err := unstructured.NestedSlice(binding.Object, "status", "aggregatedStatus")
	if err != nil {
		return nil, err
	}
	present := map[string]bool{}
	for _, item := range items {
		status, _ := item.(map[string]any)
		name, _, _ := unstructured.NestedString(status, "clusterName")
		health, _, _ := unstructured.NestedString(status, "health")
		reported, _, _ := unstructured.NestedInt64(status, "status", "resourceTemplateGeneration")
		present[name] = health == "Healthy" && reported >= generation
	}
	return present, nil
}
