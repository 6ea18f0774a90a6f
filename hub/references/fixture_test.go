// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// fixture is a namespace of an engaged project.
type fixture struct {
	*planes.Planes
	reconciler *Reconciler
	clock      *testingclock.FakePassiveClock
	queue      workqueue.TypedRateLimitingInterface[mcreconcile.Request]
	// gone: Milo does not have the project.
	gone bool
	// revisions is how many revisions the history has had.
	revisions int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Planes: planes.New(t), clock: testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	f.EnsureHubNamespace(t)
	f.reconciler = &Reconciler{
		Projects: f.Planes, Hub: f.Hub, APIReader: f.HubAPI, Clock: f.clock, Grants: projects.NewGrants(f.Hub),
		Repairer: repairs.NewRepairer(f.Hub, f.clock, prometheus.NewRegistry()), Namespace: f.HubNamespace,
	}
	f.reconciler.sources.New = newSources
	f.reconciler.Owners = ownership.New(ownership.Options{Projects: f.Planes, Milo: f, Brake: f})
	f.open(t, f.HubNamespace)
	return f
}

// Lookup, Owns and Held play Milo's root.
func (f *fixture) Lookup(_ context.Context, project string) (types.UID, bool, error) {
	return planes.ProjectUID, !f.gone && project == planes.ProjectName.String(), nil
}

func (*fixture) Owns(naming.ShardKey) bool { return true }

func (*fixture) Held(context.Context) (string, error) { return "", nil }

// open plays hub/propagation, which opens a hub namespace to the add-on.
func (f *fixture) open(t *testing.T, hubNamespace string) {
	t.Helper()
	if err := f.reconciler.Grants.Ensure(t.Context(), hubNamespace,
		projects.Origin{Project: "north", ProjectUID: planes.ProjectUID, Namespace: f.Namespace.Name}); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) cluster(t *testing.T) cluster.Cluster {
	t.Helper()
	project, err := f.Get(t.Context(), planes.ProjectName)
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// engage engages the project, as the manager does.
func (f *fixture) engage(t *testing.T) *fixture {
	t.Helper()
	f.queue = newQueue(t)
	source, _, err := f.reconciler.sources.ForCluster(planes.ProjectName, f.cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Start(t.Context(), f.queue); err != nil {
		t.Fatal(err)
	}
	return f
}

// templateNaming returns a template that names ConfigMaps and Secrets, each in a volume.
func templateNaming(configMaps, secrets []string) v1alpha.InstanceTemplateSpec {
	template := planes.Template("registry.example/app:1")
	for _, name := range configMaps {
		template.Spec.Volumes = append(template.Spec.Volumes, v1alpha.InstanceVolume{
			Name: "configmap-" + strings.ReplaceAll(name, ".", "-"),
			InstanceVolumeSource: v1alpha.InstanceVolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
			},
		})
	}
	for _, name := range secrets {
		template.Spec.Volumes = append(template.Spec.Volumes, v1alpha.InstanceVolume{
			Name:                 "secret-" + name,
			InstanceVolumeSource: v1alpha.InstanceVolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}},
		})
	}
	return template
}

// deploy creates a deployment with a template, and its copy on the hub.
func (f *fixture) deploy(t *testing.T, name string, template v1alpha.InstanceTemplateSpec) *v1alpha.WorkloadDeployment {
	t.Helper()
	original := f.Deployment(name, "DFW")
	original.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace}
	original.Spec.Template = template
	planes.Create(t, f.Planes, original)
	f.propagate(t, original)
	return original
}

// propagate creates the copy of a deployment on the hub.
func (f *fixture) propagate(t *testing.T, original *v1alpha.WorkloadDeployment) *v1alpha.WorkloadDeployment {
	t.Helper()
	return planes.Create(t, f.Planes, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.HubNamespace, Name: original.Name, Labels: map[string]string{v1alpha.LabelDeploymentUID: string(original.UID)},
		},
		Spec: *original.Spec.DeepCopy(),
	})
}

// The objects that the tests' deployments name, in the project.

func (f *fixture) app() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "app"}, Data: map[string]string{"colour": "blue"},
	}
}

func (f *fixture) database() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "database"}, Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{"password": []byte("hidden")},
	}
}

func (f *fixture) appOnHub(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	return planes.Get(t, f.Planes, f.HubNamespace, "app", &corev1.ConfigMap{})
}

func (f *fixture) databaseOnHub(t *testing.T) *corev1.Secret {
	t.Helper()
	return planes.Get(t, f.Planes, f.HubNamespace, "database", &corev1.Secret{})
}

func (f *fixture) isOnHub(t *testing.T, obj client.Object) bool {
	t.Helper()
	copied, _ := obj.DeepCopyObject().(client.Object)
	copied.SetNamespace(f.HubNamespace)
	return planes.Exists(t, f.Planes, copied)
}

func (f *fixture) reconcile(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return f.reconciler.Reconcile(t.Context(), request(planes.ProjectName, f.Namespace.Name))
}

// mustReconcile reconciles when the cache of the sources has synced, and returns the writes.
func (f *fixture) mustReconcile(t *testing.T) []planes.Call {
	t.Helper()
	for _, plane := range []*planes.Plane{f.Project, f.Hub, f.HubAPI} {
		plane.Calls()
	}
	if _, err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	return append(f.Project.Writes(), f.Hub.Writes()...)
}

// settled reconciles until the sources are watched and all copies are written, and known to be.
func (f *fixture) settled(t *testing.T) *fixture {
	t.Helper()
	f.mustReconcile(t)
	f.sync(t)
	f.mustReconcile(t)
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Fatalf("it does not settle: %v", writes)
	}
	return f
}

// sync waits until the caches of all kinds that are watched have synced.
func (f *fixture) sync(t *testing.T) {
	t.Helper()
	project := f.reconciler.sources.Of(planes.ProjectName)
	project.mu.Lock()
	defer project.mu.Unlock()
	for kind, informer := range project.watched {
		if !toolscache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
			t.Fatalf("%ss are not synced", kind)
		}
	}
}

// await waits until the cache of the sources has the stored version of an object of the project, or no longer has the
// object.
func (f *fixture) await(t *testing.T, obj client.Object) {
	t.Helper()
	stored := metadataOf(kindOf(obj))
	err := f.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), stored)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	gone := err != nil
	late := time.AfterFunc(time.Minute, f.queue.ShutDown)
	defer late.Stop()
	for {
		cached := metadataOf(kindOf(obj))
		err := f.reconciler.sources.Of(planes.ProjectName).metadata.Get(t.Context(), client.ObjectKeyFromObject(obj), cached)
		if gone && apierrors.IsNotFound(err) || !gone && err == nil && version(cached) == version(stored) {
			return
		}
		event, ended := f.queue.Get()
		if ended {
			t.Fatalf("there is no event of %s", obj.GetName())
		}
		f.queue.Done(event)
		if event != request(planes.ProjectName, f.Namespace.Name) {
			t.Errorf("%v is requeued", event)
		}
	}
}

// condition returns ReferencedDataReady of a deployment of the project, or nil.
func (f *fixture) condition(t *testing.T, name string) *metav1.Condition {
	t.Helper()
	deployment := planes.Get(t, f.Planes, f.Namespace.Name, name, &v1alpha.WorkloadDeployment{})
	return meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionReferencedDataReady)
}

// wantReason checks the reason of that condition; "": no condition.
func (f *fixture) wantReason(t *testing.T, name, want string) {
	t.Helper()
	switch got := f.condition(t, name); {
	case want == "" && got != nil:
		t.Errorf("%s has %+v", name, got)
	case want != "" && (got == nil || got.Reason != want):
		t.Errorf("%s has %+v, want %s", name, got, want)
	}
}
