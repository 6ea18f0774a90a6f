// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

func TestPlace(t *testing.T) {
	cases := map[string]struct {
		placements  map[string]string
		cities      string
		existing    string
		want        string
		wantMissing map[string]string
	}{
		"a deployment per placement and city": {
			placements: map[string]string{"a": "DFW ORD", "b": "ORD"}, cities: "DFW ORD", want: "web-a-dfw web-a-ord web-b-ord",
		},
		"a city without binding gets none": {
			placements: map[string]string{"a": "DFW LHR"}, cities: "DFW", want: "web-a-dfw",
			wantMissing: map[string]string{"a": "the project may not use LHR now; it may use DFW"},
		},
		"case does not matter": {placements: map[string]string{"a": "dfw"}, cities: "DFW", want: "web-a-dfw"},
		"what exists stays when its binding is withdrawn": {
			placements: map[string]string{"a": "DFW"}, existing: "web-a-dfw", want: "web-a-dfw",
			wantMissing: map[string]string{"a": "the project may not use DFW now; it may use no city"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid"}}
			for _, placement := range slices.Sorted(maps.Keys(c.placements)) {
				workload.Spec.Placements = append(workload.Spec.Placements, v1alpha.WorkloadPlacement{
					Name: placement, CityCodes: strings.Fields(c.placements[placement]),
				})
			}
			existing := map[string]*v1alpha.WorkloadDeployment{}
			for name := range strings.FieldsSeq(c.existing) {
				existing[name] = placedDeployment(name)
			}
			got := place(&Facts{Workload: workload, Locations: simulated.Locations(c.cities), Deployments: existing})
			var names []string
			for _, i := range got.intents {
				names = append(names, i.name)
				if i.city != strings.ToUpper(i.city) {
					t.Errorf("city %q is not in upper case", i.city)
				}
			}
			if joined := strings.Join(names, " "); joined != c.want {
				t.Errorf("deployments %q, want %q", joined, c.want)
			}
			for placement, missing := range got.missing {
				if joined := strings.Join(missing, " "); joined != c.wantMissing[placement] {
					t.Errorf("missing in %s: %q, want %q", placement, joined, c.wantMissing[placement])
				}
			}
			if len(got.missing) != len(c.wantMissing) {
				t.Errorf("missing %v, want %v", got.missing, c.wantMissing)
			}
		})
	}
}

// placedDeployment is the deployment of placement a in DFW.
func placedDeployment(name string) *v1alpha.WorkloadDeployment {
	return &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha.WorkloadDeploymentSpec{WorkloadRef: v1alpha.WorkloadReference{UID: "uid"}, PlacementName: "a", CityCode: "DFW"},
	}
}

// TestObject: the Workload's settings of its Instances and their rollout are in each of its deployments.
func TestObject(t *testing.T) {
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid"}}
	i := &intent{placement: &v1alpha.WorkloadPlacement{Name: "main"}, city: "DFW", name: "web-main-dfw"}
	if got := i.object(workload).Spec; got.MinReadySeconds != nil || got.Rollout != nil {
		t.Errorf("got %+v", got)
	}
	workload.Spec.MinReadySeconds = new(int32(5))
	workload.Spec.Rollout = &v1alpha.WorkloadRollout{
		MaxUnavailable: new(intstr.FromString("50%")), Batch: new(intstr.FromInt32(2)), Paused: true,
	}
	got := i.object(workload).Spec
	if *got.MinReadySeconds != 5 || got.Rollout.MaxUnavailable.StrVal != "50%" || got.Rollout.Batch.IntVal != 2 || got.Rollout.Paused {
		t.Errorf("got %+v", got)
	}
	if *got.MinReadySeconds = 6; *workload.Spec.MinReadySeconds != 5 {
		t.Error("the Workload was changed")
	}
}

func TestDescribes(t *testing.T) {
	deployment := func(uid, placement, city string) *v1alpha.WorkloadDeployment {
		result := &v1alpha.WorkloadDeployment{}
		result.Spec.WorkloadRef.UID = "uid"
		result.Spec.PlacementName, result.Spec.CityCode = placement, city
		if uid != "" {
			result.Spec.WorkloadRef.UID = "other"
		}
		return result
	}
	cases := map[string]struct {
		existing *v1alpha.WorkloadDeployment
		want     bool
	}{
		"the same":                    {existing: deployment("", "a", "DFW"), want: true},
		"city in another case":        {existing: deployment("", "a", "dfw"), want: true},
		"another Workload's":          {existing: deployment("other", "a", "DFW")},
		"names that join to the same": {existing: deployment("", "a-x", "DFW")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{UID: "uid"}}
			if got := Describes(workload, "a", "DFW", c.existing); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}

func TestWithData(t *testing.T) {
	held := metav1.Condition{Type: v1alpha.ConditionAvailable, Reason: v1alpha.ReasonReferencedDataNotReady, Message: "0 of 1"}
	starting := metav1.Condition{Type: v1alpha.ConditionAvailable, Reason: v1alpha.ReasonInstancesProvisioning, Message: "0 of 1"}
	missing := metav1.Condition{Type: v1alpha.ConditionReferencedDataReady, Status: metav1.ConditionFalse, Message: "create it"}
	tests := map[string]struct {
		available metav1.Condition
		others    []metav1.Condition
		want      string
	}{
		"held by data":           {held, []metav1.Condition{missing}, "0 of 1; create it"},
		"held, not yet said why": {held, nil, "0 of 1"},
		"held by something else": {starting, []metav1.Condition{missing}, "0 of 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			deployment := &v1alpha.WorkloadDeployment{}
			deployment.Status.Conditions = test.others
			if got := withData(&test.available, deployment); got.Message != test.want {
				t.Errorf("got %q", got.Message)
			}
			if test.available.Message != "0 of 1" {
				t.Error("the deployment's own condition was changed")
			}
		})
	}
}
