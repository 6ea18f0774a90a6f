// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// ofEarlier is the lowest index of the Instances of an earlier template.
const ofEarlier = 10

// reporting returns a copy whose template names data, with Instances whose condition has these statuses, by index.
func reporting(t *testing.T, statuses map[int]metav1.ConditionStatus) *v1alpha.WorkloadDeployment {
	t.Helper()
	copied := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	copied.Spec.Template.Spec = *spec()
	hash, err := templates.Hash(&copied.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	var instances []wire.Instance
	for index, status := range statuses {
		instance := wire.Instance{Name: naming.InstanceName("web", index), TemplateHash: hash}
		if index >= ofEarlier {
			instance.TemplateHash = "old"
		}
		if status != "" {
			instance.Conditions = []metav1.Condition{{Type: v1alpha.ConditionReferencedDataReady, Status: status, Message: instance.Name + " says"}}
		}
		instances = append(instances, instance)
	}
	planes.SetReport(t, copied, "dfw", instances...)
	return copied
}

func TestReportOf(t *testing.T) {
	tests := map[string]struct {
		statuses map[int]metav1.ConditionStatus
		want     report
	}{
		"nobody reports":            {nil, report{}},
		"one has it":                {map[int]metav1.ConditionStatus{0: "True"}, report{arrived: true}},
		"one lacks it":              {map[int]metav1.ConditionStatus{0: "True", 1: "False"}, report{arrived: true, missing: "web-1 says"}},
		"one has not said":          {map[int]metav1.ConditionStatus{0: ""}, report{}},
		"earlier templates are not": {map[int]metav1.ConditionStatus{ofEarlier: "True", ofEarlier + 1: "False"}, report{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := reportOf(reporting(t, test.statuses)); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
	if got := reportOf(nil); !reflect.DeepEqual(got, report{}) {
		t.Errorf("no copy: got %+v", got)
	}
}

func TestDesiredCondition(t *testing.T) {
	absent := func(name string) finding { return missing(templates.KindConfigMap, name, "default") }
	large := finding{reason: v1alpha.ReasonSourceTooLarge, message: "too large", bytes: maxObject + 1}
	tests := map[string]struct {
		findings   map[string]finding
		change     func(*deployment)
		wantReason string
		wantParts  []string
	}{
		"all there": {nil, nil, "Ready", []string{"is in the cell"}},
		"two missing, both named, in order": {
			map[string]finding{"b": absent("b"), "a": absent("a")},
			nil, "SourceNotFound",
			[]string{"ConfigMap a does not exist in namespace default of the project; create it; ConfigMap b does not"},
		},
		"the reason is the first of an order": {
			map[string]finding{"a": large, "b": absent("b")}, nil, "SourceNotFound", []string{"ConfigMap b", "too large"},
		},
		"an optional one may be missing": {
			map[string]finding{
				"a": absent("a"),
			}, func(d *deployment) { d.named[templates.DataObject{Kind: "ConfigMap", Name: "a"}] = false }, "Ready", nil,
		},
		"an optional one may not be too large": {
			map[string]finding{
				"a": large,
			}, func(d *deployment) { d.named[templates.DataObject{Kind: "ConfigMap", Name: "a"}] = false }, "SourceTooLarge", nil,
		},
		"together too large": {
			map[string]finding{"a": {bytes: maxTogether - 1}, "b": {bytes: 2}}, nil, "SourceTooLarge", []string{"1048577 bytes together"},
		},
		"not on the hub":            {nil, func(d *deployment) { d.copied = nil }, "AwaitingPropagation", []string{"has not reached the hub"}},
		"nowhere yet":               {nil, func(d *deployment) { d.hubNamespace = "" }, "Resolving", nil},
		"the cell has not reported": {nil, func(d *deployment) { d.copied.Status.Indices = nil }, "AwaitingPropagation", []string{"DFW"}},
		"the cell lacks some of these": {nil, func(d *deployment) {
			d.copied = reporting(t, map[int]metav1.ConditionStatus{0: "False"})
		}, "AwaitingPropagation", []string{"web-0 says"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := named("web", true, "a", "b")
			d.copied = reporting(t, map[int]metav1.ConditionStatus{0: "True"})
			objects := collect([]*deployment{d})
			for name, found := range test.findings {
				objects[configMap(name)].finding = found
			}
			if test.change != nil {
				test.change(d)
			}
			got := desiredCondition(d, objects)
			if got.Type != v1alpha.ConditionReferencedDataReady || got.Reason != test.wantReason ||
				(got.Status == metav1.ConditionTrue) != (got.Reason == "Ready") {
				t.Errorf("got %+v", got)
			}
			for _, part := range test.wantParts {
				if !strings.Contains(got.Message, part) {
					t.Errorf("%q is not in %q", part, got.Message)
				}
			}
		})
	}
}

func TestBounded(t *testing.T) {
	long := strings.Repeat("x", 400)
	if got := bounded([]string{"a", "b"}); got != "a; b" {
		t.Errorf("got %q", got)
	}
	got := bounded([]string{long, long, long, long})
	if len(got) > maxMessage+20 || !strings.HasSuffix(got, "; and 2 more") || strings.Count(got, long) != 2 {
		t.Errorf("got %d bytes: %q", len(got), got)
	}
}

func TestIsUnknown(t *testing.T) {
	d := named("web", true, "a", "b")
	objects := collect([]*deployment{d, named("other", true, "c")})
	objects[configMap("c")].unknown = true
	if d.isUnknown(objects) {
		t.Error("what others name does not count")
	}
	objects[configMap("b")].unknown = true
	if !d.isUnknown(objects) {
		t.Error("one that could not be read counts")
	}
}
