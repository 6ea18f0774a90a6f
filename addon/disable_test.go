// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestKeepLeavesTheKindsAtMilo: one set of kinds serves all projects, so that deleting a kind would delete the Workloads that
// are kept. The next disable deletes it.
func TestKeepLeavesTheKindsAtMilo(t *testing.T) {
	s := newSite(t)
	if err := s.enable(t.Context(), s.options(), map[string]any{}); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	host, err := planeOf("the host", testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	// The kinds of the add-on itself are there before, as testenv installs them.
	crd := anything("things", "Thing", "example.com", "v1")
	if err := s.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	known := s.inventory()
	known.add(atMilo, entry{reference: reference{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", crd.Name}})
	if err := known.write(t.Context(), host, s.namespace); err != nil {
		t.Fatal(err)
	}
	for _, workloads := range []string{workloadsKeep, workloadsRefuse} {
		o := s.options()
		o.workloads = workloads
		if err := s.disable(t.Context(), o); err != nil {
			t.Fatalf("%s: %v", workloads, err)
		}
		err := s.Get(t.Context(), client.ObjectKeyFromObject(crd), crd)
		if isLeft := err == nil && crd.DeletionTimestamp == nil; isLeft != (workloads == workloadsKeep) {
			t.Errorf("after --compute-workloads=%s the kind is left: %t, %v", workloads, isLeft, err)
		}
	}
}

// TestRefusesWithoutDeployments: a Workload whose city has no cell has no deployment on the hub, and is lost with its kind.
func TestRefusesWithoutDeployments(t *testing.T) {
	s := newSite(t)
	o := s.options()
	o.miloKubeconfig = ""
	if err := s.enable(t.Context(), o, nested([]string{"projects", "mode"}, modeNamespaces)); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	workload := workloadIn(s.namespace)
	if err := s.Create(t.Context(), workload); err != nil {
		t.Fatal(err)
	}
	if err := s.disable(t.Context(), o); err == nil || !strings.Contains(err.Error(), "1 Workloads exist at the hub") {
		t.Errorf("it is disabled: %v", err)
	}
	if err := s.Delete(t.Context(), workload); err != nil {
		t.Fatal(err)
	}
	if err := s.disable(t.Context(), o); err != nil {
		t.Error(err)
	}
}

func workloadIn(namespace string) *unstructured.Unstructured {
	deployed := deployment(namespace)
	template, _, _ := unstructured.NestedMap(deployed.Object, "spec", "template")
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "compute.datumapis.com/v1alpha", "kind": "Workload",
		"spec": map[string]any{"template": template, "placements": []any{map[string]any{
			"name": "main", "cityCodes": []any{"NOWHERE"}, "scaleSettings": map[string]any{"minReplicas": int64(1)},
		}}},
	}}
	object.SetNamespace(namespace)
	object.SetName("web")
	return object
}

// late is an API server that answers late.
type late struct {
	client.Client
	after time.Duration
}

func (l late) Apply(ctx context.Context, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(l.after):
		return l.Client.Apply(ctx, object, options...)
	}
}

// TestApplyToABusyAPIServer: the time for what is being deleted does not cut off the answer to a request.
func TestApplyToABusyAPIServer(t *testing.T) {
	s := newSite(t)
	run, err := s.options().connect()
	if err != nil {
		t.Fatal(err)
	}
	const wait = 50 * time.Millisecond
	run.hub.Client = late{run.hub.Client, 4 * wait}
	object := reference{"v1", "ConfigMap", s.namespace, "late"}.object()
	if err := run.applyWithin(t.Context(), onHub, object, wait); err != nil {
		t.Error(err)
	}
}

// TestEnableWhileKindsTerminate: enable waits until a kind that is being deleted is gone, since what it applied to that one
// would go with it. A kind that is held is applied again when the replicas run.
func TestEnableWhileKindsTerminate(t *testing.T) {
	s := newSite(t)
	for _, held := range []bool{false, true} {
		crd := anything("endings", "Ending", "example.com", "v1")
		crd.Finalizers = []string{"example.com/holds"}
		if err := s.Create(t.Context(), crd.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), crd.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		o := s.options()
		run, err := o.connect()
		if err != nil {
			t.Fatal(err)
		}
		rendered := anything("endings", "Ending", "example.com", "v1")
		object := reference{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", crd.Name}.object()
		if object.Object["spec"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(&rendered.Spec); err != nil {
			t.Fatal(err)
		}
		run.out = released{s, crd}
		if held {
			run.out, o.karmada.timeout = io.Discard, time.Second
		}
		if err := run.apply(t.Context(), onHub, object); err != nil {
			t.Fatal(err)
		}
		if len(run.terminating) == 1 != held {
			t.Errorf("held %t: %d kinds are applied again", held, len(run.terminating))
		}
		run.out, o.karmada.timeout = released{s, crd}, time.Minute
		if err := run.renewKinds(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil || crd.DeletionTimestamp != nil {
			t.Errorf("held %t: it is not there: %v", held, err)
		}
		if err := s.Delete(t.Context(), rendered); err != nil {
			t.Error(err)
		}
		if err := run.hub.waitGone(t.Context(), referenceOf(object), time.Minute); err != nil {
			t.Error(err)
		}
	}
}

// TestEnableRenewsKinds: a kind of an earlier installation that ends only when the replicas run is there when enable ends.
func TestEnableRenewsKinds(t *testing.T) {
	s := newSite(t)
	run, err := s.options().connect()
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	kind := reference{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "workloaddeployments." + v1alpha.GroupVersion.Group}
	if err := s.Get(t.Context(), client.ObjectKey{Name: kind.Name}, crd); err != nil {
		t.Fatal(err)
	}
	before := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crd.Name}, Spec: *crd.Spec.DeepCopy()}
	t.Cleanup(func() {
		// The context of the test has ended.
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(run.hub.waitGone(ctx, kind, time.Minute), s.Create(ctx, before),
			run.hub.established(ctx, kind.Name, time.Minute)); err != nil {
			t.Error(err)
		}
	})
	crd.Finalizers = append(crd.Finalizers, "example.com/holds")
	if err := errors.Join(s.Update(t.Context(), crd), s.Delete(t.Context(), crd.DeepCopy())); err != nil {
		t.Fatal(err)
	}
	said := 0
	run.values, run.out = map[string]any{}, writer(func(line []byte) (int, error) {
		// enable waits for it once on the hub and once at Milo, and again when the replicas run.
		if strings.Contains(string(line), crd.Name) && strings.Contains(string(line), "which is being deleted") {
			said++
		}
		if said < 3 {
			return len(line), nil
		}
		return released{s, crd}.Write(line)
	})
	if err := errors.Join(run.prepare(t.Context()), run.finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil || crd.DeletionTimestamp != nil {
		t.Errorf("the kind is not there: %v, deleted at %v", err, crd.DeletionTimestamp)
	}
	if err := s.disable(t.Context(), s.options()); err != nil {
		t.Fatal(err)
	}
}

// writer is a function that implements io.Writer.
type writer func(line []byte) (int, error)

func (w writer) Write(line []byte) (int, error) { return w(line) }

// released removes the finalizer of an object when the command says that it waits for it.
type released struct {
	*site
	object client.Object
}

// Write implements io.Writer.
func (r released) Write(line []byte) (int, error) {
	if !strings.Contains(string(line), "which is being deleted") {
		return len(line), nil
	}
	return len(line), r.Patch(r.t.Context(), r.object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
}

// TestDisableWithdrawsConditions: a Cluster keeps Karmada's conditions only, so that no command finds a condition of the time before.
func TestDisableWithdrawsConditions(t *testing.T) {
	s := newSite(t)
	if err := s.enable(t.Context(), s.options(), versionsOf("v0.1.0")); err != nil {
		t.Fatal(err)
	}
	cell := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster"}}
	cell.SetName("cell-with-conditions")
	if err := s.Create(t.Context(), cell); err != nil {
		t.Fatal(err)
	}
	var conditions []any
	for _, kind := range append([]string{"Ready"}, ofClusters...) {
		conditions = append(conditions, map[string]any{"type": kind, "status": "True"})
	}
	if err := errors.Join(unstructured.SetNestedSlice(cell.Object, conditions, "status", "conditions"), s.Status().Update(t.Context(), cell),
		s.disable(t.Context(), s.options()), s.Get(t.Context(), client.ObjectKeyFromObject(cell), cell)); err != nil {
		t.Fatal(err)
	}
	left, _, err := unstructured.NestedSlice(cell.Object, "status", "conditions")
	if err != nil || len(left) != 1 || left[0].(map[string]any)["type"] != "Ready" {
		t.Errorf("the Cluster has conditions %v, %v", left, err)
	}
	if err := s.Delete(t.Context(), cell); err != nil {
		t.Fatal(err)
	}
}
