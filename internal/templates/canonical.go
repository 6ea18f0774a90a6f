// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// mebi decides the notation of a quantity: multiples are written in the binary one, and all others in the decimal one.
// So the usual notations (64Mi, 2Gi, 500M, 250m) are canonical already.
const mebi = 1 << 20

// canonical returns a template in the one text that all templates have that are semantically equal to it, as
// equality.Semantic of apimachinery compares objects, by which internal/apply decides about writes. It reports whether
// the text may differ.
func canonical(template *v1alpha.InstanceTemplateSpec) (*v1alpha.InstanceTemplateSpec, bool) {
	result := template.DeepCopy()
	return result, normalize(reflect.ValueOf(result).Elem())
}

// normalize makes a value canonical and reports whether it has changed it: quantities of one value have one notation,
// and there are no empty lists and maps.
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
	return changed
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
