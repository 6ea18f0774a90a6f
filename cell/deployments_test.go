// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/deployments"
	"github.com/karmada-compute/karmada-compute/cell/runtime"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func (f *fixture) deployments() *deployments.Reconciler {
	return &deployments.Reconciler{
		Client: f.cached, APIReader: f.direct, Strays: f.strays(), Recorder: f.recorder, Clock: f.clock,
		External: (&runtime.Settings{ExternalClasses: []string{class}}).External,
		Trial:    &runtime.Trial{Client: f.cached, APIReader: f.direct},
	}
}

func TestDeploymentsReconcile(t *testing.T) {
	tests := map[string]struct {
		// given prepares the namespace.
		given                    func(*fixture)
		wantPresent, wantLeaving []string
	}{
		"no deployment": {given: func(*fixture) {}},
		"the first Instance is created": {
			given:       func(f *fixture) { f.deployment(2) },
			wantPresent: []string{"web-0"},
		},
		"all Instances are created in parallel": {
			given:       func(f *fixture) { f.deployment(2, parallel) },
			wantPresent: []string{"web-0", "web-1"},
		},
		"a deployment that is being deleted creates nothing": {
			given: func(f *fixture) {
				f.beginDeletion(f.deployment(1, func(d *v1alpha.WorkloadDeployment) { d.Finalizers = []string{"example.com/held"} }))
			},
		},
		"the next Instance waits for the one before": {
			given:       func(f *fixture) { f.setReady(f.instance(f.deployment(2), 0), metav1.ConditionFalse) },
			wantPresent: []string{"web-0"},
		},
		"the next Instance follows a Ready one": {
			given:       func(f *fixture) { f.setReady(f.instance(f.deployment(2), 0), metav1.ConditionTrue) },
			wantPresent: []string{"web-0", "web-1"},
		},
		"an Instance that an earlier deployment of the name controls does not count": {
			given: func(f *fixture) {
				earlier := f.deployment(1)
				f.setReady(f.instance(earlier, 1), metav1.ConditionTrue)
				f.remove(earlier)
				f.deployment(1)
			},
			wantPresent: []string{"web-0", "web-1"},
		},
		"a surplus Instance is deleted": {
			given: func(f *fixture) {
				deployment := f.deployment(1)
				f.setReady(f.instance(deployment, 0), metav1.ConditionTrue)
				f.setReady(f.instance(deployment, 1), metav1.ConditionTrue)
			},
			wantPresent: []string{"web-0"}, wantLeaving: []string{"web-1"},
		},
		"an Instance of another template is replaced": {
			given: func(f *fixture) {
				f.setReady(f.instance(f.deployment(1), 0, fromTemplate("old")), metav1.ConditionTrue)
			},
			wantLeaving: []string{"web-0"},
		},
		"a Ready Instance is not replaced before the data of its successor is there": {
			given: func(f *fixture) {
				f.setReady(f.instance(f.deployment(1, needing("settings")), 0, fromTemplate("old")), metav1.ConditionTrue)
			},
			wantPresent: []string{"web-0"},
		},
		"data that the hub did not send does not count": {
			given: func(f *fixture) {
				f.setReady(f.instance(f.deployment(1, needing("settings")), 0, fromTemplate("old")), metav1.ConditionTrue)
				f.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "settings"}})
			},
			wantPresent: []string{"web-0"},
		},
		"a Ready Instance is replaced once the data is there": {
			given: func(f *fixture) {
				f.setReady(f.instance(f.deployment(1, needing("settings")), 0, fromTemplate("old")), metav1.ConditionTrue)
				f.sent("settings")
			},
			wantLeaving: []string{"web-0"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			test.given(f)
			if result := f.reconcile(f.deployments(), "web"); result != (reconcile.Result{}) {
				t.Errorf("requeued: %+v", result)
			}
			f.wantInstances(test.wantPresent, test.wantLeaving)
			f.wantEvent("")
		})
	}
}

func TestDeploymentsCreateWholeInstances(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, needing("settings"), granted(0))
	f.reconcile(f.deployments(), "web")
	instance := f.storedInstance("web-0")
	hash, err := templates.Hash(&deployment.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	if instance.TemplateHash() != hash || !metav1.IsControlledBy(instance, deployment) {
		t.Errorf("template %q of %q, owners %+v", instance.TemplateHash(), hash, instance.OwnerReferences)
	}
	if want := []v1alpha.SchedulingGate{{Name: "Quota"}, {Name: "ReferencedData"}}; !slices.Equal(instance.SchedulingGates(), want) {
		t.Errorf("gates %v", instance.SchedulingGates())
	}
	if manager := instance.ManagedFields[0].Manager; manager != "karmada-compute-cell-deployments" {
		t.Errorf("field manager %q", manager)
	}
}

func TestDeploymentsDeleteThePodFirst(t *testing.T) {
	f := newFixture(t)
	f.instance(f.deployment(1), 1)
	f.reconcile(f.deployments(), "web")
	if got := f.storedInstance("web-1").Finalizers; !slices.Equal(got, []string{metav1.FinalizerDeleteDependents}) {
		t.Errorf("finalizers %v: the deletion is not in foreground", got)
	}
}

func TestDeploymentsWriteInBatches(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(101, parallel)
	result := f.reconcile(f.deployments(), "web")
	if present, _ := f.instances(); len(present) != 100 || result.RequeueAfter != 10*time.Millisecond {
		t.Errorf("%d Instances were created at once, requeued after %s", len(present), result.RequeueAfter)
	}
	f.reconcile(f.deployments(), "web")
	if present, _ := f.instances(); len(present) != 101 {
		t.Errorf("%d Instances after the second reconcile", len(present))
	}
	deployment.Spec.Template.Labels = map[string]string{"version": "2"}
	f.update(deployment)
	f.reconcile(f.deployments(), "web")
	if _, leaving := f.instances(); len(leaving) != 100 {
		t.Errorf("%d Instances were deleted at once", len(leaving))
	}
}

// TestDeploymentsAwaitWhatTheyCreate: a created Instance that the cache does not have yet is not created again, unless
// it never appears.
func TestDeploymentsAwaitWhatTheyCreate(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(2, parallel)
	tried, behind := atomic.Int32{}, true
	r := f.deployments()
	r.Client = interceptor.NewClient(f.cached, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, ok := list.(*v1alpha.InstanceList); ok && behind {
				return nil
			}
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			tried.Add(1)
			return c.Create(ctx, obj, opts...)
		},
	})
	reconcile := func(after, wantRequeue time.Duration, wantTried int32) {
		t.Helper()
		f.clock.SetTime(f.clock.Now().Add(after))
		if result := f.reconcile(r, "web"); result.RequeueAfter != wantRequeue || tried.Load() != wantTried {
			t.Errorf("requeued after %s, and %d creations in all", result.RequeueAfter, tried.Load())
		}
	}
	reconcile(0, 0, 2)
	reconcile(time.Second, 29*time.Second, 2)
	f.remove(f.storedInstance("web-1"))
	reconcile(29*time.Second, 5*time.Second, 4)
	f.wantInstances([]string{"web-0", "web-1"}, nil)
	behind = false
	f.remove(f.storedInstance("web-1"))
	reconcile(time.Second, 29*time.Second, 4)
	reconcile(29*time.Second, 0, 5)
	f.remove(deployment)
	reconcile(0, 0, 5)
}

func TestDeploymentsRaces(t *testing.T) {
	tests := map[string]struct {
		// given prepares the namespace, and returns a function that runs before the first write.
		given                    func(*fixture) func()
		wantPresent, wantLeaving []string
		wantRequeue              time.Duration
	}{
		"the name of a new Instance is taken meanwhile": {
			given: func(f *fixture) func() {
				other := f.deployment(1, func(d *v1alpha.WorkloadDeployment) { d.Name = "other" })
				f.deployment(1)
				return func() { f.instance(other, 0, func(i *v1alpha.Instance) { i.Name = "web-0" }) }
			},
			wantPresent: []string{"web-0"}, wantRequeue: 5 * time.Second,
		},
		"a surplus Instance is gone meanwhile": {
			given: func(f *fixture) func() {
				instance := f.instance(f.deployment(1), 1)
				return func() { f.remove(instance) }
			},
		},
		"a surplus Instance is another one by now": {
			given: func(f *fixture) func() {
				deployment := f.deployment(1)
				instance := f.instance(deployment, 1)
				return func() {
					f.remove(instance)
					f.instance(deployment, 1)
				}
			},
			wantPresent: []string{"web-1"}, wantRequeue: time.Second,
		},
		// Of its change, no event reconciles the deployment.
		"an Instance of another template has another status by now": {
			given: func(f *fixture) func() {
				instance := f.instance(f.deployment(1), 0, func(i *v1alpha.Instance) { i.Spec.Controller.TemplateHash = "old" })
				return func() { f.setReady(instance, metav1.ConditionFalse) }
			},
			wantPresent: []string{"web-0"}, wantRequeue: time.Second,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			racing := f.deployments()
			racing.Client = f.racing(test.given(f))
			if result := f.reconcile(racing, "web"); result.RequeueAfter != test.wantRequeue {
				t.Errorf("requeued after %s", result.RequeueAfter)
			}
			f.wantInstances(test.wantPresent, test.wantLeaving)
		})
	}
}

func TestDeploymentsRefusals(t *testing.T) {
	tests := map[string]struct {
		given       func(*fixture)
		wantEvent   string
		wantRequeue time.Duration
	}{
		"an invalid Instance is reported and not tried again": {
			given: func(f *fixture) {
				f.deployment(1, func(d *v1alpha.WorkloadDeployment) {
					d.Spec.Template.Labels = map[string]string{"app": strings.Repeat("€", 600)}
				})
			},
			wantEvent: "Warning InstanceRefused Instance web-0: ",
		},
		"a forbidden Instance is reported and tried again, and the others are not tried": {
			given: func(f *fixture) {
				f.forbid("count/instances.compute.datumapis.com")
				f.deployment(3, parallel)
			},
			wantEvent: "Warning InstanceRefused Instance web-0: ", wantRequeue: time.Minute,
		},
		"a namespace that is being deleted is not reported": {
			given: func(f *fixture) {
				f.deployment(1)
				f.deleteNamespace()
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			test.given(f)
			if result := f.reconcile(f.deployments(), "web"); result.RequeueAfter != test.wantRequeue {
				t.Errorf("requeued after %s", result.RequeueAfter)
			}
			f.wantInstances(nil, nil)
			f.wantEvent(test.wantEvent)
		})
	}
}
