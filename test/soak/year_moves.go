// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// step is a move with the name of the objects that it creates.
type step struct {
	OperatorMove
	name string
}

// mover makes a move, and returns what takes it back.
type mover func(ctx context.Context, y *Year, s step) (back func(context.Context) error, err error)

// moveTable are the moves by their kinds. It is never written to.
var moveTable = map[string]mover{
	"an override of the environment":            override("add", firstContainer+"/env", environment),
	"an override with an unknown runtime class": override("add", "/spec/template/spec/runtime/class", "nowhere"),
	"an override that removes the containers":   override("remove", "/spec/template/spec/runtime/sandbox/containers", nil),
	"an override of what the hub counts on":     override("replace", "/spec/scaleSettings/minReplicas", int64(9)),
	"an override of a path that does not exist": override("replace", "/spec/template/spec/nothing/0/image", "x"),
	"a policy that takes everything":            takeEverything,
	"a policy with a wrong priority":            refusedPriority,
	"a cordon":                                  taint(cordon),
	"a NoExecute taint":                         taint(maintenance),
	"a taint with a typo":                       refusedTaint,
	"a cluster without its city":                loseCity,
	"a cluster in another city":                 moveCity,
	"a cell that is set back to a backup":       restoreCell,
	"a hub that is set back to a backup":        restoreHub,
	aProjectSetBack:                             restoreProject,
	"a cell that is rebuilt under its name":     rebuildCell,
	"a quota of Pods in the cell":               allowNoPods,
	"Pod security restricted in the cell":       restrictPods,
	"a rebalancer":                              rebalance,
	"a load balancer whose annotation is wrong": misconfigureBalancer,
	"a load balancer without an address":        withholdAddress,
	"a Gateway without an address":              withholdGateway,
	"an agent that is away":                     stopAgent,
	"a node whose clock is ahead":               setClockAhead,
	"data that changes":                         changeData,
	"data that is deleted and created again":    recreateData,
}

var (
	environment = []any{map[string]any{"name": "REGION", "value": "here"}}
	cordon      = corev1.Taint{Key: "node.kubernetes.io/unschedulable", Effect: corev1.TaintEffectNoSchedule}
	maintenance = corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoExecute}
)

const firstContainer = "/spec/template/spec/runtime/sandbox/containers/0"

// aProjectSetBack is a move of a federation with Milo: without it, the projects are set back with the hub.
const aProjectSetBack = "a project that is set back to a backup"

// moveKinds are the kinds of moves in an order that is always the same.
func moveKinds(withoutMilo bool) []string {
	kinds := slices.Sorted(maps.Keys(moveTable))
	if withoutMilo {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == aProjectSetBack })
	}
	return kinds
}

// create creates an object on the hub. It is deleted at the end.
func (y *Year) create(ctx context.Context, object client.Object) (func(context.Context) error, error) {
	hub := y.collector.planes[hubPlane]
	err := hub.Create(ctx, object)
	return func(ctx context.Context) error { return client.IgnoreNotFound(hub.Delete(ctx, object)) }, err
}

func karmada(apiVersion, kind, name string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec}}
	object.SetName(name)
	return object
}

// override changes one field of all deployments in the cell.
func override(operator, path string, value any) mover {
	return func(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
		overrider := map[string]any{"path": path, "operator": operator}
		if value != nil {
			overrider["value"] = value
		}
		return y.create(ctx, karmada("policy.karmada.io/v1alpha1", "ClusterOverridePolicy", s.name, map[string]any{
			"resourceSelectors": []any{map[string]any{"apiVersion": v1alpha.GroupVersion.String(), "kind": v1alpha.KindWorkloadDeployment}},
			"overrideRules": []any{map[string]any{
				"targetCluster": map[string]any{"clusterNames": []any{s.Cell}},
				"overriders":    map[string]any{"plaintext": []any{overrider}},
			}},
		}))
	}
}

// greedy is a policy that selects what the add-on has on the hub, for all cells.
func greedy(name string, priority int64) *unstructured.Unstructured {
	ours := map[string]any{"matchExpressions": []any{map[string]any{"key": v1alpha.LabelProject, "operator": "Exists"}}}
	return karmada("policy.karmada.io/v1alpha1", "ClusterPropagationPolicy", name, map[string]any{
		"priority": priority,
		"resourceSelectors": []any{
			map[string]any{"apiVersion": "v1", "kind": "Namespace", "labelSelector": ours},
			map[string]any{"apiVersion": "v1", "kind": "Secret", "labelSelector": ours},
			map[string]any{"apiVersion": v1alpha.GroupVersion.String(), "kind": v1alpha.KindWorkloadDeployment},
		},
		"placement": map[string]any{},
	})
}

func takeEverything(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	return y.create(ctx, greedy(s.name, 0))
}

// refused expects that the hub refuses an object.
func refused(err error, what string) error {
	switch {
	case err == nil:
		return fmt.Errorf("the hub has accepted %s", what)
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return nil
	}
	return err
}

func refusedPriority(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	back, err := y.create(ctx, greedy(s.name, 1<<40))
	return back, refused(err, "a policy with priority 2^40")
}

// change changes the Cluster of a cell.
func (y *Year) change(ctx context.Context, cell string, change func(*clusterv1alpha1.Cluster)) error {
	hub := y.collector.planes[hubPlane]
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cluster := &clusterv1alpha1.Cluster{}
		if err := hub.Get(ctx, client.ObjectKey{Name: cell}, cluster); err != nil {
			return err
		}
		change(cluster)
		return hub.Update(ctx, cluster)
	})
}

// taint taints the cluster.
func taint(with corev1.Taint) mover {
	return func(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
		remove := func(c *clusterv1alpha1.Cluster) {
			c.Spec.Taints = slices.DeleteFunc(c.Spec.Taints, func(t corev1.Taint) bool { return t.Key == with.Key })
		}
		err := y.change(ctx, s.Cell, func(c *clusterv1alpha1.Cluster) { c.Spec.Taints = append(c.Spec.Taints, with) })
		return func(ctx context.Context) error { return y.change(ctx, s.Cell, remove) }, err
	}
}

func refusedTaint(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	back, err := taint(corev1.Taint{Key: "year", Effect: "NoExecut"})(ctx, y, s)
	return back, refused(err, "a taint with effect NoExecut")
}

// loseCity removes the label of the city, and sets it again.
func loseCity(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	city := ""
	err := y.change(ctx, s.Cell, func(c *clusterv1alpha1.Cluster) {
		city = c.Labels[v1alpha.LabelTopologyCity]
		delete(c.Labels, v1alpha.LabelTopologyCity)
	})
	return func(ctx context.Context) error {
		return y.change(ctx, s.Cell, func(c *clusterv1alpha1.Cluster) {
			metav1.SetMetaDataLabel(&c.ObjectMeta, v1alpha.LabelTopologyCity, city)
		})
	}, err
}

// inHubNamespaces does something in each hub namespace that the cell has.
func (y *Year) inHubNamespaces(ctx context.Context, cell string, do func(context.Context, client.Client, string) error) error {
	var failed []error
	for _, namespace := range slices.Sorted(maps.Values(y.collector.hubNamespaces)) {
		err := do(ctx, y.collector.planes["cell/"+cell], namespace)
		// The consumer may delete the last Workload of a city at any time.
		if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err) {
			err = nil
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// allowNoPods lets the cell create no Pod for a while.
func allowNoPods(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	quota := func(namespace string) *corev1.ResourceQuota {
		return &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: s.name},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
		}
	}
	err := y.inHubNamespaces(ctx, s.Cell, func(ctx context.Context, cell client.Client, namespace string) error {
		return cell.Create(ctx, quota(namespace))
	})
	return func(ctx context.Context) error {
		return y.inHubNamespaces(ctx, s.Cell, func(ctx context.Context, cell client.Client, namespace string) error {
			return cell.Delete(ctx, quota(namespace))
		})
	}, err
}

// podSecurity is the label that names the level of Pod security.
const podSecurity = "pod-security.kubernetes.io/enforce"

// restrictPods sets a stricter level of Pod security in the cell, which must stay.
func restrictPods(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	set := func(level string) func(context.Context, client.Client, string) error {
		return func(ctx context.Context, cell client.Client, namespace string) error {
			object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, podSecurity, level)
			return cell.Patch(ctx, object, client.RawPatch("application/merge-patch+json", patch))
		}
	}
	// kept fails if the level was reset, unless it is another namespace of the name by now.
	found := map[string]types.UID{}
	note := func(ctx context.Context, cell client.Client, namespace string) error {
		object := &corev1.Namespace{}
		err := cell.Get(ctx, client.ObjectKey{Name: namespace}, object)
		found[namespace] = object.UID
		return err
	}
	kept := func(ctx context.Context, cell client.Client, namespace string) error {
		object := &corev1.Namespace{}
		err := cell.Get(ctx, client.ObjectKey{Name: namespace}, object)
		if level := object.Labels[podSecurity]; err == nil && object.UID == found[namespace] && level != "restricted" {
			return fmt.Errorf("in cell %s, namespace %s has level %q of Pod security again", s.Cell, namespace, level)
		}
		return err
	}
	err := errors.Join(y.inHubNamespaces(ctx, s.Cell, note), y.inHubNamespaces(ctx, s.Cell, set("restricted")))
	return func(ctx context.Context) error {
		return errors.Join(y.inHubNamespaces(ctx, s.Cell, kept), y.inHubNamespaces(ctx, s.Cell, set("privileged")))
	}, err
}

// rebalance lets Karmada schedule all deployments again.
func rebalance(ctx context.Context, y *Year, s step) (func(context.Context) error, error) {
	var all []any
	for _, namespace := range slices.Sorted(maps.Values(y.collector.hubNamespaces)) {
		copies := &v1alpha.WorkloadDeploymentList{}
		if err := y.collector.planes[hubPlane].List(ctx, copies, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		for i := range copies.Items {
			all = append(all, map[string]any{
				"apiVersion": v1alpha.GroupVersion.String(), "kind": v1alpha.KindWorkloadDeployment,
				"namespace": namespace, "name": copies.Items[i].Name,
			})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return y.create(ctx, karmada("apps.karmada.io/v1alpha1", "WorkloadRebalancer", s.name, map[string]any{"workloads": all}))
}
