// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestErrorsSayNothingOfContent(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "database", errors.New("hidden"))
	got := withoutContent(fmt.Errorf("apply: %w", conflict))
	if strings.Contains(got.Error(), "hidden") || !strings.Contains(got.Error(), "409 Conflict") {
		t.Errorf("got %q", got)
	}
	// The kind of an error determines its handling.
	if !apierrors.IsConflict(got) {
		t.Error("it is no conflict any more")
	}
	if got := withoutContent(errors.New("connection refused")); got.Error() != "connection refused" {
		t.Errorf("got %q", got)
	}
	if withoutContent(nil) != nil {
		t.Error("no error has become one")
	}
}

// TestSameData: of a report counts only what it reports about data.
func TestSameData(t *testing.T) {
	of := func(facts v1alpha.CellIndices) *path.Report {
		r := &path.Report{}
		r.Indices = []v1alpha.CellIndices{facts}
		return r
	}
	before := v1alpha.CellIndices{TemplateHash: "one", DataReady: "0"}
	for name, test := range map[string]struct {
		before, after v1alpha.CellIndices
		want          bool
	}{
		"more Instances have it":      {before, v1alpha.CellIndices{TemplateHash: "one", DataReady: "0-1", Ready: "0"}, true},
		"no Instance has it any more": {before, v1alpha.CellIndices{TemplateHash: "one"}, false},
		"it is missing":               {before, v1alpha.CellIndices{TemplateHash: "one", DataReady: "0", DataMissing: "app"}, false},
		"another template":            {before, v1alpha.CellIndices{TemplateHash: "two", DataReady: "0"}, false},
		"nothing of data":             {v1alpha.CellIndices{TemplateHash: "one"}, v1alpha.CellIndices{TemplateHash: "two"}, true},
	} {
		if got := sameData(of(test.before), of(test.after)); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestConcernsData: most deployments name no data, and their events must not read all deployments of a namespace.
func TestConcernsData(t *testing.T) {
	naming, nothing, condition := &v1alpha.WorkloadDeployment{}, &v1alpha.WorkloadDeployment{}, &v1alpha.WorkloadDeployment{}
	naming.Spec.Template.Spec = *spec()
	condition.Status.Conditions = []metav1.Condition{{Type: v1alpha.ConditionReferencedDataReady}}
	filter := concernsData()
	for name, test := range map[string]struct {
		before, after *v1alpha.WorkloadDeployment
		want          bool
	}{
		"names nothing":              {nothing, nothing, false},
		"names data":                 {naming, naming, true},
		"begins to":                  {nothing, naming, true},
		"ceases to":                  {naming, nothing, true},
		"named some when not looked": {condition, condition, true},
	} {
		if got := filter.Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
			t.Errorf("%s: an update passes: %t", name, got)
		}
		if test.before != test.after {
			continue
		}
		if created, deleted := filter.Create(event.CreateEvent{Object: test.after}),
			filter.Delete(event.DeleteEvent{Object: test.after}); created != test.want || deleted != test.want {
			t.Errorf("%s: a creation passes: %t, a deletion: %t", name, created, deleted)
		}
	}
}

// TestHashesOfCopies: each copy has the hash of its content and the key of the hash, written with the content. A copy of an
// earlier version gets them once. Each object has a key of its own.
func TestHashesOfCopies(t *testing.T) {
	f := newFixture(t).engage(t)
	app := planes.Create(t, f.Planes, f.app())
	planes.Create(t, f.Planes, f.database())
	f.deploy(t, "web", templateNaming([]string{"app"}, []string{"database"}))
	f.settled(t)
	wantHashes := func() {
		t.Helper()
		keys := map[string]bool{"": true}
		for _, copied := range []client.Object{f.appOnHub(t), f.databaseOnHub(t)} {
			key := copied.GetAnnotations()[v1alpha.AnnotationDataKey]
			if got := copied.GetLabels()[v1alpha.LabelDataHash]; keys[key] || got != hashWith(key, copied) {
				t.Errorf("the copy of %s has hash %q and key %q", copied.GetName(), got, key)
			}
			keys[key] = true
		}
	}
	wantHashes()

	planes.Change(t, f.Planes, app, func(c *corev1.ConfigMap) { c.Data["colour"] = "red" })
	f.await(t, app)
	if writes := f.mustReconcile(t); len(writes) != 1 {
		t.Errorf("a change of the content writes %v", writes)
	}
	wantHashes()

	planes.Change(t, f.Planes, f.appOnHub(t), func(c *corev1.ConfigMap) { delete(c.Labels, v1alpha.LabelDataHash) })
	if writes := f.mustReconcile(t); len(writes) != 1 {
		t.Errorf("for a copy without a hash it writes %v", writes)
	}
	wantHashes()
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
}
