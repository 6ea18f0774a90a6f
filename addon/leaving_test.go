// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// release lets an object go that a finalizer holds.
func (s *site) release(object client.Object) {
	s.t.Helper()
	err := s.Patch(s.t.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	if client.IgnoreNotFound(err) != nil {
		s.t.Error(err)
	}
}

// heldWorkload creates a Workload with the finalizer of the replicas, which do not run.
func (s *site) heldWorkload() *unstructured.Unstructured {
	s.t.Helper()
	workload := workloadIn(s.namespace)
	workload.SetFinalizers([]string{v1alpha.FinalizerWorkload})
	if err := s.Create(s.t.Context(), workload); err != nil {
		s.t.Fatal(err)
	}
	return workload
}

// withoutMilo enables the add-on without Milo.
func (s *site) withoutMilo() *options {
	s.t.Helper()
	o := s.options()
	o.miloKubeconfig = ""
	if err := s.enable(s.t.Context(), o, nested([]string{"projects", "mode"}, modeNamespaces)); err != nil {
		s.t.Fatalf("%v\n%s", err, s.out.String())
	}
	return o
}

// finish ends what a test has begun.
func (s *site) finish(o *options) {
	s.t.Helper()
	o.workloads = workloadsRefuse
	if err := s.disable(s.t.Context(), o); err != nil {
		s.t.Error(err)
	}
	if left := s.registered(); len(left) > 0 {
		s.t.Errorf("left: %v", left)
	}
}

// registered are the registrations of the add-on that exist.
func (s *site) registered() []string {
	s.t.Helper()
	var found []string
	for _, r := range slices.Concat(admission, interpreters) {
		object := r.object()
		if s.Get(s.t.Context(), client.ObjectKey{Name: r.Name}, object) == nil {
			found = append(found, describe(object))
		}
	}
	return found
}

// TestWorkloadsDeletedAfterKeep: no replica runs after --compute-workloads=keep, so that a Workload that is deleted keeps its
// finalizer. The command reports it, then and in each later run, and waits for nothing. Workloads without a finalizer are deleted.
func TestWorkloadsDeletedAfterKeep(t *testing.T) {
	s := newSite(t)
	o := s.withoutMilo()
	workload := s.heldWorkload()
	o.workloads = workloadsKeep
	if err := s.disable(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if said := s.out.String(); !strings.Contains(said, "keeps its finalizers until karmada-compute is enabled again") {
		t.Errorf("it has said nothing about finalizers:\n%s", said)
	}
	if err := s.Delete(t.Context(), workload); err != nil {
		t.Fatal(err)
	}
	for _, o.workloads = range []string{workloadsRefuse, workloadsDelete} {
		begin := time.Now()
		err := s.disable(t.Context(), o)
		for _, text := range []string{s.namespace + "/web", v1alpha.FinalizerWorkload, "enable karmada-compute again"} {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: the error does not name %q: %v", o.workloads, text, err)
			}
		}
		if took := time.Since(begin); took > o.karmada.timeout/2 {
			t.Errorf("%s: it has waited %s", o.workloads, took)
		}
	}
	if s.inventory() == nil {
		t.Error("what enable has created is forgotten")
	}
	s.release(workload)
	free := workloadIn(s.namespace)
	if err := s.Create(t.Context(), free); err != nil {
		t.Fatal(err)
	}
	o.workloads = workloadsDelete
	if err := s.disable(t.Context(), o); err != nil {
		t.Errorf("with a Workload that nothing holds: %v", err)
	}
}

// creating creates an object when a Deployment is deleted.
type creating struct {
	*site
	next   http.RoundTripper
	object *unstructured.Unstructured
}

// RoundTrip implements http.RoundTripper.
func (c creating) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodDelete && strings.Contains(request.URL.Path, "/deployments/") {
		if err := client.IgnoreAlreadyExists(c.Create(request.Context(), c.object.DeepCopy())); err != nil {
			return nil, err
		}
	}
	return c.next.RoundTrip(request)
}

// TestWorkloadsCreatedMeanwhile: a Workload that the replicas have begun with after the command's check is not forgotten: the
// command ends when the replicas have stopped, and enable continues.
func TestWorkloadsCreatedMeanwhile(t *testing.T) {
	s := newSite(t)
	for _, variant := range []string{workloadsRefuse, workloadsDelete} {
		o := s.withoutMilo()
		o.workloads = variant
		workload := workloadIn(s.namespace)
		workload.SetFinalizers([]string{v1alpha.FinalizerWorkload})
		run, err := o.connect()
		if err != nil {
			t.Fatal(err)
		}
		config := rest.CopyConfig(run.host.config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return creating{s, next, workload} })
		if run.host, err = planeOf("the host", config); err != nil {
			t.Fatal(err)
		}
		run.out = io.Discard
		if err := s.run(t.Context(), run); err == nil || !errors.Is(err, errStopped) {
			t.Errorf("%s: it ends with %v", variant, err)
		}
		known := s.inventory()
		if known == nil {
			t.Errorf("%s: what enable has created is forgotten", variant)
		}
		s.withoutMilo()
		if missing := missingOf(s, known); len(missing) > 0 || len(s.registered()) != 2 {
			t.Errorf("%s: enable has not created %v; registered are %v", variant, missing, s.registered())
		}
		if err := s.Delete(t.Context(), workload); err != nil {
			t.Fatal(err)
		}
		s.release(workload) // as the replicas do
		s.finish(o)
	}
}

// work is a Work that Karmada does not delete from its cell.
func (s *site) work(cell string, labels, annotations map[string]string) *unstructured.Unstructured {
	s.t.Helper()
	work := reference{"work.karmada.io/v1alpha1", "Work", executionSpace + cell, "held"}.object()
	work.SetLabels(labels)
	work.SetAnnotations(annotations)
	work.SetFinalizers([]string{"karmada.io/execution-controller"})
	work.Object["spec"] = map[string]any{"workload": map[string]any{"manifests": []any{}}}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: work.GetNamespace()}}
	if err := client.IgnoreAlreadyExists(s.Create(s.t.Context(), space)); err != nil {
		s.t.Fatal(err)
	}
	if err := s.Create(s.t.Context(), work); err != nil {
		s.t.Fatal(err)
	}
	return work
}

// TestCellsThatAreOff: the command waits for all cells together, names each Work that stays, and ends.
func TestCellsThatAreOff(t *testing.T) {
	s := newSite(t)
	o := s.withoutMilo()
	o.karmada.timeout = 2 * time.Second
	var held []*unstructured.Unstructured
	for _, cell := range []string{"off-1", "off-2", "off-3"} {
		held = append(held, s.work(cell, map[string]string{v1alpha.LabelInventory: "true"}, nil))
	}
	begin := time.Now()
	if err := s.disable(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 3*o.karmada.timeout {
		t.Errorf("it has waited %s", took)
	}
	for _, work := range held {
		if !strings.Contains(s.out.String(), "Work "+work.GetNamespace()+"/held stays on the hub") {
			t.Errorf("it does not name %s:\n%s", work.GetNamespace(), s.out.String())
		}
		s.release(work)
	}
	if s.inventory() != nil {
		t.Error("it has not ended")
	}
}

// TestDeletionThatACellHolds: with --compute-workloads=delete, a cell that is off holds a Workload. The command names both.
func TestDeletionThatACellHolds(t *testing.T) {
	s := newSite(t)
	o := s.withoutMilo()
	workload := s.heldWorkload()
	const hubNamespaceOfProject = "ns-00000000-0000-0000-0000-000000000000"
	held := s.work("off", nil, map[string]string{bindingNamespace: hubNamespaceOfProject})
	if err := s.Delete(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	o.workloads, o.karmada.timeout = workloadsDelete, 2*time.Second
	err := s.disable(t.Context(), o)
	for _, text := range []string{s.namespace + "/web", "cells off", "leaving.md"} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("the error does not name %q: %v", text, err)
		}
	}
	s.release(workload)
	s.release(held)
	o.karmada.timeout = time.Minute
	s.finish(o)
}

// TestEnableAfterADisableThatWasInterrupted: wherever disable has ended, enable creates again what is missing, and the next
// disable leaves nothing.
func TestEnableAfterADisableThatWasInterrupted(t *testing.T) {
	for name, withMilo := range map[string]bool{"with Milo": true, "without Milo": false} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			o, values := s.options(), map[string]any{}
			if !withMilo {
				o.miloKubeconfig, values = "", nested([]string{"projects", "mode"}, modeNamespaces)
			}
			if err := s.enable(t.Context(), o, values); err != nil {
				t.Fatalf("%v\n%s", err, s.out.String())
			}
			known := s.inventory()
			shared, connected := s.cutPlanes(o)
			for left := 3; ; left += 29 {
				if err := s.disableCutAt(shared, connected, left); shared.last == "" {
					if err != nil {
						t.Fatal(err)
					}
					break
				}
				if err := s.enable(t.Context(), o, values); err != nil {
					t.Fatalf("enable after %s: %v", shared.last, err)
				}
				if missing := missingOf(s, known); len(missing) > 0 || len(s.registered()) != 2 {
					t.Fatalf("after %s, enable has not created %v; registered are %v", shared.last, missing, s.registered())
				}
			}
			if left := append(s.left(known), s.registered()...); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// missingOf are the objects of an inventory that do not exist.
func missingOf(s *site, known inventory) []string {
	found := s.left(known)
	var missing []string
	for plane, entries := range known {
		for _, e := range entries {
			object := describe(e.object()) + " at " + plane
			if !e.Adopted && !slices.Contains(found, object) {
				missing = append(missing, object)
			}
		}
	}
	return missing
}
