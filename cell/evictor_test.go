// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/deployments"
	"github.com/karmada-compute/karmada-compute/cell/disruption"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// evicting is a reconciler of deployments that evicts, and the registry of its metric.
func (f *fixture) evicting() (*deployments.Reconciler, *prometheus.Registry) {
	f.t.Helper()
	config := rest.CopyConfig(testenv.Config(f.t))
	config.QPS = -1
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		f.t.Fatal(err)
	}
	registry, r := prometheus.NewRegistry(), f.deployments()
	if r.Evictor, err = disruption.NewEvictor(disruption.Options{
		Config: config, HTTPClient: http, Scheme: f.direct.Scheme(), Registerer: registry,
	}); err != nil {
		f.t.Fatal(err)
	}
	return r, registry
}

// wantEvictions wants the metric of evictions.
func wantEvictions(t *testing.T, registry *prometheus.Registry, evicted, held string) {
	t.Helper()
	want := `# HELP karmada_compute_cell_evictions_total Evictions that the agent has requested for Instances with a disruption budget, by result: evicted, held (by the budget) or failed.
# TYPE karmada_compute_cell_evictions_total counter
karmada_compute_cell_evictions_total{result="evicted"} ` + evicted + `
karmada_compute_cell_evictions_total{result="failed"} 0
karmada_compute_cell_evictions_total{result="held"} ` + held + "\n"
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "karmada_compute_cell_evictions_total"); err != nil {
		t.Error(err)
	}
}

// evict evicts a Pod as kubectl drain does.
func (f *fixture) evict(name string, options ...client.SubResourceCreateOption) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name}}
	return f.direct.SubResource("eviction").Create(f.t.Context(), pod, &policyv1.Eviction{ObjectMeta: pod.ObjectMeta}, options...)
}

// notReady takes Ready from a Pod and its Instance.
func (f *fixture) notReady(name string) {
	f.t.Helper()
	f.setPod(f.storedPod(name), corev1.PodStatus{
		Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
	})
	f.reconcile(f.runtime(), name)
	f.settleBudget()
}

// onNode gives Pods a node, so that they end with their grace period.
func (f *fixture) onNode(node string, names ...string) {
	f.t.Helper()
	for _, name := range names {
		err := f.direct.SubResource("binding").Create(f.t.Context(), f.storedPod(name),
			&corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}})
		if err != nil {
			f.t.Fatal(err)
		}
	}
}

// TestDeletionsObeyTheBudget: the controller's own deletions count against Kubernetes' budget, and wait for it.
func TestDeletionsObeyTheBudget(t *testing.T) {
	all := []string{"web-0", "web-1", "web-2", "web-3"}
	outdated := func(i *v1alpha.Instance) { i.Spec.Controller.TemplateHash = "old" }
	for name, test := range map[string]struct {
		floor, replicas int32
		suspended       bool
		instance        func(*v1alpha.Instance)
		// given changes four Available Instances; settled reports that the budget has been processed after that.
		given        func(*fixture)
		unsettled    bool
		wantLeaving  []string
		wantReplaced []string
		wantRequeue  time.Duration
	}{
		"a scale-down within the budget":       {floor: 2, replicas: 2, wantLeaving: []string{"web-2", "web-3"}},
		"a scale-down that would hit too many": {floor: 3, replicas: 1, wantLeaving: []string{"web-3"}},
		"a scale-down beside an Instance that is not Ready": {
			floor: 3, replicas: 2, given: func(f *fixture) { f.notReady("web-0") },
		},
		"one that is not Ready is deleted in any case": {
			floor: 3, replicas: 1, given: func(f *fixture) { f.notReady("web-2") }, wantLeaving: []string{"web-2"},
		},
		"a rollout":                                       {floor: 3, replicas: 4, instance: outdated, wantReplaced: []string{"web-3"}},
		"a rollout without anything to spare":             {floor: 4, replicas: 4, instance: outdated},
		"a budget that was raised, and not processed yet": {floor: 2, replicas: 2, unsettled: true, wantRequeue: 5 * time.Second},
		"a Pod that somebody has just evicted": {
			floor: 3, replicas: 3, given: func(f *fixture) {
				if err := f.evict("web-0"); err != nil {
					f.t.Fatal(err)
				}
			}, wantRequeue: 5 * time.Second,
		},
		"a suspended project": {floor: 4, replicas: 2, suspended: true, wantLeaving: []string{"web-2", "web-3"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			deployment := f.deployment(test.replicas, withFloor(test.replicas, test.floor, 1), parallel, func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Rollout = &v1alpha.WorkloadRollout{MaxUnavailable: new(intstr.FromString("100%"))}
			})
			for index := range all {
				var changes []func(*v1alpha.Instance)
				if test.instance != nil {
					changes = append(changes, test.instance)
				}
				f.running(deployment, index, changes...)
			}
			f.onNode("node", all...)
			f.reconcile(f.disruption(), "web")
			f.settleBudget()
			if test.given != nil {
				test.given(f)
			}
			switch {
			case test.unsettled:
				f.changeDeployment(withFloor(test.replicas, test.floor-1, 2))
				f.reconcile(f.disruption(), "web")
			case test.suspended:
				f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Suspended = true })
			}
			r, _ := f.evicting()
			result := f.reconcile(r, "web")
			if _, leaving := f.instances(); !slices.Equal(leaving, test.wantLeaving) {
				t.Errorf("%v are being deleted, want %v", leaving, test.wantLeaving)
			}
			if replaced := f.replaced(); !slices.Equal(replaced, test.wantReplaced) {
				t.Errorf("%v are replaced in place, want %v", replaced, test.wantReplaced)
			}
			if result.RequeueAfter != test.wantRequeue {
				t.Errorf("reconciled again after %s, want %s", result.RequeueAfter, test.wantRequeue)
			}
		})
	}
}

// TestConcurrentEvictions: the API server counts the agent's evictions together with all others, and counts none twice.
func TestConcurrentEvictions(t *testing.T) {
	f := newFixture(t)
	const running, floor = 7, 5
	deployment := f.deployment(running, withFloor(running, floor, 1), parallel)
	names := make([]string, running)
	for index := range names {
		names[index] = f.running(deployment, index).Name
	}
	f.onNode("node", names...)
	f.reconcile(f.disruption(), "web")
	f.settleBudget()
	if err := f.evict(names[0], client.DryRunAll); err != nil {
		t.Fatal(err)
	}

	r, registry := f.evicting()
	var accepted atomic.Int32
	var group sync.WaitGroup
	for _, name := range names {
		pod := f.storedPod(name)
		group.Go(func() {
			// The second one is a replay.
			for range 2 {
				if done, err := r.Evictor.Evict(t.Context(), pod); err != nil {
					t.Error(err)
				} else if done {
					accepted.Add(1)
				}
			}
		})
	}
	group.Wait()
	ready := 0
	for _, name := range names {
		if f.storedPod(name).DeletionTimestamp.IsZero() {
			ready++
		}
	}
	// Evictions of Pods that are being deleted are accepted, and change nothing.
	if evicted := running - ready; ready != floor || int(accepted.Load()) != 2*evicted {
		t.Errorf("%d are Ready, and %d evictions were accepted", ready, accepted.Load())
	}
	wantEvictions(t, registry, "4", "10")
}

// TestDeletionsWithoutPods: an Instance that another runtime runs has no Pod, and the API server counts none. The agent
// does, past its cache.
func TestDeletionsWithoutPods(t *testing.T) {
	f := newFixture(t)
	external := func(d *v1alpha.WorkloadDeployment) { d.Spec.Template.Spec.Runtime.Class = "machine" }
	deployment := f.deployment(1, withFloor(1, 2, 1), parallel, external)
	for index := range 4 {
		f.setReady(f.instance(deployment, index), metav1.ConditionTrue)
	}
	r, _ := f.evicting()
	f.sync()
	f.setReady(f.storedInstance("web-0"), metav1.ConditionFalse) // which the cache may not have
	f.reconcileNow(r, "web")
	f.wantInstances([]string{"web-0", "web-1", "web-2"}, []string{"web-3"})
	f.reconcileNow(r, "web")
	f.wantInstances([]string{"web-0", "web-1", "web-2"}, []string{"web-3"})
}
