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
	// What to do about an error is decided by its kind.
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
	before := reporting(t, map[string]metav1.ConditionStatus{"web-0": "False"})
	after := reporting(t, map[string]metav1.ConditionStatus{"web-0": "True"})
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
