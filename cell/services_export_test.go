// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/services"
	"github.com/karmada-compute/karmada-compute/testenv"
)

var exportKind = schema.GroupVersionKind{Group: "multicluster.x-k8s.io", Version: "v1alpha1", Kind: "ServiceExport"}

// exporting is the reconciler in a cell that serves the kind.
func (f *fixture) exporting(c ...client.Client) *services.Reconciler {
	reconciler := f.services(c...)
	reconciler.Exports = &services.Exports{Mapper: f.awaitExports(exportKind.Version), Clock: f.clock}
	return reconciler
}

// serviceExport is ServiceExport web; nil: it does not exist.
func (f *fixture) serviceExport() *unstructured.Unstructured {
	f.t.Helper()
	return f.serviceExportOf(exportKind.Version)
}

func (f *fixture) serviceExportOf(version string) *unstructured.Unstructured {
	f.t.Helper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(exportKind.GroupKind().WithVersion(version))
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

// serveExports lets the cell serve these versions of ServiceExport alone until the test ends, and returns a mapper that knows
// them. The version in which objects are stored stays.
func (f *fixture) serveExports(versions ...string) meta.RESTMapper {
	f.t.Helper()
	set := func(versions []string) error {
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
		key := client.ObjectKey{Name: "serviceexports.multicluster.x-k8s.io"}
		if err := f.direct.Get(context.Background(), key, crd); err != nil {
			return err
		}
		spec := crd.Object["spec"].(map[string]any)
		stored := spec["versions"].([]any)[0].(map[string]any)
		stored["served"] = slices.Contains(versions, stored["name"].(string))
		all := []any{stored}
		for _, version := range versions {
			if version != stored["name"] {
				served := runtime.DeepCopyJSON(stored)
				served["name"], served["served"], served["storage"] = version, true, false
				all = append(all, served)
			}
		}
		spec["versions"] = all
		return f.direct.Update(context.Background(), crd)
	}
	serve := func(versions ...string) meta.RESTMapper {
		if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return set(versions) }); err != nil {
			f.t.Fatal(err)
		}
		return f.awaitExports(versions...)
	}
	f.t.Cleanup(func() { serve(exportKind.Version) })
	return serve(versions...)
}

// awaitExports waits until the cell serves these versions of ServiceExport alone, and returns a mapper that knows them.
func (f *fixture) awaitExports(versions ...string) meta.RESTMapper {
	f.t.Helper()
	var mapper meta.RESTMapper
	if err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		config := testenv.Config(f.t)
		requests, err := rest.HTTPClientFor(config)
		if err != nil {
			return false, err
		}
		if mapper, err = apiutil.NewDynamicRESTMapper(config, requests); err != nil {
			return false, err
		}
		mappings, err := mapper.RESTMappings(exportKind.GroupKind())
		var served []string
		for _, mapping := range mappings {
			served = append(served, mapping.GroupVersionKind.Version)
		}
		slices.Sort(served)
		for _, version := range served {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(exportKind.GroupKind().WithVersion(version))
			err = cmp.Or(err, f.direct.List(context.Background(), list))
		}
		return err == nil && slices.Equal(served, versions), nil
	}); err != nil {
		f.t.Fatalf("the cell does not serve %v: %v", versions, err)
	}
	return mapper
}

// reconcileExport reconciles until the ServiceExport, in a version, has so many owners. A CustomResourceDefinition that has just
// changed may not be served for a moment, whose end the agent awaits.
func (f *fixture) reconcileExport(reconciler *services.Reconciler, version string, owners int) (export *unstructured.Unstructured) {
	f.t.Helper()
	if err := wait.PollUntilContextTimeout(f.t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		f.reconcile(reconciler, "web")
		export = f.serviceExportOf(version)
		return export != nil && len(export.GetOwnerReferences()) == owners, nil
	}); err != nil {
		f.t.Fatalf("in version %s the ServiceExport is %v", version, export)
	}
	return export
}

// TestServedVersionOfServiceExport: the agent uses the newest version that the cell serves, and follows the cell to it.
func TestServedVersionOfServiceExport(t *testing.T) {
	for name, test := range map[string]struct {
		served []string
		want   string
	}{
		"the newest alone": {[]string{"v1beta1"}, "v1beta1"},
		"a later one":      {[]string{"v1"}, "v1"},
		"both":             {[]string{"v1alpha1", "v1beta1"}, "v1beta1"},
		"the oldest":       {[]string{"v1alpha1"}, "v1alpha1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newLoneFixture(t)
			f.deployment(1, serving(1, 80))
			reconciler := f.services()
			reconciler.Exports = &services.Exports{Mapper: f.serveExports(test.served...), Clock: f.clock}
			if fields := f.reconcileExport(reconciler, test.want, 1).GetManagedFields(); fields[0].APIVersion != exportKind.Group+"/"+test.want {
				t.Errorf("it is written in version %s", fields[0].APIVersion)
			}
		})
	}
	t.Run("upgrades and a downgrade", func(t *testing.T) {
		f := newLoneFixture(t)
		f.deployment(1, serving(1, 80))
		reconciler := f.services()
		reconciler.Exports = &services.Exports{Mapper: f.serveExports("v1alpha1"), Clock: f.clock}
		f.reconcile(reconciler, "web")
		for i, version := range []string{"v1beta1", "v1", "v1alpha1"} {
			f.serveExports(version)
			f.deployment(1, called(fmt.Sprintf("web-%d", i)), serving(1, 80))
			f.reconcileExport(reconciler, version, 2+i)
		}
	})
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
	if known := gk != exportKind.GroupKind() || versions[0] == "" || versions[0] == exportKind.Version; !c.served || !known {
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
