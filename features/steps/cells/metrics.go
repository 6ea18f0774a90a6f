// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// The metrics API, which Kubernetes' autoscaler reads.
const (
	metricsGroup   = "metrics.k8s.io"
	metricsVersion = "v1beta1"
	metricsKind    = "PodMetrics"
)

// addMetricsSteps adds the sentences about what Pods use.
func addMetricsSteps(sc world.Sentences) {
	sc.Step(`^cell "([^"]*)" serves metrics of Pods$`, func(ctx context.Context, cell string) error {
		return from(ctx).serveMetrics(ctx, cell)
	})
	sc.Step(`^the Pods "([^"]*)" in cell "([^"]*)" use (\d+) % of their (CPU|memory)$`, func(ctx context.Context, names, cell string, percent int64, of string) error {
		for _, name := range world.SplitNames(names) {
			if err := from(ctx).use(ctx, cell, name, usage{corev1.ResourceName(strings.ToLower(of)), percent}); err != nil {
				return err
			}
		}
		return nil
	})
}

// serveMetrics makes the kube-apiserver of a cell serve the metrics API from stored objects; a metrics server would compute them
// from the nodes' reports. The API is not removed: other scenarios do not notice it.
func (s Steps) serveMetrics(ctx context.Context, cell string) error {
	definition := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "pods." + metricsGroup,
			// Kubernetes requires this annotation in its own API groups.
			Annotations: map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "unapproved, for tests"},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: metricsGroup, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "pods", Singular: "podmetric", Kind: metricsKind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: metricsVersion, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: new(true),
				}},
			}},
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(definition)
	if err != nil {
		return err
	}
	err = s.Client("cell/"+cell, world.Admin).Create(ctx, &unstructured.Unstructured{Object: content})
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
		found := &unstructured.Unstructured{}
		found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		if err := c.Get(ctx, client.ObjectKey{Namespace: s.NamespaceIn(plane), Name: name}, found); err != nil {
			return err
		}
		pod := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, pod); err != nil {
			return err
		}
		metrics := &unstructured.Unstructured{Object: map[string]any{
			"timestamp": time.Now().UTC().Format(time.RFC3339), "window": "10s",
			"containers": []any{map[string]any{
				"name": pod.Spec.Containers[0].Name, "usage": u.measured(&pod.Spec.Containers[0]),
			}},
		}}
		metrics.SetAPIVersion(metricsGroup + "/" + metricsVersion)
		metrics.SetKind(metricsKind)
		metrics.SetNamespace(pod.Namespace)
		metrics.SetName(pod.Name)
		metrics.SetLabels(pod.Labels)
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(metrics), client.FieldOwner("metrics-server"), client.ForceOwnership)
	})
}
