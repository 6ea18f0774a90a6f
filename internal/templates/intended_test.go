// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// sealedDeployment has a value in every field that the hub counts on.
func sealedDeployment(t *testing.T) *v1alpha.WorkloadDeployment {
	t.Helper()
	d := &v1alpha.WorkloadDeployment{}
	d.Spec = v1alpha.WorkloadDeploymentSpec{
		WorkloadRef: v1alpha.WorkloadReference{Name: "web", UID: "uid"}, CityCode: "DFW", MinReadySeconds: new(int32(3)),
		ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 2, MaxReplicas: new(int32(5))},
		Rollout:       &v1alpha.WorkloadRollout{MaxUnavailable: new(intstr.FromString("25%"))},
		Networks:      &v1alpha.WorkloadDeploymentNetworks{Ready: true}, Suspended: true, Slices: 2,
		Floor: &v1alpha.AvailabilityFloor{MinAvailable: 1, Sequence: 1 << 40},
		Assignment: &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{{
			Name: "dfw", Indices: []v1alpha.IndexRange{{First: 0, Last: 4}},
			LeavingSince: &metav1.MicroTime{Time: time.Date(2026, 1, 1, 12, 0, 0, 123456789, time.FixedZone("here", 3600))},
		}}},
		Partition: &v1alpha.WorkloadDeploymentPartition{Index: 3, Indices: []v1alpha.IndexRange{{First: 3, Last: 4}}},
		Service:   &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{{Port: 80, TargetPort: new(intstr.FromString("http"))}}},
	}
	intended, err := Intended(&d.Spec)
	if err != nil {
		t.Fatal(err)
	}
	d.Annotations = map[string]string{v1alpha.AnnotationIntended: intended}
	return d
}

// TestOverriddenFields: what arrives is compared by its meaning, and every field that differs is named.
func TestOverriddenFields(t *testing.T) {
	d := sealedDeployment(t)
	encoded, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	arrived := func() *v1alpha.WorkloadDeployment {
		d := &v1alpha.WorkloadDeployment{}
		if err := json.Unmarshal(encoded, d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	if got := OverriddenFields(arrived()); len(got) > 0 {
		t.Errorf("of what the hub has sent %v are refused", got)
	}
	for field, override := range map[string]func(*v1alpha.WorkloadDeploymentSpec){
		"":                  func(s *v1alpha.WorkloadDeploymentSpec) { s.Replicas = new(int32(1)) },
		"assignment":        func(s *v1alpha.WorkloadDeploymentSpec) { s.Assignment.Cells[0].Indices[0].Last = 5 },
		"cityCode":          func(s *v1alpha.WorkloadDeploymentSpec) { s.CityCode = "ORD" },
		"floor":             func(s *v1alpha.WorkloadDeploymentSpec) { s.Floor = nil },
		"minReadySeconds":   func(s *v1alpha.WorkloadDeploymentSpec) { s.MinReadySeconds = nil },
		"networks":          func(s *v1alpha.WorkloadDeploymentSpec) { s.Networks = nil },
		"partition.index":   func(s *v1alpha.WorkloadDeploymentSpec) { s.Partition.Index = 0 },
		"partition.indices": func(s *v1alpha.WorkloadDeploymentSpec) { s.Partition.Indices = nil },
		"placementName":     func(s *v1alpha.WorkloadDeploymentSpec) { s.PlacementName = "other" },
		"rollout":           func(s *v1alpha.WorkloadDeploymentSpec) { s.Rollout.MaxUnavailable = nil },
		"scaleSettings":     func(s *v1alpha.WorkloadDeploymentSpec) { s.ScaleSettings.MaxReplicas = new(int32(9)) },
		"service":           func(s *v1alpha.WorkloadDeploymentSpec) { s.Service.Ports[0].Port = 81 },
		"serviceGeneration": func(s *v1alpha.WorkloadDeploymentSpec) { s.ServiceGeneration++ },
		"slices":            func(s *v1alpha.WorkloadDeploymentSpec) { s.Slices = 0 },
		"surge":             func(s *v1alpha.WorkloadDeploymentSpec) { s.Surge = 1 },
		"suspended":         func(s *v1alpha.WorkloadDeploymentSpec) { s.Suspended = false },
		"workloadRef":       func(s *v1alpha.WorkloadDeploymentSpec) { s.WorkloadRef.UID = "other" },
	} {
		changed := arrived()
		override(&changed.Spec)
		if got := strings.Join(OverriddenFields(changed), ","); got != field {
			t.Errorf("of %q %q are refused", field, got)
		}
	}
	for name := range sealed {
		if !strings.Contains(d.Annotations[v1alpha.AnnotationIntended], name+"=") {
			t.Errorf("%s is not compared", name)
		}
	}
}

// TestEveryFieldIsSealed: a field of the spec that an override policy may change is named here.
func TestEveryFieldIsSealed(t *testing.T) {
	open := []string{"instanceTypeResources", "quota", "replicas", "template"}
	for field := range reflect.TypeFor[v1alpha.WorkloadDeploymentSpec]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "partition" {
			name = "partition.index"
		}
		if _, isSealed := sealed[name]; isSealed == slices.Contains(open, name) {
			t.Errorf("spec.%s is sealed: %t", name, isSealed)
		}
	}
}

// TestIntendedOfOthers: a cell of another version, and one that has an object of an earlier hub, refuse nothing.
func TestIntendedOfOthers(t *testing.T) {
	for name, annotation := range map[string]string{
		"none":           "",
		"another schema": strings.Replace(sealedDeployment(t).Annotations[v1alpha.AnnotationIntended], "schema=", "schema=x", 1),
		"no list":        "anything at all",
		"too long":       strings.Repeat("assignment=x,", 1000),
	} {
		d := sealedDeployment(t)
		d.Annotations[v1alpha.AnnotationIntended] = annotation
		d.Spec.Assignment = nil
		if got := OverriddenFields(d); len(got) > 0 {
			t.Errorf("with %s %v are refused", name, got)
		}
	}
}

// TestNameOf: the name of a template in a cell has a part for the template that the hub has sent and one for the template
// that runs. Instances that run it already are not replaced.
func TestNameOf(t *testing.T) {
	v := Version{Hash: "new"}
	for _, c := range []struct {
		sent     string
		existing []string
		want     string
	}{
		{"", nil, "new"},
		{"new", nil, "new"},
		{"other", nil, "other-new"},
		{"other", []string{"old", "other-old"}, "other-new"},
		{"other", []string{"new"}, "new"},
		{"other", []string{"before-new"}, "before-new"},
		{"new", []string{"before-new"}, "before-new"},
	} {
		existing := map[string]bool{}
		for _, hash := range c.existing {
			existing[hash] = true
		}
		if got := v.NameOf(c.sent, existing); got != c.want {
			t.Errorf("sent as %q beside %v it is %q, want %q", c.sent, c.existing, got, c.want)
		}
	}
	for hash, want := range map[string]string{"a-b": "a b true", "a": "a a false"} {
		if got := fmt.Sprintf("%s %s %t", Sent(hash), Content(hash), IsOverridden(hash)); got != want {
			t.Errorf("the parts of %s are %s, want %s", hash, got, want)
		}
	}
	if r := (&Refusal{Overridden: slices.Repeat([]string{"assignment"}, 1000)}).Message(); len(r) > v1alpha.MaxMessage {
		t.Errorf("the message has %d bytes", len(r))
	}
}
