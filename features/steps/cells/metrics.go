// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// podMetrics is the kind that Kubernetes' autoscaler reads.
//
//go:embed crds/podmetrics.yaml
var podMetrics []byte

// addMetricsSteps adds the sentences about the CPU usage of Pods.
func addMetricsSteps(sc world.Sentences) {
	sc.Step(`^cell "([^"]*)" serves metrics of Pods$`, func(ctx context.Context, cell string) error {
		return from(ctx).serveMetrics(ctx, cell)
	})
	sc.Step(`^the Pods "([^"]*)" in cell "([^"]*)" use (\d+) % of their CPU$`, func(ctx context.Context, names, cell string, percent int64) error {
		for _, name := range world.SplitNames(names) {
			if err := from(ctx).useCPU(ctx, cell, name, percent); err != nil {
				return err
			}
		}
		return nil
	})
}

// serveMetrics makes the kube-apiserver of a cell serve the metrics API from stored objects; a metrics server would compute them
// from the nodes' reports. The API is not removed: other scenarios do not notice it.
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

// useCPU sets the CPU usage of a Pod to a percentage of its CPU request, for its first container.
func (s Steps) useCPU(ctx context.Context, cell, name string, percent int64) error {
	plane := "cell/" + cell
	c := s.Client(plane, world.Admin)
	return world.Eventually(ctx, func(ctx context.Context) error {
		pod := &corev1.Pod{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: s.NamespaceIn(plane), Name: name}, pod); err != nil {
			return err
		}
		requested := pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		used := resource.NewMilliQuantity(requested*percent/100, resource.DecimalSI)
		metrics := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics",
			"timestamp": time.Now().UTC().Format(time.RFC3339), "window": "10s",
			"containers": []any{map[string]any{
				"name": pod.Spec.Containers[0].Name, "usage": map[string]any{"cpu": used.String(), "memory": "1Mi"},
			}},
		}}
		metrics.SetNamespace(pod.Namespace)
		metrics.SetName(pod.Name)
		metrics.SetLabels(pod.Labels)
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(metrics), client.FieldOwner("metrics-server"), client.ForceOwnership)
	})
}
