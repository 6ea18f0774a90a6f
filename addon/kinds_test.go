// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patching is a transport that records the paths of patches.
type patching struct {
	next   http.RoundTripper
	mu     *sync.Mutex
	record *[]string
}

// RoundTrip implements http.RoundTripper.
func (p patching) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPatch {
		p.mu.Lock()
		*p.record = append(*p.record, request.URL.Path)
		p.mu.Unlock()
	}
	return p.next.RoundTrip(request)
}

// countPatches returns the paths of the patches that a run sends.
func (s *site) countPatches(t *testing.T, do func(*session) error) (paths []string) {
	t.Helper()
	run, err := s.options().connect()
	if err != nil {
		t.Fatal(err)
	}
	mu := &sync.Mutex{}
	for _, at := range []**plane{&run.host, &run.hub, &run.milo} {
		config := rest.CopyConfig((*at).config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return patching{next, mu, &paths} })
		if *at, err = planeOf((*at).name, config); err != nil {
			t.Fatal(err)
		}
	}
	if err := do(run); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	return paths
}

// TestKindsThatAreAppliedAreLeft: a kind that is stored as it was applied is not applied again, whatever labels others give it. A
// kind that others have changed, and one that is rendered with more or less than before, is.
func TestKindsThatAreAppliedAreLeft(t *testing.T) {
	s := newSite(t)
	crd := anything("things", "Thing", "example.com", "v1")
	rendered := reference{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", crd.Name}.object()
	var err error
	if rendered.Object["spec"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(&crd.Spec); err != nil {
		t.Fatal(err)
	}
	// Without what the API server defaults.
	unstructured.RemoveNestedField(rendered.Object, "spec", "names", "listKind")
	t.Cleanup(func() {
		// The context of the test has ended.
		if err := s.Delete(context.WithoutCancel(t.Context()), crd); err != nil {
			t.Error(err)
		}
	})
	other := func(patch string) {
		t.Helper()
		if err := s.Patch(t.Context(), rendered.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name   string
		before func()
		// applied reports whether the kind must be applied.
		applied bool
		labels  map[string]string
		short   []string
	}{
		{name: "not stored", applied: true},
		{name: "stored"},
		{
			name: "labelled by others", labels: map[string]string{"a": "b"},
			before: func() { other(`{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}}`) },
		},
		{
			name: "with a label and a short name", applied: true, labels: map[string]string{"a": "b", "more": "x"}, short: []string{"th"},
			before: func() {
				rendered.SetLabels(map[string]string{"more": "x"})
				_ = unstructured.SetNestedStringSlice(rendered.Object, []string{"th"}, "spec", "names", "shortNames")
			},
		},
		{name: "stored again", labels: map[string]string{"a": "b", "more": "x"}, short: []string{"th"}},
		{
			name: "with another short name by others", applied: true, labels: map[string]string{"a": "b", "more": "x"}, short: []string{"th"},
			before: func() { other(`{"spec":{"names":{"shortNames":["other"]}}}`) },
		},
		{
			name: "with another value of the label by others", applied: true,
			labels: map[string]string{"a": "b", "more": "x"}, short: []string{"th"},
			before: func() { other(`{"metadata":{"labels":{"more":"y"}}}`) },
		},
		{
			name: "without the label", applied: true, labels: map[string]string{"a": "b"}, short: []string{"th"},
			before: func() { rendered.SetLabels(nil) },
		},
		{
			name: "without the short name", applied: true, labels: map[string]string{"a": "b"},
			before: func() { unstructured.RemoveNestedField(rendered.Object, "spec", "names", "shortNames") },
		},
		{name: "stored without them", labels: map[string]string{"a": "b"}},
	} {
		if test.before != nil {
			test.before()
		}
		patched := s.countPatches(t, func(run *session) error { return run.applyWithin(t.Context(), onHub, rendered, time.Minute) })
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
			t.Fatal(err)
		}
		if len(patched) == 1 != test.applied || !maps.Equal(crd.Labels, test.labels) || !slices.Equal(crd.Spec.Names.ShortNames, test.short) {
			t.Errorf("%s: applied %d times, labels %v, short names %v", test.name, len(patched), crd.Labels, crd.Spec.Names.ShortNames)
		}
	}
}
