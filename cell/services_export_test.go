// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/services"
	"github.com/karmada-compute/karmada-compute/testenv"
)

var exportKind = schema.GroupVersionKind{Group: "multicluster.x-k8s.io", Version: "v1alpha1", Kind: "ServiceExport"}

// exporting is the reconciler in a cell that serves the kind.
func (f *fixture) exporting(c ...client.Client) *services.Reconciler {
	reconciler := f.services(c...)
	reconciler.Exports = &services.Exports{Mapper: f.direct.RESTMapper(), Clock: f.clock}
	return reconciler
}

// serviceExport is ServiceExport web; nil: it does not exist.
func (f *fixture) serviceExport() *unstructured.Unstructured {
	f.t.Helper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(exportKind)
	err := f.direct.Get(f.t.Context(), client.ObjectKey{Namespace: f.namespace, Name: "web"}, found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return found
}

// TestServiceExport: a Service has a ServiceExport with the same owners, which follows it and costs nothing more.
func TestServiceExport(t *testing.T) {
	f := newFixture(t)
	first := f.deployment(1, serving(1, 80))
	f.reconcile(f.exporting(), "web")
	f.reconcile(f.exporting(f.readOnly()), "web")
	if export := f.serviceExport(); export == nil || len(export.GetOwnerReferences()) != 1 || export.GetOwnerReferences()[0].UID != first.UID {
		t.Fatalf("the ServiceExport is %v", export)
	}
	f.deployment(1, called("web-other"), serving(1, 80))
	f.reconcile(f.exporting(), "web")
	if owners := f.serviceExport().GetOwnerReferences(); len(owners) != 2 {
		t.Errorf("the owners are %v", owners)
	}
	for _, name := range []string{"web", "web-other"} {
		d := &v1alpha.WorkloadDeployment{}
		f.get(d, name)
		d.Spec.Service, d.Spec.ServiceGeneration = nil, 0
		f.update(d)
	}
	f.reconcile(f.exporting(), "web")
	if f.service() != nil || f.serviceExport() != nil {
		t.Errorf("without a service there is %v", f.serviceExport())
	}
}

// TestServiceExportOfOthers: what the agent did not create stays, and a Service of others is not exported.
func TestServiceExportOfOthers(t *testing.T) {
	f := newFixture(t)
	f.deployment(1, serving(1, 80))
	theirs := &unstructured.Unstructured{}
	theirs.SetGroupVersionKind(exportKind)
	theirs.SetNamespace(f.namespace)
	theirs.SetName("web")
	f.create(theirs)
	f.reconcile(f.exporting(), "web")
	if export := f.serviceExport(); len(export.GetOwnerReferences()) > 0 || len(export.GetLabels()) > 0 {
		t.Errorf("it is now %v", export)
	}
	d := &v1alpha.WorkloadDeployment{}
	f.get(d, "web")
	d.Spec.Service, d.Spec.ServiceGeneration = nil, 0
	f.update(d)
	f.reconcile(f.exporting(), "web")
	if f.serviceExport() == nil {
		t.Error("it is deleted")
	}
}

// counting is a mapper that counts the questions for the kinds of the cell.
type counting struct {
	meta.RESTMapper
	served, broken bool
	asked          int
}

func (c *counting) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if c.asked++; c.broken {
		return nil, testenv.ErrFault
	}
	if !c.served {
		return nil, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: versions}
	}
	return &meta.RESTMapping{}, nil
}

// TestWithoutServiceExports: a cell without the kind has none, and is asked for the kind now and then.
func TestWithoutServiceExports(t *testing.T) {
	f := newFixture(t)
	f.deployment(1, serving(1, 80))
	reconciler, mapper := f.services(), &counting{}
	reconciler.Exports = &services.Exports{Mapper: mapper, Clock: f.clock}
	for range 3 {
		f.reconcile(reconciler, "web")
	}
	if f.serviceExport() != nil || mapper.asked != 1 {
		t.Errorf("the cell is asked %d times, and has %v", mapper.asked, f.serviceExport())
	}
	// A question without an answer is asked again.
	mapper.served, mapper.broken = true, true
	f.clock.SetTime(f.clock.Now().Add(10 * time.Minute))
	f.reconcile(reconciler, "web")
	mapper.broken = false
	f.reconcile(reconciler, "web")
	if f.serviceExport() == nil || metav1.GetControllerOf(f.serviceExport()) != nil {
		t.Errorf("the ServiceExport is %v", f.serviceExport())
	}
}
