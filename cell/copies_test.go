// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/autoscaler"
	"github.com/karmada-compute/karmada-compute/cell/isolation"
	"github.com/karmada-compute/karmada-compute/cell/sessions"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestOnlyCopiesRun: the agent starts nothing for a WorkloadDeployment that it cannot prove to be a copy of a hub,
// whatever brought it into the cell. One that loses and regains the label keeps what runs.
func TestOnlyCopiesRun(t *testing.T) {
	for name, change := range map[string]func(f *fixture, d *v1alpha.WorkloadDeployment){
		"an original of a project":      func(_ *fixture, d *v1alpha.WorkloadDeployment) { delete(d.Labels, v1alpha.LabelHub) },
		"of another hub than its place": func(_ *fixture, d *v1alpha.WorkloadDeployment) { d.Labels[v1alpha.LabelHub] = "another" },
		"in a namespace of others": func(f *fixture, d *v1alpha.WorkloadDeployment) {
			f.namespace = testenv.Namespace(f.t, f.direct, "theirs").Name
			f.labelHub(f.namespace, hubOfCopies)
			d.Namespace = f.namespace
		},
		"in a namespace without a hub": func(f *fixture, d *v1alpha.WorkloadDeployment) { f.labelHub(d.Namespace, "") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.deployment(1, func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Service = &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{{Port: 80}}}
				autoscaled(3)(d)
				change(f, d)
			})
			f.wantUntouched()
			if rest := f.reconcile(f.deployments(), "web").RequeueAfter; rest == 0 {
				t.Error("the deployment is not checked again")
			}
			if present, _ := f.instances(); len(present) > 0 {
				t.Errorf("Instances %v run", present)
			}
		})
	}
	t.Run("a label that is lost for a moment", func(t *testing.T) {
		f := newFixture(t)
		f.deployment(1, serving(1, 80))
		f.reconcile(f.deployments(), "web")
		services := f.services()
		f.reconcile(services, "web")
		f.labelHub(f.namespace, "")
		f.reconcile(f.deployments(), "web")
		f.reconcile(services, "web")
		if err := f.direct.Get(t.Context(), client.ObjectKey{Namespace: f.namespace, Name: "web"}, &corev1.Service{}); err != nil {
			t.Errorf("without the label the Service is gone: %v", err)
		}
		if present, _ := f.instances(); len(present) != 1 {
			t.Errorf("without the label Instances %v are left", present)
		}
		f.labelHub(f.namespace, hubOfCopies)
		scaled := f.storedDeployment()
		scaled.Spec.ScaleSettings.MinReplicas = 2
		scaled.Spec.ScaleSettings.InstanceManagementPolicy = v1alpha.Parallel
		if err := f.direct.Update(t.Context(), scaled); err != nil {
			t.Fatal(err)
		}
		f.reconcile(f.deployments(), "web")
		if present, _ := f.instances(); len(present) != 2 {
			t.Errorf("with the label again Instances %v run", present)
		}
	})
}

// wantUntouched verifies that no controller changes the namespace of a deployment: a NetworkPolicy would cut all Pods of
// a namespace of others off.
func (f *fixture) wantUntouched() {
	f.t.Helper()
	for name, r := range map[string]reconcile.Reconciler{
		"isolation": &isolation.Reconciler{Client: f.cached}, "autoscaler": &autoscaler.Reconciler{Client: f.cached},
		"sessions": &sessions.Reconciler{Client: f.cached, Users: []string{"streams"}}, "disruption": f.disruption(), "services": f.services(),
	} {
		if rest := f.reconcile(r, "web").RequeueAfter; rest == 0 {
			f.t.Errorf("%s does not check the deployment again", name)
		}
	}
	for _, list := range []client.ObjectList{
		&networkingv1.NetworkPolicyList{}, &autoscalingv2.HorizontalPodAutoscalerList{}, &rbacv1.RoleBindingList{},
		&policyv1.PodDisruptionBudgetList{}, &corev1.ServiceList{},
	} {
		if err := f.direct.List(f.t.Context(), list, client.InNamespace(f.namespace)); err != nil {
			f.t.Fatal(err)
		}
		if count := meta.LenList(list); count > 0 {
			f.t.Errorf("the namespace has %d objects of %T", count, list)
		}
	}
}

// labelHub gives a namespace the label of a hub, or takes it off, and waits until the cache has that.
func (f *fixture) labelHub(name, uid string) {
	f.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	value := `null`
	if uid != "" {
		value = `"` + uid + `"`
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+v1alpha.LabelHub+`":`+value+`}}}`))
	if err := f.direct.Patch(f.t.Context(), namespace, patch); err != nil {
		f.t.Fatal(err)
	}
	f.awaitNamespace(name, uid)
}

// awaitNamespace waits until the cache, which has the namespaces of hubs alone, has a namespace with the label of a
// hub, or does not have it.
func (f *fixture) awaitNamespace(name, uid string) {
	f.t.Helper()
	f.eventually("the cache has the namespace as it is", func(ctx context.Context) bool {
		namespace := &metav1.PartialObjectMetadata{}
		namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		err := f.cached.Get(ctx, client.ObjectKey{Name: name}, namespace)
		return uid == "" && apierrors.IsNotFound(err) || err == nil && namespace.Labels[v1alpha.LabelHub] == uid
	})
}
