// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// instanceTypes implements webhook.InstanceTypes, with cached and with current types.
type instanceTypes struct {
	known, fresh       []string
	knownErr, freshErr error
	unserved           bool
}

func typesOf(names []string) []v1alpha.InstanceType {
	var types []v1alpha.InstanceType
	for _, name := range names {
		types = append(types, v1alpha.InstanceType{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       v1alpha.InstanceTypeSpec{Resources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
		})
	}
	return types
}

func (i *instanceTypes) Types(context.Context) ([]v1alpha.InstanceType, bool, error) {
	return typesOf(i.known), !i.unserved, i.knownErr
}

func (i *instanceTypes) FreshTypes(context.Context) ([]v1alpha.InstanceType, bool, error) {
	return typesOf(i.fresh), true, i.freshErr
}

func (*instanceTypes) Default() string { return "" }

func (*instanceTypes) Grace() (time.Duration, time.Time) { return 0, time.Time{} }

// TestTypesAreLookedUp: only a fresh answer refuses a type, and a request that adds Instances of a type waits for a hub
// that does not answer.
func TestTypesAreLookedUp(t *testing.T) {
	const ours = "datumcloud-d1-standard-2"
	away := errors.New("the hub cannot be reached")
	tests := map[string]struct {
		types    instanceTypes
		wantCode int32
		wantText string
	}{
		"it is known":              {types: instanceTypes{known: []string{ours}, freshErr: away}},
		"it was made a moment ago": {types: instanceTypes{known: []string{"other"}, fresh: []string{ours}}},
		"it does not exist": {
			types: instanceTypes{known: []string{"other"}, fresh: []string{"other"}}, wantCode: 422, wantText: `supported values: "other"`,
		},
		"nothing is known, and no answer": {
			types: instanceTypes{knownErr: away, freshErr: away}, wantCode: 503, wantText: "instanceType could not be looked up, try again",
		},
		"it is not known, and no answer": {
			types: instanceTypes{known: []string{"other"}, freshErr: away}, wantCode: 503, wantText: "the hub cannot be reached",
		},
		"there are no types to check": {types: instanceTypes{unserved: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			handler := workloads(newProjects())
			handler.Types = &test.types
			response := handler.Handle(t.Context(), creation(t, workload("DFW")))
			if response.Allowed != (test.wantCode == 0) {
				t.Fatalf("allowed: %t, %+v", response.Allowed, response.Result)
			}
			if !response.Allowed && (response.Result.Code != test.wantCode || !strings.Contains(response.Result.Message, test.wantText)) {
				t.Errorf("result %+v", response.Result)
			}
		})
	}
}

// TestChangesWithoutTheHub: a change that adds no Instances of a type passes while the hub is unavailable.
func TestChangesWithoutTheHub(t *testing.T) {
	away := errors.New("the hub cannot be reached")
	scale := func(w *v1alpha.Workload) *v1alpha.HorizontalScaleSettings { return &w.Spec.Placements[0].ScaleSettings }
	stored := func() *v1alpha.Workload {
		return changed(workload("DFW"), func(w *v1alpha.Workload) { scale(w).MinReplicas = 3 })
	}
	tests := map[string]struct {
		change      func(*v1alpha.Workload)
		wantAllowed bool
	}{
		"another image": {func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "docker.io/library/nginx:1.28"
		}, true},
		"fewer Instances": {func(w *v1alpha.Workload) { scale(w).MinReplicas = 2 }, true},
		"another spelling": {func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Resources.InstanceType = "datumcloud-d1-standard-2"
		}, true},
		"more Instances": {func(w *v1alpha.Workload) { scale(w).MinReplicas = 4 }, false},
		"more Instances at most": {func(w *v1alpha.Workload) {
			scale(w).MaxReplicas = new(int32(4))
			scale(w).Metrics = []v1alpha.MetricSpec{
				{Resource: &v1alpha.ResourceMetricSource{Name: "cpu", Target: v1alpha.MetricTarget{AverageUtilization: new(int32(50))}}},
			}
		}, false},
		"another type": {func(w *v1alpha.Workload) { w.Spec.Template.Spec.Runtime.Resources.InstanceType = "other" }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			handler := workloads(newProjects())
			handler.Types = &instanceTypes{knownErr: away, freshErr: away}
			response := handler.Handle(t.Context(), update(t, stored(), changed(stored(), test.change)))
			if response.Allowed != test.wantAllowed || !response.Allowed && response.Result.Code != 503 {
				t.Errorf("allowed: %t, %+v", response.Allowed, response.Result)
			}
		})
	}
}
