// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/milo/quota"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/ledger"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// fixture is a deployment of an engaged project, and its copy on the hub. All tests share the project and its quota, so
// they do not run in parallel.
type fixture struct {
	*planes.Planes
	reconciler *Reconciler
	ledger     *ledger.Ledger
	original   *v1alpha.WorkloadDeployment
}

// newFixture creates a deployment whose Instances need one CPU and one GiB, and have these indices.
func newFixture(t *testing.T, indices ...int) *fixture {
	t.Helper()
	f := &fixture{Planes: planes.New(t)}
	f.EnsureHubNamespace(t)
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "milo-system"}}
	if err := f.Client.Create(t.Context(), system); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(f.Config())
	if err != nil {
		t.Fatal(err)
	}
	f.ledger = &ledger.Ledger{
		Objects: objects, Project: string(planes.ProjectName), Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	}
	f.reconciler = New(Options{Projects: f.Planes, Hub: f.Hub, Clock: clock.RealClock{}, Registerer: prometheus.NewRegistry()})
	f.engage(t)
	f.original = f.Deployment("web", "DFW")
	f.original.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace}
	f.original.Spec.ScaleSettings.MinReplicas = int32(len(indices))
	f.original.Spec.Template.Spec.Runtime.Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU: *asQuantity("1"), corev1.ResourceMemory: *asQuantity("1Gi"),
	}
	planes.Create(t, f.Planes, f.original)
	copied := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.HubNamespace, Name: "web", Labels: map[string]string{v1alpha.LabelDeploymentUID: string(f.original.UID)},
			Annotations: map[string]string{v1alpha.AnnotationProjectName: planes.ProjectName.String()},
		},
		Spec: *f.original.Spec.DeepCopy(),
	}
	copied.Spec.Quota, copied.Spec.Assignment = &v1alpha.WorkloadDeploymentQuota{}, assignment(indices...)
	planes.Create(t, f.Planes, copied)
	t.Cleanup(func() { f.clear(t) })
	return f
}

// clear releases the quota.
func (f *fixture) clear(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	for _, err := range []error{
		f.Client.DeleteAllOf(ctx, &quota.ResourceClaim{}, client.InNamespace(f.Namespace.Name)),
		f.ledger.Objects.Resource(ledger.Grants).Namespace(f.Namespace.Name).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
		f.ledger.Objects.Resource(ledger.Buckets).Namespace("milo-system").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func assignment(indices ...int) *v1alpha.WorkloadDeploymentAssignment {
	return &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{{Name: "dfw", Indices: naming.Ranges(indices)}}}
}

// engage engages the project, as the manager does.
func (f *fixture) engage(t *testing.T) {
	t.Helper()
	f.engageUntil(t.Context(), t)
}

// engageUntil engages the project until the context ends.
func (f *fixture) engageUntil(ctx context.Context, t *testing.T) {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]())
	t.Cleanup(queue.ShutDown)
	project, err := f.Get(t.Context(), planes.ProjectName)
	if err != nil {
		t.Fatal(err)
	}
	source, _, err := f.reconciler.claims.ForCluster(planes.ProjectName, project)
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Start(ctx, queue); err != nil {
		t.Fatal(err)
	}
}

// allow grants the project quota for a total of this many Instances of one CPU and one GiB.
func (f *fixture) allow(t *testing.T, instances int64) {
	t.Helper()
	var allowances []any
	for resourceType, amount := range map[string]int64{
		quota.ResourceTypeInstances: instances, quota.ResourceTypeVCPUs: 1000 * instances, quota.ResourceTypeMemory: 1024 * instances,
	} {
		allowances = append(allowances, map[string]any{"resourceType": resourceType, "buckets": []any{map[string]any{"amount": amount}}})
	}
	grant := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "quota.miloapis.com/v1alpha1", "kind": "ResourceGrant",
		"metadata": map[string]any{"name": "all", "namespace": f.Namespace.Name},
		"spec": map[string]any{
			"consumerRef": map[string]any{"kind": "Project", "name": string(planes.ProjectName)}, "allowances": allowances,
		},
	}}
	options := metav1.ApplyOptions{FieldManager: "test", Force: true}
	if _, err := f.ledger.Objects.Resource(ledger.Grants).Namespace(f.Namespace.Name).Apply(t.Context(), "all", grant, options); err != nil {
		t.Fatal(err)
	}
	f.count(t)
}

// count plays Milo, which answers and counts.
func (f *fixture) count(t *testing.T) {
	t.Helper()
	if _, err := f.ledger.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) reconcile(t *testing.T) error {
	t.Helper()
	_, err := f.reconciler.Reconcile(t.Context(), mcreconcile.Request{
		ClusterName: planes.ProjectName, Request: reconcile.Request{NamespacedName: client.ObjectKeyFromObject(f.original)},
	})
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// copied returns the copy. Its quota is always the one that its annotation is about.
func (f *fixture) copied(t *testing.T) *v1alpha.WorkloadDeployment {
	t.Helper()
	copied := planes.Get(t, f.Planes, f.HubNamespace, "web", &v1alpha.WorkloadDeployment{})
	if overridden := templates.OverriddenFields(copied); len(overridden) > 0 {
		t.Errorf("a cell would refuse spec.%v of the copy", overridden)
	}
	return copied
}

// claimed returns the names of the claims.
func (f *fixture) claimed(t *testing.T) []string {
	t.Helper()
	var list quota.ResourceClaimList
	if err := f.Client.List(t.Context(), &list, client.InNamespace(f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// becomes waits, while Milo answers, until the indices in granted are granted and the indices in withheld are withheld
// for a reason, and exactly the granted indices have claims.
func (f *fixture) becomes(t *testing.T, granted []int, reason string, withheld []int) {
	t.Helper()
	var want []string
	for _, index := range granted {
		want = append(want, claimName("web", index))
	}
	f.becomesWithClaims(t, granted, reason, withheld, want)
}

func (f *fixture) becomesWithClaims(t *testing.T, granted []int, reason string, withheld []int, claims []string) {
	t.Helper()
	var seen string
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		if err := f.reconcile(t); err != nil {
			return false, err
		}
		f.count(t)
		q := f.copied(t).Spec.Quota
		held := map[string][]int{}
		for i := range q.Withheld {
			held[q.Withheld[i].Reason] = naming.OfRanges(q.Withheld[i].Indices)
		}
		all := map[string][]int{}
		if len(withheld) > 0 {
			all[reason] = withheld
		}
		seen = fmt.Sprintf("%+v, claims %v", *q, f.claimed(t))
		return slices.Equal(naming.OfRanges(q.Granted), granted) && fmt.Sprint(held) == fmt.Sprint(all) && slices.Equal(f.claimed(t), claims), nil
	}); err != nil {
		t.Fatalf("%v: %s; want %v granted, %v withheld for %s, claims %v", err, seen, granted, withheld, reason, claims)
	}
}

// until reconciles until a condition is met.
func (f *fixture) until(t *testing.T, so func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		return so(), f.reconcile(t)
	}); err != nil {
		t.Fatal(err)
	}
}
