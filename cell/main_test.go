// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// The reconcilers of the cell are tested here and not beside them, so that one kube-apiserver serves them all.

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testenv.Main(m, testenv.Options{CRDPaths: []string{"cell/services/testdata"}, GatewayAPI: true, WithoutWatchCache: true}))
}

// patience is the time for which a test waits for an expected state.
const patience = time.Minute

// now is the initial time of the fake clocks: the time of the kube-apiserver, which determines the age of Pods.
var now = time.Now().Truncate(time.Second)

// shared are the clients of all tests.
var shared struct {
	once           sync.Once
	direct, cached client.WithWatch
	err            error
}

// fixture is a namespace of a cell.
type fixture struct {
	t         *testing.T
	namespace string
	// direct reads from the kube-apiserver.
	direct client.WithWatch
	// cached reads from a cache with the options and the index of the cell's manager.
	cached   client.WithWatch
	clock    *clocktesting.FakePassiveClock
	recorder *record.FakeRecorder
}

// newFixture lets a test run beside others, in a namespace of its own.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	return newLoneFixture(t)
}

// newLoneFixture lets a test run before the others: it changes what they share.
func newLoneFixture(t *testing.T) *fixture {
	t.Helper()
	shared.once.Do(func() { shared.direct, shared.cached, shared.err = newClients(t) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	f := &fixture{
		t: t, namespace: hubNamespace(t, shared.direct), direct: shared.direct, cached: shared.cached,
		clock: clocktesting.NewFakePassiveClock(now), recorder: record.NewFakeRecorder(10),
	}
	f.awaitNamespace(f.namespace, hubOfCopies)
	return f
}

// hubOfCopies is the hub of the copies in the cell.
const hubOfCopies = "hub-uid"

// hubNamespace creates a namespace as the hub sends it.
func hubNamespace(t *testing.T, c client.Client) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: naming.HubNamespace(string(uuid.NewUUID()), "default"), Labels: map[string]string{v1alpha.LabelHub: hubOfCopies},
	}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

func newClients(t *testing.T) (direct, cached client.WithWatch, err error) {
	t.Helper()
	config, scheme := testenv.Config(t), testenv.Scheme(t, v1alpha.AddToScheme)
	options, err := cell.CacheOptions()
	if err != nil {
		return nil, nil, err
	}
	options.Scheme = scheme
	reader, err := cache.New(config, options)
	if err != nil {
		return nil, nil, err
	}
	// The tests share the cache.
	ctx := testenv.Context()
	if err := owned.Index(ctx, reader); err != nil {
		return nil, nil, err
	}
	go func() { _ = reader.Start(ctx) }()
	if direct, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return nil, nil, err
	}
	cached, err = client.NewWithWatch(config, client.Options{Scheme: scheme, Cache: &client.CacheOptions{Reader: reader}})
	return direct, cached, err
}

// racing is a cached client that runs race before its first write: the changes of race are not in the cache yet.
func (f *fixture) racing(race func()) client.Client {
	var once sync.Once
	return f.beforeWrites(func(string) error { once.Do(race); return nil })
}

// errBroken is the error of a write that does not reach the kube-apiserver.
var errBroken = errors.New("the connection is broken")

// broken is a cached client whose first write with a verb fails: create, delete, patch, or status. Its later writes
// succeed.
func (f *fixture) broken(verb string) client.Client {
	var failed atomic.Bool
	return f.beforeWrites(func(now string) error {
		if now == verb && failed.CompareAndSwap(false, true) {
			return errBroken
		}
		return nil
	})
}

// beforeWrites is a cached client that calls before with the verb of each write. An error is the answer to the write.
func (f *fixture) beforeWrites(before func(verb string) error) client.Client {
	return interceptor.NewClient(f.cached, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			if err := before("create"); err != nil {
				return err
			}
			return c.Create(ctx, obj, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			if err := before("delete"); err != nil {
				return err
			}
			return c.Delete(ctx, obj, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := before("patch"); err != nil {
				return err
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj applyConfiguration, opts ...client.ApplyOption) error {
			if err := before("apply"); err != nil {
				return err
			}
			return c.Apply(ctx, obj, opts...)
		},
		SubResourceApply: func(ctx context.Context, c client.Client, name string, obj applyConfiguration,
			opts ...client.SubResourceApplyOption,
		) error {
			if err := before(name); err != nil {
				return err
			}
			return c.SubResource(name).Apply(ctx, obj, opts...)
		},
	})
}

// readOnly is a cached client that fails the test on any write.
func (f *fixture) readOnly() client.Client {
	return f.racing(func() { f.t.Error("something was written that is as it should be") })
}

// reconcile reconciles an object by name once the cache is up to date with the namespace. It fails the test on an
// error.
func (f *fixture) reconcile(r reconcile.Reconciler, name string) reconcile.Result {
	f.t.Helper()
	f.sync()
	return f.reconcileNow(r, name)
}

func (f *fixture) reconcileNow(r reconcile.Reconciler, name string) reconcile.Result {
	f.t.Helper()
	result, err := r.Reconcile(f.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.namespace, Name: name}})
	if err != nil {
		f.t.Fatalf("reconcile %s: %v", name, err)
	}
	return result
}

// sync waits until the cache is up to date with the namespace.
func (f *fixture) sync() {
	f.t.Helper()
	for _, kind := range []func() client.ObjectList{
		func() client.ObjectList { return &v1alpha.WorkloadDeploymentList{} },
		func() client.ObjectList { return &v1alpha.InstanceList{} },
		func() client.ObjectList { return &v1alpha.InstanceSliceList{} },
		func() client.ObjectList { return &corev1.PodList{} },
		func() client.ObjectList { return &autoscalingv2.HorizontalPodAutoscalerList{} },
		func() client.ObjectList { return &networkingv1.NetworkPolicyList{} },
		func() client.ObjectList { return &corev1.ServiceList{} },
		func() client.ObjectList { return &policyv1.PodDisruptionBudgetList{} },
		func() client.ObjectList { return metadataList(templates.KindConfigMap) },
		func() client.ObjectList { return metadataList(templates.KindSecret) },
	} {
		f.eventually("the cache has the namespace as it is", func(ctx context.Context) bool {
			return maps.Equal(f.versions(ctx, f.direct, kind()), f.versions(ctx, f.cached, kind()))
		})
	}
}

// eventually waits for an expected state.
func (f *fixture) eventually(what string, check func(context.Context) bool) {
	f.t.Helper()
	err := wait.PollUntilContextTimeout(f.t.Context(), 5*time.Millisecond, patience, true,
		func(ctx context.Context) (bool, error) { return check(ctx), nil })
	if err != nil {
		f.t.Fatalf("after %s it is still not true that %s", patience, what)
	}
}

func metadataList(kind string) client.ObjectList {
	return &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind + "List"}}
}
