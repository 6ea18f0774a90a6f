// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// Catalogue are the instance types that there are.
type Catalogue struct {
	// Types by name.
	Types []v1alpha.InstanceType
	// Default is the type of Workloads that name none.
	Default string
	// Grace is how long after its deprecation a type may be named by new Workloads, and Now ends it. 0: without end.
	Grace time.Duration
	Now   time.Time
}

// InstanceType returns the problems and warnings about the instance type of a Workload. On an update, before is the
// stored Workload, and only the change is refused: a type that was deleted or disabled, or containers that do not fit a
// changed type, do not block other changes.
func InstanceType(workload, before *v1alpha.Workload, catalogue Catalogue) (field.ErrorList, []string) {
	runtime := &workload.Spec.Template.Spec.Runtime
	at := place{}.child("spec", "template", "spec", "runtime", "resources", "instanceType")
	named := runtime.Resources.InstanceType
	same := before != nil && sameType(workload, before)
	if named == "" {
		named = catalogue.Default
	}
	p := &problems{}
	kind := v1alpha.FindInstanceType(catalogue.Types, named)
	if kind == nil {
		if !same {
			p.unknownType(at, runtime.Resources.InstanceType, catalogue)
		}
		return p.list, nil
	}
	more := before == nil || asksMore(workload, before)
	if !same {
		p.graceEnded(at, named, kind, catalogue)
	}
	if !kind.IsUsable() && (!same || more) {
		p.add(at, named, field.Invalid(at.path, shown(named), "is disabled: "+instead(kind, catalogue)))
	}
	if before == nil || !reflect.DeepEqual(before.Spec.Template.Spec.Runtime, *runtime) {
		p.fits(place{}.child("spec", "template", "spec", "runtime"), runtime, kind)
	}
	if len(p.list) > 0 || same && !more {
		return p.list, nil
	}
	return nil, deprecation(at, named, kind, catalogue)
}

// deprecation warns of a deprecated type.
func deprecation(at place, named string, kind *v1alpha.InstanceType, catalogue Catalogue) []string {
	if kind.Spec.Lifecycle.Phase != v1alpha.InstanceTypeDeprecated {
		return nil
	}
	return []string{
		fmt.Sprintf("%s: instance type %q is deprecated%s: %s", at.path, shorten(named), until(kind, catalogue), instead(kind, catalogue)),
	}
}

// graceEnded refuses a deprecated type whose grace period has ended.
func (p *problems) graceEnded(at place, named string, kind *v1alpha.InstanceType, catalogue Catalogue) {
	if ends, ending := kind.GraceEnds(catalogue.Grace); ending && !catalogue.Now.Before(ends) {
		p.add(at, named, field.Invalid(at.path, shown(named), fmt.Sprintf("is deprecated since %s, and new Workloads could name it until %s: %s",
			date(kind.Status.DeprecatedAt.Time), date(ends), instead(kind, catalogue))))
	}
}

// until returns the end of the grace period of a deprecated type, if it has not ended.
func until(kind *v1alpha.InstanceType, catalogue Catalogue) string {
	if ends, ending := kind.GraceEnds(catalogue.Grace); ending && catalogue.Now.Before(ends) {
		return ", and new Workloads are refused it from " + date(ends)
	}
	return ""
}

// date is the day of a time, for messages.
func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// TakesType reports whether a change takes anything of an instance type: whether a Workload is new, begins to name the
// type, or asks for more Instances.
func TakesType(workload, before *v1alpha.Workload) bool {
	return before == nil || !sameType(workload, before) || asksMore(workload, before)
}

func sameType(a, b *v1alpha.Workload) bool {
	return v1alpha.InstanceTypeName(a.Spec.Template.Spec.Runtime.Resources.InstanceType) ==
		v1alpha.InstanceTypeName(b.Spec.Template.Spec.Runtime.Resources.InstanceType)
}

// asksMore reports whether a Workload asks for more Instances than before, at least or at most.
func asksMore(workload, before *v1alpha.Workload) bool {
	least := func(scale *v1alpha.HorizontalScaleSettings) int32 { return scale.MinReplicas }
	return asked(workload, least) > asked(before, least) ||
		asked(workload, (*v1alpha.HorizontalScaleSettings).MostReplicas) > asked(before, (*v1alpha.HorizontalScaleSettings).MostReplicas)
}

// asked is how many Instances a Workload asks for.
func asked(workload *v1alpha.Workload, replicas func(*v1alpha.HorizontalScaleSettings) int32) int {
	sum := 0
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		// A placement that selects locations has one city at least.
		running, _ := cities.Count(placement, nil, false)
		sum += max(1, running) * int(replicas(&placement.ScaleSettings))
	}
	return sum
}

func (p *problems) unknownType(at place, named string, catalogue Catalogue) {
	usable := v1alpha.UsableInstanceTypes(catalogue.Types)
	switch {
	case named != "":
		p.unsupported(at, named, usable...)
	case catalogue.Default == "":
		p.required(at, "the operator has set no default; "+choices(usable))
	default:
		p.required(at, fmt.Sprintf("the operator's default %q does not exist; %s", catalogue.Default, choices(usable)))
	}
}

func choices(usable []string) string {
	if len(usable) == 0 {
		return "there is no instance type"
	}
	return "name one of " + strings.Join(usable, ", ")
}

// instead returns the advice which type to use instead.
func instead(kind *v1alpha.InstanceType, catalogue Catalogue) string {
	if replacement := kind.Spec.Lifecycle.ReplacementInstanceType; replacement != "" {
		return "use " + v1alpha.InstanceTypeName(replacement)
	}
	others := slices.DeleteFunc(v1alpha.UsableInstanceTypes(catalogue.Types), func(name string) bool { return name == kind.Name })
	return choices(others)
}

// fits requires that the containers with resources of their own fit, together, into the Instance's request, else into
// its type.
func (p *problems) fits(at place, runtime *v1alpha.InstanceRuntimeSpec, kind *v1alpha.InstanceType) {
	if runtime.Sandbox == nil {
		return
	}
	available := maps.Clone(kind.Spec.Resources)
	maps.Copy(available, runtime.Resources.Requests)
	for _, name := range slices.Sorted(maps.Keys(available)) {
		sum, ok := taken(name, runtime.Sandbox)
		if size := available[name].DeepCopy(); ok && countable(size) && sum.Cmp(size) > 0 {
			source := "instance type " + kind.Name
			if _, requested := runtime.Resources.Requests[name]; requested {
				source = "spec.template.spec.runtime.resources.requests"
			}
			p.invalid(at.child("sandbox", "containers"), sum.String(), fmt.Sprintf("together%s must take at most %s of %s, as in %s",
				withInit(runtime.Sandbox), size.String(), name, source))
		}
	}
}

// withInit names the init containers, if there are any: they may be among the containers that take too much.
func withInit(sandbox *v1alpha.SandboxRuntime) string {
	if len(sandbox.InitContainers) == 0 {
		return ""
	}
	return " with sidecars, and each init container with the sidecars before it,"
}
