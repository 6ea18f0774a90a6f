// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// start runs all controllers of the cell in the namespace, as the binary does.
func (f *fixture) start() {
	f.t.Helper()
	cacheOptions, err := cell.CacheOptions()
	if err != nil {
		f.t.Fatal(err)
	}
	cacheOptions.DefaultNamespaces = map[string]cache.Config{f.namespace: {}}
	mgr, err := ctrl.NewManager(testenv.Config(f.t), ctrl.Options{
		Scheme: f.direct.Scheme(), Cache: cacheOptions,
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := cell.Setup(mgr, cell.Options{
		Concurrency: 2, Clock: clock.RealClock{}, AuditInterval: time.Minute, Registerer: prometheus.NewRegistry(),
	}); err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(f.t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	f.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			f.t.Error(err)
		}
	})
}

// changeDeployment changes the spec of WorkloadDeployment web, as Karmada does.
func (f *fixture) changeDeployment(change func(*v1alpha.WorkloadDeployment)) {
	f.t.Helper()
	deployment := f.storedDeployment()
	before := deployment.DeepCopy()
	change(deployment)
	if err := f.direct.Patch(f.t.Context(), deployment, client.MergeFrom(before)); err != nil {
		f.t.Fatal(err)
	}
}

// held reports whether an Instance exists and is held by exactly these gates.
func (f *fixture) held(name string, gates ...string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		instance := &v1alpha.Instance{}
		if err := f.direct.Get(ctx, client.ObjectKey{Namespace: f.namespace, Name: name}, instance); err != nil {
			return false
		}
		// The gates that can be lifted have been when the condition is there.
		if meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionQuotaGranted) == nil {
			return false
		}
		var got []string
		for _, gate := range instance.SchedulingGates() {
			got = append(got, gate.Name)
		}
		return slices.Equal(got, gates)
	}
}

// runs waits for a Pod other than before, and sets it Ready with an address.
func (f *fixture) runs(name, ip string, before *corev1.Pod) *corev1.Pod {
	f.t.Helper()
	pod := &corev1.Pod{}
	f.eventually("there is a Pod "+name, func(ctx context.Context) bool {
		err := f.direct.Get(ctx, client.ObjectKey{Namespace: f.namespace, Name: name}, pod)
		return err == nil && (before == nil || pod.UID != before.UID)
	})
	return f.setPod(pod, readyPod(ip))
}

// reports waits until the deployment reports this number of Instances, and these addresses of the Ready ones. The
// reported status is then in the cache of all controllers.
func (f *fixture) reports(replicas int32, ips ...string) {
	f.t.Helper()
	f.eventually("the deployment reports its Instances", func(context.Context) bool {
		deployment := f.storedDeployment()
		status := &deployment.Status
		var ready []string
		for _, entry := range wire.Instances(deployment) {
			if meta.IsStatusConditionTrue(entry.Conditions, v1alpha.ConditionReady) {
				ready = append(ready, *entry.NetworkInterfaces[0].Assignments.NetworkIP)
			}
		}
		return status.Replicas == replicas && slices.Equal(ready, ips) && status.ObservedGeneration == deployment.Generation
	})
}

// TestSetup: it passes only with each watch of each controller.
func TestSetup(t *testing.T) {
	f := newFixture(t)
	f.start()
	f.deployment(2, needing("settings"), granted(0))
	f.eventually("web-0 waits for its data alone", f.held("web-0", "ReferencedData"))

	f.sent("settings")
	first := f.runs("web-0", "10.0.0.1", nil)
	f.eventually("web-1 follows a Ready web-0 and waits for quota alone", f.held("web-1", "Quota"))
	f.reports(2, "10.0.0.1")

	f.changeDeployment(granted(0, 1))
	f.runs("web-1", "10.0.0.2", nil)
	f.reports(2, "10.0.0.1", "10.0.0.2")

	f.remove(first)
	f.runs("web-0", "10.0.0.3", first)
	f.reports(2, "10.0.0.3", "10.0.0.2")

	f.changeDeployment(suspended)
	f.eventually("the Pods are gone", func(context.Context) bool { return f.storedPod("web-0") == nil && f.storedPod("web-1") == nil })
	f.reports(2)
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Suspended = false })
	f.runs("web-0", "10.0.0.3", nil)
	f.runs("web-1", "10.0.0.2", nil)
	f.reports(2, "10.0.0.3", "10.0.0.2")

	f.changeDeployment(needing("later"))
	f.reports(2, "10.0.0.3", "10.0.0.2")
	f.wantInstances([]string{"web-0", "web-1"}, nil)
	kept, replaced := f.storedInstance("web-0").TemplateHash(), f.storedPod("web-1").UID
	f.sent("later")
	f.eventually("web-1 is replaced", func(context.Context) bool {
		pod := f.storedPod("web-1")
		return f.storedInstance("web-1").TemplateHash() != kept && pod != nil && pod.UID != replaced
	})
	if got := f.storedInstance("web-0").TemplateHash(); got != kept {
		t.Errorf("web-0 has template %s", got)
	}
}

func TestSetupRecordsEvents(t *testing.T) {
	f := newFixture(t)
	f.start()
	f.deployment(1, func(d *v1alpha.WorkloadDeployment) {
		d.Name = "invalid"
		d.Spec.Template.Labels = map[string]string{"app": "no label"}
	})
	f.deployment(1, func(d *v1alpha.WorkloadDeployment) { d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = " " })
	for _, want := range []struct{ kind, name, reason string }{
		{v1alpha.KindWorkloadDeployment, "invalid", "InstanceRefused"},
		{v1alpha.KindInstance, "web-0", v1alpha.ReasonConfigurationError},
	} {
		f.eventually("there is an Event "+want.reason, func(ctx context.Context) bool {
			var list corev1.EventList
			if err := f.direct.List(ctx, &list, client.InNamespace(f.namespace)); err != nil {
				return false
			}
			return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
				return e.InvolvedObject.Kind == want.kind && e.InvolvedObject.Name == want.name && e.Reason == want.reason &&
					e.Type == corev1.EventTypeWarning
			})
		})
	}
}

// TestCacheHoldsMetadataWithoutAnnotations: the cache holds only the metadata of ConfigMaps and Secrets, and only if
// the hub has sent them.
func TestCacheHoldsMetadataWithoutAnnotations(t *testing.T) {
	f := newFixture(t)
	sent := f.sent("settings")
	sent.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"}
	f.update(sent)
	f.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "other"}})
	f.sync()
	var cached metav1.PartialObjectMetadataList
	cached.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}
	if err := f.cached.List(t.Context(), &cached, client.InNamespace(f.namespace)); err != nil {
		t.Fatal(err)
	}
	// The cache adds when the object was written.
	for i := range cached.Items {
		delete(cached.Items[i].Annotations, "compute.datumapis.com/written")
	}
	if len(cached.Items) != 1 || cached.Items[0].Name != "settings" || len(cached.Items[0].Annotations) > 0 ||
		cached.Items[0].ManagedFields != nil {
		t.Errorf("cached %+v", cached.Items)
	}
}
