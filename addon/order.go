// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// goesBack reports whether the wanted agents have an earlier version than the present agents or replicas. Agents and replicas have the
// same version, so the replicas show it even if an earlier run was interrupted after the agents. If the versions cannot be compared,
// goesBack prints that and returns false.
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
			s.say("tags %q and %q are not both versions, so it is not known whether this goes back to an earlier one: the replicas are replaced before the agents",
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

// isEarlier reports whether a tag is an earlier version than another. known is false unless the tags are equal or both semantic
// versions.
func isEarlier(tag, than string) (earlier, known bool) {
	if tag == than && tag != "" {
		return false, true
	}
	one, err := version.ParseSemantic(tag)
	if err != nil {
		return false, false
	}
	other, err := version.ParseSemantic(than)
	if err != nil {
		return false, false
	}
	return one.LessThan(other), true
}
