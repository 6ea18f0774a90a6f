// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func kindOf(name string, phase v1alpha.InstanceTypePhase, replacement string) v1alpha.InstanceType {
	return v1alpha.InstanceType{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha.InstanceTypeSpec{
		Resources: resources("cpu", "1", "memory", "2Gi"),
		Lifecycle: v1alpha.InstanceTypeLifecycle{Phase: phase, ReplacementInstanceType: replacement},
	}}
}

// ofType is a Workload with a type, which asks for a number of Instances.
func ofType(name string, replicas int32, changes ...func(*v1alpha.Workload)) *v1alpha.Workload {
	w := sandbox()
	w.Spec.Template.Spec.Runtime.Resources.InstanceType = name
	w.Spec.Placements[0].ScaleSettings.MinReplicas = replicas
	for _, change := range changes {
		change(w)
	}
	return w
}

func TestInstanceType(t *testing.T) {
	types := []v1alpha.InstanceType{
		kindOf("datumcloud-d1-standard-2", v1alpha.InstanceTypeActive, ""),
		kindOf("new", "", ""),
		kindOf("old", v1alpha.InstanceTypeDeprecated, "datumcloud/new"),
		kindOf("off", v1alpha.InstanceTypeDisabled, ""),
		kindOf("ending", v1alpha.InstanceTypeDeprecated, "datumcloud/new"),
		kindOf("ended", v1alpha.InstanceTypeDeprecated, "datumcloud/new"),
	}
	now, grace := time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC), 60*24*time.Hour
	types[4].Status.DeprecatedAt = new(metav1.NewTime(now.Add(time.Second - grace)))
	types[5].Status.DeprecatedAt = new(metav1.NewTime(now.Add(-grace)))
	const path = specPath + "runtime.resources.instanceType"
	takes := func(limits ...string) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			container(w).Resources = &v1alpha.ContainerResourceRequirements{Limits: resources(limits...)}
		}
	}
	requesting := func(pairs ...string) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) { w.Spec.Template.Spec.Runtime.Resources.Requests = resources(pairs...) }
	}
	otherImage := func(w *v1alpha.Workload) { container(w).Image = "docker.io/library/other:1" }
	tests := map[string]struct {
		before, now *v1alpha.Workload
		byDefault   string
		none        bool
		noGrace     bool
		want        []string // of one problem
		wantWarning string
	}{
		"a type":             {now: ofType("datumcloud-d1-standard-2", 1)},
		"its other spelling": {now: ofType("datumcloud/d1-standard-2", 1)},
		"an unknown one":     {now: ofType("gone", 1), want: []string{path, `"gone"`, "datumcloud-d1-standard-2", "new", "old"}},
		"the default":        {now: ofType("", 1), byDefault: "datumcloud/d1-standard-2"},
		"a default that is not there": {
			now: ofType("", 1), byDefault: "gone", want: []string{path, `default "gone" does not exist`, "name one of"},
		},
		"no default":     {now: ofType("", 1), want: []string{path, "has set no default", "name one of"}},
		"no type at all": {now: ofType("", 1), byDefault: "new", none: true, want: []string{path, "there is no instance type"}},
		"a disabled one": {
			now: ofType("off", 1), want: []string{path, "is disabled", "name one of datumcloud-d1-standard-2, new, old"},
		},
		"a deprecated one":             {now: ofType("old", 1), wantWarning: "is deprecated: use datumcloud-new"},
		"a type that was deleted":      {before: ofType("gone", 2, otherImage), now: ofType("gone", 1)},
		"and asks for more":            {before: ofType("gone", 1), now: ofType("gone", 2)},
		"another type that is unknown": {before: ofType("new", 1), now: ofType("gone", 1), want: []string{path}},
		"a disabled one, with less":    {before: ofType("off", 2), now: ofType("off", 1)},
		"a disabled one, as many":      {before: ofType("off", 2, otherImage), now: ofType("off", 2)},
		"a disabled one, with more":    {before: ofType("off", 1), now: ofType("off", 2), want: []string{path, "is disabled"}},
		"from a type to a disabled":    {before: ofType("new", 1), now: ofType("off", 1), want: []string{path, "is disabled"}},
		"a deprecated one, as many":    {before: ofType("old", 2, otherImage), now: ofType("old", 2)},
		"a deprecated one, with more":  {before: ofType("old", 1), now: ofType("old", 2), wantWarning: "is deprecated"},
		"in the grace period": {
			now: ofType("ending", 1), wantWarning: "is deprecated, and new Workloads are refused it from 2026-03-02: use datumcloud-new",
		},
		"after the grace period": {
			now: ofType("ended", 1), want: []string{path, "is deprecated since 2026-01-01", "until 2026-03-02", "use datumcloud-new"},
		},
		"after it, from another type": {before: ofType("new", 1), now: ofType("ended", 1), want: []string{path, "is deprecated since"}},
		"after it, as many":           {before: ofType("ended", 2, otherImage), now: ofType("ended", 2)},
		"after it, with more":         {before: ofType("ended", 1), now: ofType("ended", 2), wantWarning: "is deprecated: use datumcloud-new"},
		"after it, without a grace":   {now: ofType("ended", 1), noGrace: true, wantWarning: "is deprecated: use datumcloud-new"},
		"containers that fit":         {now: ofType("new", 1, takes("cpu", "1", "memory", "2Gi"))},
		"containers that do not": {
			now:  ofType("new", 1, takes("memory", "2049Mi")),
			want: []string{sandboxPath + "containers", "2049Mi", "at most 2Gi of memory", "instance type new"},
		},
		"containers that fit what the Instance requests": {now: ofType("new", 1, takes("cpu", "3"), requesting("cpu", "3"))},
		"containers that do not fit that": {
			now: ofType("new", 1, takes("cpu", "1"), requesting("cpu", "500m")), want: []string{"at most 500m of cpu", "resources.requests"},
		},
		"a type that has become smaller": {before: ofType("new", 1, takes("cpu", "3")), now: ofType("new", 5, takes("cpu", "3"))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			catalogue := Catalogue{Types: types, Default: test.byDefault, Grace: grace, Now: now}
			if test.noGrace {
				catalogue.Grace = 0
			}
			if test.none {
				catalogue.Types = nil
			}
			problems, warnings := InstanceType(test.now, test.before, catalogue)
			if (len(problems) == 1) != (len(test.want) > 0) || len(problems) > 1 {
				t.Fatalf("problems %v", problems)
			}
			for _, want := range test.want {
				if !strings.Contains(problems[0].Error(), want) {
					t.Errorf("%v lacks %q", problems[0], want)
				}
			}
			if got := strings.Join(warnings, "; "); (got == "") != (test.wantWarning == "") || !strings.Contains(got, test.wantWarning) {
				t.Errorf("warnings %v", warnings)
			}
		})
	}
}
