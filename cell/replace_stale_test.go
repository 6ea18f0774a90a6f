// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// behind is a cached client that still has an earlier state of an Instance.
func (f *fixture) behind(earlier *v1alpha.Instance) client.Client {
	return interceptor.NewClient(f.cached, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			if instance, ok := object.(*v1alpha.Instance); ok && key == client.ObjectKeyFromObject(earlier) {
				earlier.DeepCopyInto(instance)
				return nil
			}
			return c.Get(ctx, key, object, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := c.List(ctx, list, opts...)
			if instances, ok := list.(*v1alpha.InstanceList); ok && err == nil {
				instances.Items = append([]v1alpha.Instance(nil), instances.Items...)
				for i := range instances.Items {
					if instances.Items[i].UID == earlier.UID {
						instances.Items[i] = *earlier
					}
				}
			}
			return err
		},
	})
}

// replacedOnce returns an Instance as it was before it was replaced in place. Its Pod is gone.
func (f *fixture) replacedOnce(changes ...func(*v1alpha.WorkloadDeployment)) *v1alpha.Instance {
	f.t.Helper()
	deployment := f.deployment(2, append(changes, halfAtOnce)...)
	for index := range 2 {
		f.running(deployment, index)
	}
	f.onNode("node", "web-0", "web-1")
	f.settled(deployment)
	before := f.storedInstance("web-1")
	f.changeDeployment(newImage)
	r, _ := f.evicting()
	f.reconcile(r, "web")
	if after := f.storedInstance("web-1"); after.UID != before.UID || after.TemplateHash() == before.TemplateHash() {
		f.t.Fatalf("the Instance was not replaced in place: %+v", after)
	}
	f.remove(f.storedPod("web-1"))
	return before
}

// settled has the disruption budget of a deployment follow, if it has one.
func (f *fixture) settled(deployment *v1alpha.WorkloadDeployment) {
	if deployment.Spec.Floor != nil || deployment.Spec.Assignment != nil {
		f.reconcile(f.disruption(), "web")
		f.settleBudget()
	}
}

// TestStaleReplacement: a cache that lacks the replacement of an Instance neither has it replaced twice nor stops its
// next Pod.
func TestStaleReplacement(t *testing.T) {
	for name, changes := range map[string][]func(*v1alpha.WorkloadDeployment){
		"without a budget": nil, "with a budget": {withFloor(2, 1, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			before := f.replacedOnce(changes...)
			r, _ := f.evicting()
			r.Client = f.behind(before)
			f.reconcile(r, "web")
			f.wantInstances([]string{"web-0", "web-1"}, nil)

			f.reconcile(f.runtime(), "web-1")
			pod := f.storedPod("web-1")
			if pod == nil {
				t.Fatal("it has no Pod")
			}
			f.setPod(pod, readyAt(now.Add(-time.Minute)))
			f.settled(f.storedDeployment())
			f.reconcile(r, "web")
			f.wantInstances([]string{"web-0", "web-1"}, nil)
			if pod = f.storedPod("web-1"); pod == nil || !pod.DeletionTimestamp.IsZero() {
				t.Errorf("its Pod of the next template is stopped: %+v", pod)
			}
		})
	}
}

// TestNoPodOfTheEarlierTemplate: a cache that lacks the replacement of an Instance does not start its earlier template
// again.
func TestNoPodOfTheEarlierTemplate(t *testing.T) {
	f := newFixture(t)
	before := f.replacedOnce()
	r := f.runtime()
	r.Client = f.behind(before)
	f.reconcile(r, "web-1")
	if pod := f.storedPod("web-1"); pod != nil {
		t.Errorf("a Pod of template %s was created: %+v", pod.Labels[v1alpha.LabelTemplateHash], pod.ObjectMeta)
	}
	f.reconcile(f.runtime(), "web-1")
	if pod := f.storedPod("web-1"); pod == nil || pod.Labels[v1alpha.LabelTemplateHash] != f.storedInstance("web-1").TemplateHash() {
		t.Errorf("its Pod is %+v", pod)
	}
}
