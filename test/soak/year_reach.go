// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"time"

	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// misspelled are texts of the annotation of a load balancer that an operator writes by mistake.
var misspelled = []string{`{"adresses":["10.130.0.0/24"]}`, `{"addresses":["10.130.0.0/240"]}`, `{"addresses":["10.130.0.0/24"]`}

// misconfigureBalancer writes a typing error into the annotation of the cell's load balancer. The hub may refuse it.
func misconfigureBalancer(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	hub := y.collector.planes[hubPlane]
	describes := &corev1.Namespace{}
	if err := hub.Get(ctx, client.ObjectKey{Name: karmadanames.GenerateExecutionSpaceName(s.Cell)}, describes); err != nil {
		return nil, err
	}
	write := func(ctx context.Context, text string) error {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha.AnnotationLoadBalancer, text)
		return hub.Patch(ctx, describes.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
	}
	err := write(ctx, misspelled[y.Seed%uint64(len(misspelled))])
	if refused(err, "") == nil {
		y.printf("the hub refuses the annotation: %v", err)
		return nil, nil
	}
	former := describes.Annotations[v1alpha.AnnotationLoadBalancer]
	return func(ctx context.Context) error { return write(ctx, former) }, err
}

// withholdAddress leaves the Services of the cell without an address in their status. Their load balancers continue to answer.
func withholdAddress(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	annotate := func(value string) func(context.Context, client.Client, string) error {
		return func(ctx context.Context, cell client.Client, namespace string) error {
			services := &corev1.ServiceList{}
			failed := []error{cell.List(ctx, services, client.InNamespace(namespace))}
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, federation.AnnotationWithheld, value)
			for i := range services.Items {
				failed = append(failed, client.IgnoreNotFound(cell.Patch(ctx, &services.Items[i], client.RawPatch(types.MergePatchType, patch))))
			}
			return errors.Join(failed...)
		}
	}
	err := y.inHubNamespaces(ctx, s.Cell, annotate(`"yes"`))
	return func(ctx context.Context) error { return y.inHubNamespaces(ctx, s.Cell, annotate("null")) }, err
}

// withholdGateway leaves the Gateway of the cell without an address in its status. It continues to serve.
func withholdGateway(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	return y.Federation.WithholdGatewayAddress(ctx, s.Cell)
}

// stopAgent stops the agent of the cell by an override of the operator's.
func stopAgent(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	start, err := y.create(ctx, karmada("policy.karmada.io/v1alpha1", "ClusterOverridePolicy", s.name, map[string]any{
		"resourceSelectors": []any{map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "karmada-compute-system", "name": "karmada-compute-cell",
		}},
		"overrideRules": []any{map[string]any{
			"targetCluster": map[string]any{"clusterNames": []any{s.Cell}},
			"overriders": map[string]any{"plaintext": []any{
				map[string]any{"path": "/spec/replicas", "operator": "replace", "value": int64(0)},
			}},
		}},
	}))
	if err == nil {
		// Karmada's cache may be old after a restart of the hub: a policy that is deleted before it is applied would stay applied.
		err = federation.Await(ctx, retryDelay, startTimeout, func(ctx context.Context) error {
			running, err := y.AddOn.AgentProcessIDs(ctx, s.Cell)
			if err == nil && len(running) > 0 {
				err = fmt.Errorf("the agent of cell %s is running", s.Cell)
			}
			return err
		})
	}
	return func(ctx context.Context) error {
		if err := start(ctx); err != nil {
			return err
		}
		return y.processes.Start(ctx, agentPrefix+s.Cell)
	}, err
}

// clockError is the time by which the clock of a node is ahead.
const clockError = 10 * time.Minute

// setClockAhead gives the Pods of the cell the times of a node whose clock is ahead: kwok's nodes have the clock of the machine.
func setClockAhead(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	stamp := func(ahead time.Duration) func(context.Context, client.Client, string) error {
		return func(ctx context.Context, cell client.Client, namespace string) error {
			pods := &corev1.PodList{}
			failed := []error{cell.List(ctx, pods, client.InNamespace(namespace))}
			for i := range pods.Items {
				pod := pods.Items[i].DeepCopy()
				for c := range pod.Status.Conditions {
					pod.Status.Conditions[c].LastTransitionTime = metav1.NewTime(y.Clock.Now().Add(ahead))
				}
				err := cell.Status().Patch(ctx, pod, client.StrategicMergeFrom(&pods.Items[i]))
				if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
					err = nil // it is another Pod by now
				}
				failed = append(failed, err)
			}
			return errors.Join(failed...)
		}
	}
	err := y.inHubNamespaces(ctx, s.Cell, stamp(clockError))
	return func(ctx context.Context) error { return y.inHubNamespaces(ctx, s.Cell, stamp(0)) }, err
}

// data returns the client of the project of dataWorkload, and its ConfigMap with a new content.
func (y *Year) data(s step) (client.Client, *corev1.ConfigMap) {
	project := y.Projects[0]
	return y.Client("project/"+project, federation.Admin), settings(y.namespaceIn(project), s.name)
}

// changeData changes the ConfigMap, which is rolled out.
func changeData(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	project, changed := y.data(s)
	return nil, project.Update(ctx, changed)
}

// recreateData deletes the ConfigMap, and creates it again with another content.
func recreateData(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	project, again := y.data(s)
	err := client.IgnoreNotFound(project.Delete(ctx, again.DeepCopy()))
	return func(ctx context.Context) error { return client.IgnoreAlreadyExists(project.Create(ctx, again)) }, err
}
