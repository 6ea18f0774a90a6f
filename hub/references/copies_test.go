// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
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

func TestReportChanged(t *testing.T) {
	before := reporting(t, map[int]metav1.ConditionStatus{0: "False"})
	after := reporting(t, map[int]metav1.ConditionStatus{0: "True"})
	same := before.DeepCopy()
	same.Status.Replicas = 7
	if !passes(before, after) || passes(before, same) {
		t.Error("exactly what changes what is said of data counts")
	}
	after.Spec.Template = v1alpha.InstanceTemplateSpec{}
	before.Spec.Template = v1alpha.InstanceTemplateSpec{}
	if passes(before, after) {
		t.Error("a template that names nothing has no such report")
	}
}

func passes(before, after *v1alpha.WorkloadDeployment) bool {
	return reportChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
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
