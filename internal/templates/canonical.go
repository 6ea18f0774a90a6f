// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/conversion"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// mebi decides the notation of a quantity: multiples are written in the binary one, and all others in the decimal one.
// So the usual notations (64Mi, 2Gi, 500M, 250m) are canonical already.
const mebi = 1 << 20

// copyable is a pointer to a value that can be copied.
type copyable[T any] interface {
	*T
	DeepCopy() *T
}

// canonical returns a copy of a value in the text that all values of its meaning have: with one notation of quantities and one
// spelling of instance types, and without empty lists, empty maps and defaults.
func canonical[T any, P copyable[T]](item P) P {
	result := P(item.DeepCopy())
	normalize(reflect.ValueOf(result).Elem())
	return result
}

// Equalities compares objects by their meaning: quantities by their values, templates and scale settings with defaults
// as without them. It is the one definition of equal, beside the hash of a template, which agrees with it.
var Equalities = equalities()

func equalities() conversion.Equalities {
	result := equality.Semantic.Copy()
	err := result.AddFuncs(
		func(a, b v1alpha.InstanceSpec) bool { return same(&a, &b) },
		func(a, b v1alpha.HorizontalScaleSettings) bool { return same(&a, &b) },
	)
	if err != nil {
		panic(err) // The functions have the form that AddFuncs wants.
	}
	return result
}

func same[T any, P copyable[T]](a, b P) bool {
	if equality.Semantic.DeepEqual(a, b) {
		return true
	}
	return equality.Semantic.DeepEqual(canonical[T](a), canonical[T](b))
}

// Keep leaves a deployment the text of the templates that it has, where the desired templates mean the same: a notation alone
// is not sent to the cells.
func Keep(existing, desired *v1alpha.WorkloadDeploymentSpec) {
	keep(&existing.Template, &desired.Template)
	if existing.Partition != nil && desired.Partition != nil {
		keep(&existing.Partition.Template, &desired.Partition.Template)
	}
}

func keep(existing, desired *v1alpha.InstanceTemplateSpec) {
	if Equalities.DeepEqual(*existing, *desired) {
		*desired = *existing.DeepCopy()
	}
}

// normalize makes a value canonical and reports whether it has changed it.
func normalize(value reflect.Value) (changed bool) {
	switch value.Kind() { //nolint:exhaustive // All others have one notation.
	case reflect.Pointer:
		return !value.IsNil() && normalize(value.Elem())
	case reflect.Struct:
		return normalizeStruct(value)
	case reflect.Slice:
		for i := range value.Len() {
			changed = normalize(value.Index(i)) || changed
		}
		return dropEmpty(value) || changed
	case reflect.Map:
		for _, key := range value.MapKeys() {
			item := reflect.New(value.Type().Elem()).Elem()
			item.Set(value.MapIndex(key))
			if normalize(item) {
				value.SetMapIndex(key, item)
				changed = true
			}
		}
		return dropEmpty(value) || changed
	}
	return changed
}

func normalizeStruct(value reflect.Value) (changed bool) {
	if quantity, ok := reflect.TypeAssert[*resource.Quantity](value.Addr()); ok {
		return renote(quantity)
	}
	for _, field := range value.Fields() {
		changed = field.CanSet() && normalize(field) || changed
	}
	if resources, ok := reflect.TypeAssert[*v1alpha.InstanceRuntimeResources](value.Addr()); ok {
		return respell(&resources.InstanceType) || changed
	}
	return normalizeDefaults(value.Addr().Interface()) || changed
}

// respell gives the name of an instance type its older spelling, with a slash. Both spellings name the same type.
func respell(instanceType *string) bool {
	before := *instanceType
	if name := v1alpha.InstanceTypeName(before); name != "" {
		*instanceType = strings.Replace(name, "-", "/", 1)
	}
	return *instanceType != before
}

// dropEmpty replaces an empty list or map by none.
func dropEmpty(value reflect.Value) bool {
	if value.IsNil() || value.Len() > 0 {
		return false
	}
	value.SetZero()
	return true
}

// renote gives a quantity the notation of its value.
func renote(quantity *resource.Quantity) bool {
	format := resource.DecimalSI
	if whole := quantity.Value(); whole != 0 && whole%mebi == 0 && quantity.CmpInt64(whole) == 0 {
		format = resource.BinarySI
	}
	if quantity.Format == format {
		return false
	}
	*quantity = *resource.NewDecimalQuantity(*quantity.AsDec(), format)
	return true
}
