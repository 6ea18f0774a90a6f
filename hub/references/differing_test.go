// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"strings"
	"testing"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestContentThatACellKeeps: a cell that keeps another content than it was sent is named with the object, unless an
// override policy has changed the content for it.
func TestContentThatACellKeeps(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.app())
	planes.Create(t, f.Planes, f.database())
	f.deploy(t, "web", templateNaming([]string{"app"}, []string{"database"}))
	f.settled(t)
	want := func(when string, status metav1.ConditionStatus, reason string, texts ...string) {
		t.Helper()
		f.mustReconcile(t)
		got := f.condition(t, "web")
		if got == nil || got.Status != status || got.Reason != reason {
			t.Fatalf("%s: %+v", when, got)
		}
		for _, text := range texts {
			if !strings.Contains(got.Message, text) {
				t.Errorf("%s: %s lacks %q", when, got.Message, text)
			}
		}
		if writes := f.mustReconcile(t); len(writes) > 0 {
			t.Errorf("%s: it does not settle: %v", when, writes)
		}
	}
	f.report(t, "web", metav1.ConditionTrue)
	want("with what was sent", metav1.ConditionTrue, v1alpha.ReasonReferencedDataPresent)
	f.reportData(t, "web", metav1.Condition{
		Status: metav1.ConditionTrue, Reason: v1alpha.ReasonReferencedDataDiffers,
		Message: templates.DifferingData([]templates.DataObject{
			{Kind: "ConfigMap", Name: "another"}, {Kind: "Secret", Name: "database"}, {Kind: "ConfigMap", Name: "app"},
		}),
	})
	want("with an earlier content", metav1.ConditionFalse, v1alpha.ReasonReferencedDataDiffers,
		"ConfigMap app in cell dfw; Secret database in cell dfw")

	for _, object := range []struct{ kind, name string }{{"Secret", "database"}, {"ConfigMap", "app"}} {
		planes.Create(t, f.Planes, &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
			Namespace:   planes.ExecutionSpace("dfw"),
			Name:        karmadanames.GenerateWorkName(object.kind, object.name, f.HubNamespace),
			Annotations: map[string]string{util.AppliedOverrides: `[{"policyName":"regional"}]`},
		}})
		if object.kind == "Secret" {
			want("with one override", metav1.ConditionFalse, v1alpha.ReasonReferencedDataDiffers, "ConfigMap app in cell dfw")
		}
	}
	want("with both overridden", metav1.ConditionTrue, v1alpha.ReasonReferencedDataPresent,
		"ConfigMap app in cell dfw by regional; Secret database in cell dfw by regional")
}

// TestContentThatACellKeepsIsAppliedAgain: Karmada applies the object again, with pauses: it does not by itself when nothing
// retains the content any more. A Work that a person has suspended stays so.
func TestContentThatACellKeepsIsAppliedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.database())
	f.deploy(t, "web", templateNaming(nil, []string{"database"}))
	f.settled(t)
	f.reportData(t, "web", metav1.Condition{
		Status: metav1.ConditionTrue, Reason: v1alpha.ReasonReferencedDataDiffers,
		Message: templates.DifferingData([]templates.DataObject{{Kind: "Secret", Name: "database"}}),
	})
	work := planes.Create(t, f.Planes, &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace("dfw"), Name: karmadanames.GenerateWorkName("Secret", "database", f.HubNamespace),
		Annotations: map[string]string{workv1alpha2.ResourceBindingNamespaceAnnotationKey: f.HubNamespace},
	}})
	want := func(when string, generation int64) {
		t.Helper()
		result, err := f.reconcile(t)
		if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
			t.Errorf("%s: %+v, %v", when, result, err)
		}
		if err := f.Client.Get(t.Context(), client.ObjectKeyFromObject(work), work); err != nil || work.Generation != generation {
			t.Errorf("%s: the Work has generation %d and not %d: %v", when, work.Generation, generation, err)
		}
	}
	want("when it is reported", 2)
	want("at once", 2)
	f.clock.SetTime(f.clock.Now().Add(20 * time.Second))
	want("after a pause", 3)
	work.Spec.SuspendDispatching = new(true)
	if err := f.Client.Update(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	want("suspended", 4)
	if !*work.Spec.SuspendDispatching {
		t.Error("it is not suspended any more")
	}
}

// TestKeyOfAHash: a cell can compare a Secret with its hash.
func TestKeyOfAHash(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.database())
	f.deploy(t, "web", templateNaming(nil, []string{"database"}))
	f.settled(t)
	copied := f.databaseOnHub(t)
	key := copied.Annotations[v1alpha.AnnotationDataKey]
	if hash := templates.HashData(key, nil, copied.Data); key == "" || hash != copied.Labels[v1alpha.LabelDataHash] {
		t.Errorf("the hash is %s, and the copy has %v and %v", hash, copied.Labels, copied.Annotations)
	}
}
