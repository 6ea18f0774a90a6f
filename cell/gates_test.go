// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/runtime"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// reasons are the reasons of conditions by their types. A reason of a condition that is not True begins with "-".
func reasons(conditions []metav1.Condition) map[string]string {
	all := map[string]string{}
	for _, condition := range conditions {
		all[condition.Type] = condition.Reason
		if condition.Status != metav1.ConditionTrue {
			all[condition.Type] = "-" + condition.Reason
		}
	}
	return all
}

func (f *fixture) wantGates(instance string, gates ...string) {
	f.t.Helper()
	var got []string
	for _, gate := range f.storedInstance(instance).SchedulingGates() {
		got = append(got, gate.Name)
	}
	if !slices.Equal(got, gates) {
		f.t.Errorf("gates %v, want %v", got, gates)
	}
}

func TestGates(t *testing.T) {
	tests := map[string]struct {
		given               func(*fixture)
		wantGates           []string
		wantQuota, wantData string
	}{
		"no quota is configured": {
			given:     func(f *fixture) { f.instance(f.deployment(1), 0) },
			wantQuota: v1alpha.ReasonQuotaDisabled,
		},
		"quota is not granted": {
			given:     func(f *fixture) { f.instance(f.deployment(1, granted(1)), 0, gated("Quota")) },
			wantGates: []string{"Quota"}, wantQuota: "-" + v1alpha.ReasonPendingEvaluation,
		},
		"quota is granted": {
			given:     func(f *fixture) { f.instance(f.deployment(1, granted(0)), 0, gated("ReferencedData", "Quota")) },
			wantGates: []string{"ReferencedData"}, wantQuota: v1alpha.ReasonQuotaAvailable,
		},
		"the network is not there": {
			given:     func(f *fixture) { f.instance(f.deployment(1, network(false)), 0, gated("Network")) },
			wantGates: []string{"Network"}, wantQuota: v1alpha.ReasonQuotaDisabled,
		},
		"the network is there": {
			given:     func(f *fixture) { f.instance(f.deployment(1, network(true)), 0, gated("Network")) },
			wantQuota: v1alpha.ReasonQuotaDisabled,
		},
		"nobody waits for networks any more": {
			given:     func(f *fixture) { f.instance(f.deployment(1), 0, gated("Network")) },
			wantQuota: v1alpha.ReasonQuotaDisabled,
		},
		"a grant that is taken back sets no gate": {
			given:     func(f *fixture) { f.instance(f.deployment(1, granted()), 0) },
			wantQuota: "-" + v1alpha.ReasonPendingEvaluation,
		},
		"data is missing": {
			given:     func(f *fixture) { f.instance(f.deployment(1, needing("settings")), 0, gated("ReferencedData")) },
			wantGates: []string{"ReferencedData"}, wantQuota: v1alpha.ReasonQuotaDisabled, wantData: "-" + v1alpha.ReasonAwaitingPropagation,
		},
		"data is there": {
			given: func(f *fixture) {
				f.sent("settings")
				f.instance(f.deployment(1, needing("settings")), 0, gated("ReferencedData"))
			},
			wantQuota: v1alpha.ReasonQuotaDisabled, wantData: v1alpha.ReasonReferencedDataPresent,
		},
		"data that is optional holds nothing, and is reported": {
			given: func(f *fixture) {
				optional := func(d *v1alpha.WorkloadDeployment) { d.Spec.Template.Spec.Volumes[0].ConfigMap.Optional = new(true) }
				f.instance(f.deployment(1, needing("settings"), optional), 0)
			},
			wantQuota: v1alpha.ReasonQuotaDisabled, wantData: v1alpha.ReasonReferencedDataPresent,
		},
		"both gates are lifted": {
			given: func(f *fixture) {
				f.sent("settings")
				f.instance(f.deployment(1, needing("settings"), granted(0)), 0, gated("Quota", "ReferencedData"))
			},
			wantQuota: v1alpha.ReasonQuotaAvailable, wantData: v1alpha.ReasonReferencedDataPresent,
		},
		"an Instance that is being deleted is left alone": {
			given: func(f *fixture) {
				held := func(i *v1alpha.Instance) { i.Finalizers = []string{"example.com/held"} }
				f.beginDeletion(f.instance(f.deployment(1), 0, gated("Quota"), held))
			},
			wantGates: []string{"Quota"},
		},
		"an Instance of no deployment is left alone": {
			given: func(f *fixture) {
				f.instance(f.deployment(1), 0, gated("Quota"), func(i *v1alpha.Instance) { i.OwnerReferences = nil })
			},
			wantGates: []string{"Quota"},
		},
		"an Instance of a deployment that is gone is left alone": {
			given: func(f *fixture) {
				deployment := f.deployment(1)
				f.instance(deployment, 0, gated("Quota"))
				f.remove(deployment)
			},
			wantGates: []string{"Quota"},
		},
		"an Instance of an earlier deployment of the name is left alone": {
			given: func(f *fixture) {
				deployment := f.deployment(1)
				f.instance(deployment, 0, gated("Quota"))
				f.remove(deployment)
				f.deployment(1)
			},
			wantGates: []string{"Quota"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			test.given(f)
			if result := f.reconcile(f.runtime(), "web-0"); result != (reconcile.Result{}) {
				t.Errorf("requeued: %+v", result)
			}
			f.wantGates("web-0", test.wantGates...)
			got := reasons(f.storedInstance("web-0").Status.Conditions)
			if got[v1alpha.ConditionQuotaGranted] != test.wantQuota || got[v1alpha.ConditionReferencedDataReady] != test.wantData {
				t.Errorf("conditions %v", got)
			}
		})
	}
}

func TestGatesOfOneThatIsGone(t *testing.T) {
	f := newFixture(t)
	if result := f.reconcile(f.runtime(), "web-0"); result != (reconcile.Result{}) {
		t.Errorf("requeued: %+v", result)
	}
}

func TestGatesWriteOnlyWhatDiffers(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, granted())
	f.instance(deployment, 0, gated("Quota"))
	f.reconcile(f.runtime(), "web-0")
	first := f.storedInstance("web-0")
	condition := meta.FindStatusCondition(first.Status.Conditions, v1alpha.ConditionQuotaGranted)
	if condition.ObservedGeneration != first.Generation || !condition.LastTransitionTime.Time.Equal(now) {
		t.Errorf("condition %+v", condition)
	}
	f.clock.SetTime(now.Add(time.Hour))
	settled := f.runtime()
	settled.Client = f.readOnly()
	f.reconcile(settled, "web-0")
	deployment.Spec.Quota.Granted = naming.Ranges([]int{0})
	f.update(deployment)
	f.reconcile(f.runtime(), "web-0")
	later := f.storedInstance("web-0")
	condition = meta.FindStatusCondition(later.Status.Conditions, v1alpha.ConditionQuotaGranted)
	if condition.ObservedGeneration != later.Generation || !condition.LastTransitionTime.Time.Equal(now.Add(time.Hour)) {
		t.Errorf("condition %+v of generation %d", condition, later.Generation)
	}
}

// TestOneWriteForAStart: an Instance without a gate, whose Pod is Ready before the transient state is written, has one
// write of its status, with all of its conditions, by one field manager. Conditions of other writers stay.
func TestOneWriteForAStart(t *testing.T) {
	f := newFixture(t)
	f.sent("settings")
	instance := f.instance(f.deployment(1, needing("settings"), granted(0)), 0, gated("Quota", "ReferencedData"))
	theirs := metav1.Condition{Type: "Theirs", Status: metav1.ConditionTrue, Reason: "Theirs", LastTransitionTime: metav1.NewTime(now)}
	instance.Status.Conditions = []metav1.Condition{theirs}
	if err := f.direct.Status().Update(t.Context(), instance); err != nil {
		t.Fatal(err)
	}
	r := f.runtime()
	r.Passing = pace.NewWrites[types.NamespacedName](f.clock)
	f.reconcile(r, "web-0")
	f.wantGates("web-0")
	if got := f.storedInstance("web-0"); len(got.Status.Conditions) != 1 {
		t.Errorf("while it starts it has %+v", got.Status.Conditions)
	}
	pod := f.storedPod("web-0")
	if pod == nil {
		t.Fatal("the reconcile that lifts its gates does not start it")
	}
	f.setPod(pod, readyPod("10.0.0.1"))
	f.reconcile(r, "web-0")
	got := f.storedInstance("web-0")
	want := map[string]string{
		"Theirs": "Theirs", v1alpha.ConditionReady: v1alpha.ReasonAvailable, v1alpha.ConditionAvailable: v1alpha.ReasonAvailable,
		v1alpha.ConditionProgrammed: "-" + v1alpha.ReasonProgrammingInProgress, v1alpha.ConditionQuotaGranted: v1alpha.ReasonQuotaAvailable,
		v1alpha.ConditionReferencedDataReady: v1alpha.ReasonReferencedDataPresent,
	}
	if all := reasons(got.Status.Conditions); !maps.Equal(all, want) {
		t.Errorf("conditions %v", all)
	}
	var managers []string
	for _, entry := range got.ManagedFields {
		if entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "status" {
			managers = append(managers, entry.Manager)
		}
	}
	if !slices.Equal(managers, []string{string(runtime.FieldManager)}) {
		t.Errorf("the status is applied by %v", managers)
	}
	settled := f.runtime()
	settled.Client = f.readOnly()
	f.reconcile(settled, "web-0")
}

// TestGatesStayKnown: the awaited requirements of an Instance stay known while the Instance is being deleted, or when
// its deployment is gone.
func TestGatesStayKnown(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, granted(0))
	f.instance(deployment, 0, func(i *v1alpha.Instance) { i.Finalizers = []string{"example.com/held"} })
	f.reconcile(f.runtime(), "web-0")
	f.remove(deployment)
	f.beginDeletion(f.storedInstance("web-0"))
	f.reconcile(f.runtime(), "web-0")
	got := reasons(f.storedInstance("web-0").Status.Conditions)
	if got[v1alpha.ConditionQuotaGranted] != v1alpha.ReasonQuotaAvailable || got[v1alpha.ConditionAvailable] != "-"+v1alpha.ReasonStopping {
		t.Errorf("conditions %v", got)
	}
}

func TestGatesRaces(t *testing.T) {
	tests := map[string]struct {
		// given prepares the namespace, and returns a function that runs before the first write.
		given     func(*fixture) func()
		wantGates []string
	}{
		"another gate is lifted meanwhile": {
			given: func(f *fixture) func() {
				instance := f.instance(f.deployment(1, granted(0)), 0, gated("ReferencedData", "Quota"))
				return func() {
					instance.Spec.Controller.SchedulingGates = []v1alpha.SchedulingGate{{Name: "Quota"}}
					f.update(instance)
				}
			},
			wantGates: []string{"Quota"},
		},
		"the Instance is another one by now, and gets no status": {
			given: func(f *fixture) func() {
				deployment := f.deployment(1)
				instance := f.instance(deployment, 0)
				return func() {
					f.remove(instance)
					f.instance(deployment, 0)
				}
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			racing := f.runtime()
			racing.Client = f.racing(test.given(f))
			// A conflict is tried again; nothing is waited for.
			if result := f.reconcile(racing, "web-0"); result.RequeueAfter > time.Second {
				t.Errorf("requeued: %+v", result)
			}
			f.wantGates("web-0", test.wantGates...)
			if got := reasons(f.storedInstance("web-0").Status.Conditions); len(got) > 0 {
				t.Errorf("conditions %v", got)
			}
			// The event of the change triggers a reconcile that corrects it.
			f.reconcile(f.runtime(), "web-0")
			f.wantGates("web-0")
		})
	}
}
