// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/disruption"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// withFloor gives the cell of a deployment the indices from 0 on, and a floor.
func withFloor(replicas, minAvailable int32, sequence int64) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Annotations = map[string]string{v1alpha.AnnotationWorkNamespace: "karmada-es-dfw"}
		d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{{
			Name: "dfw", Indices: []v1alpha.IndexRange{{Last: replicas - 1}},
			Floor: &v1alpha.AvailabilityFloor{MinAvailable: minAvailable, Sequence: sequence},
		}}}
	}
}

func (f *fixture) disruption() *disruption.Reconciler {
	return &disruption.Reconciler{Client: f.cached, APIReader: f.direct, Clock: f.clock}
}

// storedBudget is the budget of deployment web, or nil.
func (f *fixture) storedBudget() *policyv1.PodDisruptionBudget {
	f.t.Helper()
	budget := &policyv1.PodDisruptionBudget{}
	err := f.direct.Get(f.t.Context(), client.ObjectKey{Namespace: f.namespace, Name: "web"}, budget)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return budget
}

// settleBudget writes the status of the budget, as the disruption controller of Kubernetes does.
func (f *fixture) settleBudget() *policyv1.PodDisruptionBudget {
	f.t.Helper()
	budget := f.storedBudget()
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil {
		f.t.Fatal(err)
	}
	var pods corev1.PodList
	if err := f.direct.List(f.t.Context(), &pods, client.InNamespace(f.namespace),
		client.MatchingLabelsSelector{Selector: selector}); err != nil {
		f.t.Fatal(err)
	}
	healthy := int32(0)
	for i := range pods.Items {
		for _, condition := range pods.Items[i].Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue && pods.Items[i].DeletionTimestamp.IsZero() {
				healthy++
			}
		}
	}
	least := budget.Spec.MinAvailable.IntVal
	budget.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: budget.Generation, CurrentHealthy: healthy, DesiredHealthy: least, ExpectedPods: int32(len(pods.Items)),
		DisruptionsAllowed: max(0, healthy-least),
	}
	if err := f.direct.Status().Update(f.t.Context(), budget); err != nil {
		f.t.Fatal(err)
	}
	return budget
}

// running creates an Instance with a Pod that has been ready for long enough, and has the runtime report it.
func (f *fixture) running(deployment *v1alpha.WorkloadDeployment, index int, changes ...func(*v1alpha.Instance)) *v1alpha.Instance {
	f.t.Helper()
	instance := f.instance(deployment, index, changes...)
	f.setPod(f.pod(instance), readyAt(now.Add(-time.Minute)))
	f.reconcile(f.runtime(), instance.Name)
	return f.storedInstance(instance.Name)
}

// wantBudget wants a budget with this number and sequence.
func (f *fixture) wantBudget(minAvailable int32, sequence string) {
	f.t.Helper()
	budget := f.storedBudget()
	if budget == nil {
		f.t.Fatal("there is no budget")
	}
	if *budget.Spec.MinAvailable != intstr.FromInt32(minAvailable) || budget.Annotations[v1alpha.AnnotationFloorSequence] != sequence {
		f.t.Errorf("the budget is %+v, %v; want %d, %q", budget.Spec, budget.Annotations, minAvailable, sequence)
	}
}

func TestBudget(t *testing.T) {
	for name, test := range map[string]struct {
		given func(*fixture)
		// change runs after the first reconcile.
		change func(*fixture)
		want   int32
		gone   bool
	}{
		"a floor":        {want: 2},
		"a raised floor": {change: func(f *fixture) { f.changeDeployment(withFloor(3, 3, 2)) }, want: 3},
		"a lower floor":  {change: func(f *fixture) { f.changeDeployment(withFloor(3, 0, 2)) }, want: 0},
		"no floor any more": {
			change: func(f *fixture) { f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Assignment = nil }) }, gone: true,
		},
		"the floor of another cell alone": {given: func(f *fixture) { f.deployment(3, withFloor(3, 2, 1), elsewhere) }, gone: true},
		"the floor of the city": {given: func(f *fixture) {
			f.deployment(3, withFloor(3, 1, 1), elsewhere, func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Floor = &v1alpha.AvailabilityFloor{MinAvailable: 2, Sequence: 1}
			})
		}, want: 2},
		"a floor of an earlier time": {change: func(f *fixture) {
			f.changeDeployment(withFloor(3, 3, 7))
			f.reconcile(f.disruption(), "web")
			f.changeDeployment(withFloor(3, 0, 6))
		}, want: 3},
		"a floor that the CRD of the cell has dropped": {change: func(f *fixture) {
			f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Assignment = nil
				d.Annotations[v1alpha.AnnotationRequires] = "assignment"
			})
		}, want: 2},
		"a budget that was changed": {change: func(f *fixture) {
			budget := f.storedBudget()
			budget.Spec.MinAvailable, budget.Spec.UnhealthyPodEvictionPolicy = new(intstr.FromInt32(0)), nil
			budget.Spec.Selector.MatchLabels["other"] = "one"
			f.update(budget)
		}, want: 2},
		"a budget that was deleted": {change: func(f *fixture) { f.remove(f.storedBudget()) }, want: 2},
		"an earlier deployment of the name": {change: func(f *fixture) {
			f.remove(f.storedDeployment())
			f.deployment(3, withFloor(3, 1, 1))
			f.reconcile(f.disruption(), "web")
		}, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if test.given == nil {
				test.given = func(f *fixture) { f.deployment(3, withFloor(3, 2, 1)) }
			}
			test.given(f)
			f.reconcile(f.disruption(), "web")
			if test.change != nil {
				test.change(f)
				f.reconcile(f.disruption(), "web")
			}
			if test.gone {
				if budget := f.storedBudget(); budget != nil {
					t.Errorf("there is a budget: %+v", budget)
				}
				return
			}
			deployment, budget := f.storedDeployment(), f.storedBudget()
			f.wantBudget(test.want, budget.Annotations[v1alpha.AnnotationFloorSequence])
			if !metav1.IsControlledBy(budget, deployment) || *budget.Spec.UnhealthyPodEvictionPolicy != policyv1.AlwaysAllow ||
				len(budget.Spec.Selector.MatchLabels) != 2 {
				t.Errorf("the budget is %+v", budget)
			}
			settled := f.disruption()
			settled.Client, settled.APIReader = f.readOnly(), nil
			f.reconcile(settled, "web")
		})
	}
}

// elsewhere names another cell in the assignment.
func elsewhere(d *v1alpha.WorkloadDeployment) { d.Spec.Assignment.Cells[0].Name = "iad" }

// TestBudgetIsNotLoweredByAnOldCache: an agent with an older deployment in its cache does not lower the floor in force.
func TestBudgetIsNotLoweredByAnOldCache(t *testing.T) {
	f := newFixture(t)
	old := f.deployment(3, withFloor(3, 1, 1)).DeepCopy()
	f.changeDeployment(withFloor(3, 3, 2))
	f.reconcile(f.disruption(), "web")
	f.wantBudget(3, "2")
	f.sync()
	behind := f.disruption()
	behind.Client = interceptor.NewClient(f.cached, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if deployment, ok := obj.(*v1alpha.WorkloadDeployment); ok {
				old.DeepCopyInto(deployment)
				return nil
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	f.reconcileNow(behind, "web")
	f.wantBudget(3, "2")
}

// TestFloorIsConfirmed: the hub hears of a floor when Kubernetes enforces it and all Pods of Available Instances count.
func TestFloorIsConfirmed(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(2)
	f.running(deployment, 0)
	f.setPod(f.pod(f.instance(deployment, 1)), readyAt(now))
	f.reconcile(f.runtime(), "web-1")
	f.changeDeployment(withFloor(2, 1, 1))
	reported := func(sequence int64, available int32) {
		f.t.Helper()
		f.rollUp()
		if got := f.storedDeployment().Status.Indices[0]; got.FloorSequence != sequence || got.Available != available {
			t.Errorf("floor %d with %d Available is reported, want %d with %d", got.FloorSequence, got.Available, sequence, available)
		}
	}

	// A Pod that was ready before the floor came is not protected yet. The other one is not Available.
	if result := f.reconcile(f.disruption(), "web"); result.RequeueAfter == 0 {
		t.Error("nothing requeues the deployment")
	}
	f.wantBudget(1, "1")
	f.settleBudget()
	reported(0, 0)
	f.reconcile(f.runtime(), "web-0")
	f.reconcile(f.runtime(), "web-1")
	f.reconcile(f.disruption(), "web")
	f.settleBudget()
	reported(1, 1)

	f.changeDeployment(withFloor(2, 2, 3))
	f.reconcile(f.disruption(), "web")
	f.wantBudget(2, "3")
	reported(1, 1) // Kubernetes has not processed the change
	budget := f.settleBudget()
	budget.Status.DisruptedPods = map[string]metav1.Time{"web-0": metav1.NewTime(now)}
	budget.Status.CurrentHealthy = 0
	if err := f.direct.Status().Update(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	reported(1, 0) // a Pod is being evicted that the floor before has let go
	f.settleBudget()
	reported(3, 1)

	f.changeDeployment(withFloor(2, 0, 2)) // an earlier message
	f.reconcile(f.disruption(), "web")
	reported(3, 1)

	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Assignment = nil })
	f.reconcile(f.disruption(), "web")
	reported(0, 0)
}

// TestAwaitingDisruption: the hub hears how many Available Instances wait for a voluntary disruption.
func TestAwaitingDisruption(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(3, withFloor(3, 3, 1), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{Index: 1, Template: template()}
		d.Spec.Partition.Template.Spec.Runtime.Sandbox.Containers[0].Image = "example.com/earlier"
	})
	earlier, err := templates.Hash(&deployment.Spec.Partition.Template)
	if err != nil {
		t.Fatal(err)
	}
	f.running(deployment, 0, fromTemplate(earlier))
	f.running(deployment, 1)
	f.running(deployment, 2)
	names := []string{"web-0", "web-1", "web-2"}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "awaiting-"}}
	f.create(node)
	t.Cleanup(func() { _ = f.direct.Delete(context.WithoutCancel(t.Context()), node) })
	f.onNode(node.Name, names...)
	f.reconcile(f.disruption(), "web")
	f.settleBudget()
	reported := func(want int32) {
		f.t.Helper()
		f.rollUp()
		if got := f.storedDeployment().Status.Indices[0].AwaitingDisruption; got != want {
			t.Errorf("%d Instances wait for a disruption, want %d", got, want)
		}
	}
	reported(0)
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Partition = nil })
	reported(1) // web-0 has the earlier template
	f.changeDeployment(withFloor(2, 3, 1))
	reported(2) // web-2 is released
	node.Spec.Unschedulable = true
	f.update(node)
	f.eventually("the cache has the cordoned node", func(ctx context.Context) bool {
		cordoned, _, err := disruption.CordonedNodes(ctx, f.cached)
		return err == nil && cordoned[node.Name]
	})
	reported(3)
}

// TestProtection: the Pods of Available Instances of a deployment with a floor have the label, and no others.
func TestProtection(t *testing.T) {
	for name, test := range map[string]struct {
		change    func(*v1alpha.WorkloadDeployment)
		protected bool
		status    corev1.PodStatus
		want      bool
	}{
		"Available":                  {change: withFloor(1, 1, 1), status: readyAt(now.Add(-time.Minute)), want: true},
		"without a floor":            {status: readyAt(now.Add(-time.Minute))},
		"ready for too short a time": {change: withFloor(1, 1, 1), status: readyAt(now)},
		"not ready any more":         {change: withFloor(1, 1, 1), protected: true, status: corev1.PodStatus{Phase: corev1.PodRunning}},
		"without a floor any more":   {protected: true, status: readyAt(now.Add(-time.Minute))},
		"not ready, Available when it is": {
			change: atOnce(withFloor(1, 1, 1)), protected: true, status: corev1.PodStatus{Phase: corev1.PodRunning}, want: true,
		},
		"not ready yet, Available at once": {change: atOnce(withFloor(1, 1, 1)), status: corev1.PodStatus{Phase: corev1.PodRunning}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			deployment := f.deployment(1, func(d *v1alpha.WorkloadDeployment) {
				if test.change != nil {
					test.change(d)
				}
			})
			f.setPod(f.pod(f.instance(deployment, 0), func(p *corev1.Pod) {
				if test.protected {
					p.Labels[v1alpha.LabelProtected] = v1alpha.ProtectedTrue
				}
			}), test.status)
			r := f.runtime()
			r.Client = interceptor.NewClient(f.cached, interceptor.Funcs{
				SubResourceApply: func(ctx context.Context, c client.Client, name string, obj applyConfiguration,
					opts ...client.SubResourceApplyOption,
				) error {
					if got := f.storedPod("web-0").Labels[v1alpha.LabelProtected] != ""; got != test.want {
						t.Errorf("before the status is written the Pod is protected: %t", got)
					}
					return c.SubResource(name).Apply(ctx, obj, opts...)
				},
			})
			f.reconcile(r, "web-0")
			settled := f.runtime()
			settled.Client = f.readOnly()
			f.reconcile(settled, "web-0")
			if got := f.storedPod("web-0").Labels[v1alpha.LabelProtected] != ""; got != test.want {
				t.Errorf("the Pod is protected: %t", got)
			}
		})
	}
}

// atOnce lets Instances be Available as soon as they are Ready.
func atOnce(change func(*v1alpha.WorkloadDeployment)) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		change(d)
		d.Spec.MinReadySeconds = new(int32(0))
	}
}

// TestTemplateDoesNotProtect: a label in the template does not protect a Pod that is not Available.
func TestTemplateDoesNotProtect(t *testing.T) {
	f := newFixture(t)
	f.instance(f.deployment(1, withFloor(1, 1, 1)), 0, func(i *v1alpha.Instance) { i.Labels[v1alpha.LabelProtected] = v1alpha.ProtectedTrue })
	f.reconcile(f.runtime(), "web-0")
	if pod := f.storedPod("web-0"); pod == nil || pod.Labels[v1alpha.LabelProtected] != "" {
		t.Errorf("the Pod is %+v", pod)
	}
}
