// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// waitAgents waits for the agents in the cells and reports their status. enable succeeds although a cell is
// unreachable: Karmada propagates the agent when the cell recovers. If no agents are rendered, there is nothing to wait
// for.
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

// goesBack reports whether the wanted agents have an earlier version than the present agents or replicas. Agents and
// replicas have the same version, so the replicas show it even if an earlier run was interrupted after the agents. If
// the versions cannot be compared, goesBack prints that and returns false.
func (s *session) goesBack(ctx context.Context, wanted *unstructured.Unstructured) (bool, error) {
	agents := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(wanted.Object, agents); err != nil {
		return false, fmt.Errorf("read the rendered Deployment of the agents: %w", err)
	}
	next := tagOf(agents)
	for _, present := range []struct {
		at  *plane
		key client.ObjectKey
	}{
		{s.hub, agentDeployment},
		{s.host, client.ObjectKey{Namespace: s.options.karmada.namespace, Name: Name}},
	} {
		deployment := &appsv1.Deployment{}
		if err := present.at.Get(ctx, present.key, deployment); err != nil {
			if client.IgnoreNotFound(err) == nil {
				continue
			}
			return false, fmt.Errorf("read the version of Deployment %s at %s: %w", present.key, present.at.name, err)
		}
		earlier, known := isEarlier(next, tagOf(deployment))
		if earlier {
			return true, nil
		}
		if !known {
			s.say("tags %q and %q are not both versions, so it is not known whether this goes back to an earlier one: the "+
				"replicas are replaced before the agents",
				tagOf(deployment), next)
			return false, nil
		}
	}
	return false, nil
}

// tagOf is the tag of the image of a Deployment's first container, or "".
func tagOf(deployment *appsv1.Deployment) string {
	containers := deployment.Spec.Template.Spec.Containers
	if len(containers) == 0 {
		return ""
	}
	image, _, _ := strings.Cut(containers[0].Image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return tag
}

// isEarlier reports whether a tag is an earlier version than another. known is false unless the tags are equal or both
// semantic versions.
func isEarlier(tag, than string) (earlier, known bool) {
	if tag == than && tag != "" {
		return false, true
	}
	candidate, err := version.ParseSemantic(tag)
	if err != nil {
		return false, false
	}
	other, err := version.ParseSemantic(than)
	if err != nil {
		return false, false
	}
	return candidate.LessThan(other), true
}
