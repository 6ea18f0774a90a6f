// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addNodeSteps adds the sentences about the nodes of the host.
func addNodeSteps(sc world.Sentences) {
	sc.Step(`^the host has another node$`, func(ctx context.Context) error { return from(ctx).addNode(ctx) })
	spread := func(ctx context.Context, name string, ready, waiting int) error {
		return world.Eventually(ctx, func(ctx context.Context) error { return from(ctx).spread(ctx, name, ready, waiting) })
	}
	sc.Step(`^Deployment "([^"]*)" has (\d+) ready Pods, each on a node of its own$`,
		func(ctx context.Context, name string, ready int) error { return spread(ctx, name, ready, 0) })
	sc.Step(`^Deployment "([^"]*)" has (\d+) ready Pods, each on a node of its own, and (\d+) without a node$`, spread)
}

// addNode adds a node to the host. When it is removed at the end, the add-on has its default configuration.
func (s Steps) addNode(ctx context.Context) error {
	const name = "host-node-2"
	s.CommandsRun.Store(true)
	s.Disturbed.Add("the installation", func(ctx context.Context) error { return s.AddOn.Configure(ctx, nil) })
	s.Disturbed.Add("the nodes of the host", func(ctx context.Context) error { return s.Federation.RemoveHostNode(ctx, name) })
	return s.Federation.AddHostNode(ctx, name)
}

// spread returns an error unless a Deployment of the add-on has rolled out and has so many ready Pods, no two on one
// node, and so many Pods without a node.
func (s Steps) spread(ctx context.Context, name string, ready, waiting int) error {
	host := s.Client("host", world.Admin)
	var deployment appsv1.Deployment
	if err := host.Get(ctx, client.ObjectKey{Namespace: "karmada-system", Name: name}, &deployment); err != nil {
		return err
	}
	if status := deployment.Status; status.ObservedGeneration < deployment.Generation || int(status.UpdatedReplicas) != ready+waiting {
		return fmt.Errorf("it has not rolled out: generation is %d, status %+v", deployment.Generation, status)
	}
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return err
	}
	var pods corev1.PodList
	if err := host.List(ctx, &pods, client.InNamespace(deployment.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return err
	}
	nodes, refused := map[string]bool{}, 0
	for i := range pods.Items {
		if is(&pods.Items[i], corev1.PodReady, corev1.ConditionTrue) {
			nodes[pods.Items[i].Spec.NodeName] = true
		}
		if is(&pods.Items[i], corev1.PodScheduled, corev1.ConditionFalse) {
			refused++
		}
	}
	if len(pods.Items) != ready+waiting || len(nodes) != ready || refused != waiting {
		return fmt.Errorf("there are %d Pods, ready ones on nodes %v, %d without a node", len(pods.Items), nodes, refused)
	}
	return nil
}

// is reports whether a condition of a Pod has a status.
func is(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == kind {
			return condition.Status == status
		}
	}
	return false
}
