// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// podMetrics is the kind that Kubernetes' autoscaler reads.
//
//go:embed crds/podmetrics.yaml
var podMetrics []byte

// addMetricsSteps adds the sentences about what Pods use.
func addMetricsSteps(sc world.Sentences) {
	sc.Step(`^cell "([^"]*)" serves metrics of Pods$`, func(ctx context.Context, cell string) error {
		return from(ctx).serveMetrics(ctx, cell)
	})
	sc.Step(`^the Pods "([^"]*)" in cell "([^"]*)" use (\d+) % of their (CPU|memory)$`,
		func(ctx context.Context, names, cell string, percent int64, of string) error {
			for _, name := range world.SplitNames(names) {
				if err := from(ctx).use(ctx, cell, name, usage{corev1.ResourceName(strings.ToLower(of)), percent}); err != nil {
					return err
				}
			}
			return nil
		})
}

// serveMetrics makes the kube-apiserver of a cell serve the metrics API from stored objects; a metrics server would
// compute them from the nodes' reports. The API is not removed: other scenarios do not notice it.
func (s Steps) serveMetrics(ctx context.Context, cell string) error {
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(podMetrics, definition); err != nil {
		return err
	}
	err := s.Client("cell/"+cell, world.Admin).Create(ctx, definition)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("serve the metrics API in cell %s: %w", cell, err)
	}
	return nil
}

// usage is a percentage of the request of a resource.
type usage struct {
	of      corev1.ResourceName
	percent int64
}

// measured returns what a container uses. Of the other resource it uses little.
func (u usage) measured(container *corev1.Container) map[string]any {
	used := map[string]any{"cpu": "1m", "memory": "1Mi"}
	requested := container.Resources.Requests[u.of]
	used[string(u.of)] = resource.NewMilliQuantity(requested.MilliValue()*u.percent/100, resource.DecimalSI).String()
	return used
}

// use sets the usage of a Pod, for its first container.
func (s Steps) use(ctx context.Context, cell, name string, u usage) error {
	plane := "cell/" + cell
	c := s.Client(plane, world.Admin)
	return world.Eventually(ctx, func(ctx context.Context) error {
		pod := &corev1.Pod{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: s.NamespaceIn(plane), Name: name}, pod); err != nil {
			return err
		}
		metrics := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics",
			"timestamp": time.Now().UTC().Format(time.RFC3339), "window": "10s",
			"containers": []any{map[string]any{
				"name": pod.Spec.Containers[0].Name, "usage": u.measured(&pod.Spec.Containers[0]),
			}},
		}}
		metrics.SetNamespace(pod.Namespace)
		metrics.SetName(pod.Name)
		metrics.SetLabels(pod.Labels)
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(metrics), client.FieldOwner("metrics-server"), client.ForceOwnership)
	})
}
