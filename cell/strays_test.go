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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/collector"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func (f *fixture) strays() *collector.Keeper {
	f.t.Helper()
	return collector.NewKeeper(collector.KeeperOptions{
		Client: f.direct, APIReader: f.direct, Recorder: f.recorder, Registerer: prometheus.NewRegistry(),
	})
}

// ofWorkload lets a deployment be of another Workload of the same name.
func ofWorkload(uid types.UID) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) { d.Spec.WorkloadRef.UID = uid }
}

func TestDeploymentsFindTheNameTaken(t *testing.T) {
	tests := map[string]struct {
		// given prepares Instance web-0, whose name the new deployment needs.
		given                    func(*fixture) *v1alpha.Instance
		wantAdopted              bool
		wantPresent, wantLeaving []string
		wantEvent                string
	}{
		"by an Instance of an earlier deployment of the Workload, which is adopted": {
			given: func(f *fixture) *v1alpha.Instance {
				earlier := f.deployment(1)
				instance := f.instance(earlier, 0)
				f.remove(earlier)
				f.deployment(1)
				return instance
			},
			wantAdopted: true, wantPresent: []string{"web-0"}, wantEvent: "Normal Adopted adopted from an earlier WorkloadDeployment web",
		},
		"by an Instance of an earlier Workload, which is deleted": {
			given: func(f *fixture) *v1alpha.Instance {
				earlier := f.deployment(1, ofWorkload("earlier"))
				instance := f.instance(earlier, 0)
				f.remove(earlier)
				f.deployment(1)
				return instance
			},
			wantLeaving: []string{"web-0"}, wantEvent: "Warning ControllerGone deleted: its controller, WorkloadDeployment web",
		},
		"by an Instance that the deployment has lost, which is adopted": {
			given: func(f *fixture) *v1alpha.Instance {
				return f.instance(f.deployment(1), 0, func(i *v1alpha.Instance) { i.OwnerReferences = nil })
			},
			wantAdopted: true, wantPresent: []string{"web-0"}, wantEvent: "Normal Adopted adopted from an earlier WorkloadDeployment web",
		},
		"by an Instance that somebody has made up, which is deleted": {
			given: func(f *fixture) *v1alpha.Instance {
				return f.instance(f.deployment(1), 0, func(i *v1alpha.Instance) { i.OwnerReferences, i.Labels = nil, nil })
			},
			wantLeaving: []string{"web-0"}, wantEvent: "Warning ControllerGone deleted: its controller, WorkloadDeployment",
		},
		"by an Instance of another deployment, which stays": {
			given: func(f *fixture) *v1alpha.Instance {
				other := f.deployment(1, func(d *v1alpha.WorkloadDeployment) { d.Name = "other" })
				deployment := f.deployment(1)
				return f.instance(deployment, 0, func(i *v1alpha.Instance) {
					i.OwnerReferences = []metav1.OwnerReference{other.ControllerReference()}
				})
			},
			wantPresent: []string{"web-0"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			before := test.given(f)
			if result := f.reconcile(f.deployments(), "web"); result.RequeueAfter != 5*time.Second {
				t.Errorf("requeued after %s", result.RequeueAfter)
			}
			f.wantInstances(test.wantPresent, test.wantLeaving)
			f.wantEvent(test.wantEvent)
			after := f.storedInstance("web-0")
			if adopted := metav1.IsControlledBy(after, f.storedDeployment()); after.UID != before.UID || adopted != test.wantAdopted {
				t.Errorf("UID %s, before %s; owners %+v", after.UID, before.UID, after.OwnerReferences)
			}
		})
	}
}

// confirm is the time for which an object must be a stray in tests.
const confirm = 20 * time.Second

// auditor audits the namespace of the test alone.
func (f *fixture) auditor(clock *clocktesting.FakeClock) *collector.Auditor {
	f.t.Helper()
	return collector.NewAuditor(collector.AuditorOptions{
		Client: client.NewNamespacedClient(f.cached, f.namespace), APIReader: client.NewNamespacedClient(f.direct, f.namespace),
		Strays: f.strays(), Interval: 3 * time.Minute, Confirm: confirm, Clock: clock, Registerer: prometheus.NewRegistry(),
	})
}

func TestAudit(t *testing.T) {
	tests := map[string]struct {
		given func(*fixture)
		// wantSoon reports that a stray is suspected.
		wantSoon bool
		wantPod  bool
		// wantGone reports that no InstanceSlice is left.
		wantGone                 bool
		wantPresent, wantLeaving []string
		wantEvent                string
	}{
		"all is well": {
			given:   func(f *fixture) { f.pod(f.instance(f.deployment(1), 0)) },
			wantPod: true, wantPresent: []string{"web-0"},
		},
		"a Pod without its Instance is deleted": {
			given: func(f *fixture) {
				instance := f.instance(f.deployment(1), 0)
				f.pod(instance)
				f.remove(instance)
			},
			wantSoon: true, wantEvent: "Warning ControllerGone",
		},
		"a Pod whose Instance was made again under its name is deleted": {
			given: func(f *fixture) {
				deployment := f.deployment(1)
				instance := f.instance(deployment, 0)
				f.pod(instance)
				f.remove(instance)
				f.instance(deployment, 0)
			},
			wantSoon: true, wantPresent: []string{"web-0"}, wantEvent: "Warning ControllerGone",
		},
		"an Instance without its deployment is deleted": {
			given: func(f *fixture) {
				deployment := f.deployment(1)
				f.pod(f.instance(deployment, 0))
				f.remove(deployment)
			},
			// Its Pod follows it.
			wantSoon: true, wantPod: true, wantLeaving: []string{"web-0"}, wantEvent: "Warning ControllerGone",
		},
		"an Instance whose deployment was made again is adopted": {
			given: func(f *fixture) {
				deployment := f.deployment(1)
				f.pod(f.instance(deployment, 3))
				f.remove(deployment)
				f.deployment(1)
			},
			wantSoon: true, wantPresent: []string{"web-3"}, wantEvent: "Normal Adopted",
		},
		"an Instance that somebody has made up is deleted": {
			given: func(f *fixture) {
				f.instance(f.deployment(1), 7, func(i *v1alpha.Instance) {
					i.OwnerReferences, i.Labels = nil, map[string]string{v1alpha.LabelDeploymentName: "web"}
				})
			},
			wantSoon: true, wantLeaving: []string{"web-7"}, wantEvent: "Warning ControllerGone",
		},
		"a Pod that was orphaned is deleted": {
			given: func(f *fixture) {
				f.pod(f.instance(f.deployment(1), 0), func(p *corev1.Pod) { p.OwnerReferences = nil })
			},
			wantSoon: true, wantPresent: []string{"web-0"}, wantEvent: "Warning ControllerGone",
		},
		"an InstanceSlice of a deployment stays": {
			given: func(f *fixture) { f.deployment(1); f.slice() },
		},
		"an InstanceSlice without its deployment is deleted": {
			given:    func(f *fixture) { f.slice() },
			wantSoon: true, wantGone: true, wantEvent: "Warning ControllerGone",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			test.given(f)
			f.sync()
			clock := clocktesting.NewFakeClock(now)
			auditor := f.auditor(clock)
			f.pass(auditor, map[bool]time.Duration{true: confirm, false: 3 * time.Minute}[test.wantSoon])
			f.wantEvent("")
			clock.Step(confirm)
			f.pass(auditor, map[bool]time.Duration{true: confirm, false: 3 * time.Minute}[test.wantSoon])
			f.wantInstances(test.wantPresent, test.wantLeaving)
			if pod := f.storedPod("web-0"); (pod != nil) != test.wantPod {
				t.Errorf("Pod %+v", pod)
			}
			f.wantEvent(test.wantEvent)
			if test.wantGone && f.direct.Get(t.Context(), client.ObjectKey{
				Namespace: f.namespace, Name: naming.SliceName("web", 0),
			}, &v1alpha.InstanceSlice{}) == nil {
				t.Error("the InstanceSlice is still there")
			}
			f.sync()
			f.pass(auditor, 3*time.Minute)
		})
	}
}

// slice creates the first slice of deployment web.
func (f *fixture) slice() {
	f.t.Helper()
	f.create(&v1alpha.InstanceSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: naming.SliceName("web", 0)},
		Spec:       v1alpha.InstanceSliceSpec{Deployment: "web", IndexRange: naming.SliceRange(0)},
	})
}

// without is a cached client that lists no Instance with a UID.
func (f *fixture) without(uid types.UID) client.Client {
	return interceptor.NewClient(f.cached, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := c.List(ctx, list, opts...)
			if instances, ok := list.(*v1alpha.InstanceList); ok {
				instances.Items = slices.DeleteFunc(slices.Clone(instances.Items), func(i v1alpha.Instance) bool { return i.UID == uid })
			}
			return err
		},
	})
}

func (f *fixture) pass(auditor *collector.Auditor, wantNext time.Duration) {
	f.t.Helper()
	next, err := auditor.Pass(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	if next != wantNext {
		f.t.Errorf("the next pass follows after %s, want %s", next, wantNext)
	}
}

// TestAuditAsksTheAPIServer: an object that looks like a stray in a stale cache is not removed.
func TestAuditAsksTheAPIServer(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1)
	instance := f.instance(deployment, 0)
	f.pod(instance)
	f.sync()
	clock := clocktesting.NewFakeClock(now)
	auditor := f.auditor(clock)
	auditor.Client = client.NewNamespacedClient(f.without(instance.UID), f.namespace)
	f.pass(auditor, confirm)
	clock.Step(time.Hour)
	f.pass(auditor, confirm)
	if f.storedPod("web-0") == nil {
		t.Error("the Pod of an Instance that exists was deleted")
	}
	f.wantEvent("")
}

// TestSuspectsTakeTurns: as many suspects as one pass handles, which are no strays at the API server, do not keep a
// stray behind them.
func TestSuspectsTakeTurns(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(60)
	for index := range 50 {
		f.instance(deployment, index)
	}
	f.slice()
	slice := &v1alpha.InstanceSlice{}
	f.get(slice, naming.SliceName("web", 0))
	stray := &v1alpha.InstanceSlice{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: naming.SliceName("gone", 0)}}
	stray.Spec = v1alpha.InstanceSliceSpec{Deployment: "gone", IndexRange: naming.SliceRange(0)}
	f.create(stray)
	f.sync()
	clock := clocktesting.NewFakeClock(now)
	auditor := f.auditor(clock)
	auditor.Client = client.NewNamespacedClient(f.withoutDeployment(), f.namespace)
	for range 3 {
		if _, err := auditor.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		clock.Step(confirm)
	}
	if err := f.direct.Get(t.Context(), client.ObjectKeyFromObject(stray), stray); !apierrors.IsNotFound(err) {
		t.Errorf("the InstanceSlice behind the others is still there: %v", err)
	}
	if present, _ := f.instances(); len(present) != 50 {
		t.Errorf("%d Instances of an existing deployment are left, want 50", len(present))
	}
}

// withoutDeployment is a cached client that lists no WorkloadDeployment.
func (f *fixture) withoutDeployment() client.Client {
	return interceptor.NewClient(f.cached, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, ok := list.(*v1alpha.WorkloadDeploymentList); ok {
				return nil
			}
			return c.List(ctx, list, opts...)
		},
	})
}
