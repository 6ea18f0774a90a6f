// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package leaves changes the fields of a value one by one, so that a test finds a field that is accepted and lost.
package leaves

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// Fill sets every field below value, which is a pointer: each list and map has one element, each text is a short name of
// its own, and each number is at least 1.
func Fill(value any) {
	count := int64(0)
	next := func() int64 { count++; return count }
	randfill.NewWithSeed(1).NilChance(0).NumElements(1, 1).MaxDepth(100).Funcs(
		func(s *string, _ randfill.Continue) { *s = fmt.Sprintf("v%d", next()) },
		func(b *bool, _ randfill.Continue) { *b = true },
		func(n *int32, _ randfill.Continue) { *n = int32(next()) }, //nolint:gosec // a few hundred
		func(n *int64, _ randfill.Continue) { *n = next() },
		func(q *resource.Quantity, _ randfill.Continue) {
			*q = *resource.NewQuantity(next(), resource.DecimalSI)
		},
		func(p *intstr.IntOrString, _ randfill.Continue) { *p = intstr.FromInt32(int32(next())) }, //nolint:gosec // a few hundred
		func(at *metav1.Time, _ randfill.Continue) { *at = metav1.Unix(next(), 0) },
	).Fill(value)
}

// Each changes every field below value in turn, calls visit with the path of the field in JSON, such as
// volumes[].configMap.name, and changes the field back. value is a pointer that Fill has filled.
func Each(value any, visit func(path string)) {
	each(reflect.ValueOf(value).Elem(), "", visit)
}

// Without clears each field of the types of value's package in turn, wherever it is below value, as a schema does that lacks
// the field. It calls visit with the field, such as VolumeAttachment.subPath, and sets it again. value is a pointer that Fill
// has filled.
func Without(value any, visit func(field string)) {
	root := reflect.ValueOf(value).Elem()
	places := map[string][]reflect.Value{}
	collect(root, root.Type().PkgPath(), places)
	for _, field := range slices.Sorted(maps.Keys(places)) {
		var before []any
		for _, at := range places[field] {
			before = append(before, at.Interface())
			at.SetZero()
		}
		visit(field)
		for i, at := range places[field] {
			at.Set(reflect.ValueOf(before[i]))
		}
	}
}

// collect adds the places of each field of the types of a package.
func collect(value reflect.Value, pkg string, places map[string][]reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		collect(value.Elem(), pkg, places)
	case reflect.Slice:
		for i := range value.Len() {
			collect(value.Index(i), pkg, places)
		}
	case reflect.Struct:
		if value.Type().PkgPath() != pkg {
			return
		}
		for field, inner := range value.Fields() {
			if at := join(value.Type().Name(), &field); at != value.Type().Name() {
				places[at] = append(places[at], inner)
			}
			collect(inner, pkg, places)
		}
	default:
		// Texts and numbers have no fields, and no schema drops the entries of a map.
	}
}

func each(value reflect.Value, path string, visit func(path string)) {
	switch at := value.Addr().Interface().(type) {
	case *resource.Quantity:
		change(value, reflect.ValueOf(*resource.NewQuantity(at.Value()+1, at.Format)), path, visit)
		return
	case *intstr.IntOrString:
		change(value, reflect.ValueOf(intstr.FromInt32(at.IntVal+1)), path, visit)
		return
	case *metav1.ObjectMeta:
		// Its fields are the API server's, except for the ones that a table of metadata has.
		changed := *at.DeepCopy()
		changed.Name += "x"
		change(value, reflect.ValueOf(changed), path, visit)
		return
	case *metav1.Time:
		change(value, reflect.ValueOf(metav1.NewTime(at.Add(time.Second))), path, visit)
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		each(value.Elem(), path, visit)
	case reflect.Struct:
		for field, inner := range value.Fields() {
			each(inner, join(path, &field), visit)
		}
	case reflect.Slice:
		for i := range value.Len() {
			each(value.Index(i), path+"[]", visit)
		}
	case reflect.Map:
		eachOfMap(value, path, visit)
	case reflect.String:
		change(value, reflect.ValueOf(value.String()+"x").Convert(value.Type()), path, visit)
	case reflect.Bool:
		change(value, reflect.ValueOf(!value.Bool()).Convert(value.Type()), path, visit)
	default:
		change(value, reflect.ValueOf(value.Int()+1).Convert(value.Type()), path, visit)
	}
}

// eachOfMap changes the values of a map, which have no address of their own.
func eachOfMap(value reflect.Value, path string, visit func(path string)) {
	for _, key := range value.MapKeys() {
		before := value.MapIndex(key)
		item := reflect.New(before.Type()).Elem()
		item.Set(before)
		each(item, path+"[]", func(path string) {
			value.SetMapIndex(key, item)
			visit(path)
			value.SetMapIndex(key, before)
		})
	}
}

func change(value, to reflect.Value, path string, visit func(path string)) {
	before := reflect.New(value.Type()).Elem()
	before.Set(value)
	value.Set(to)
	visit(path)
	value.Set(before)
}

func join(path string, field *reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.TrimPrefix(strings.TrimSuffix(path+"."+name, "."), ".")
}

// Lost compares the fields that have no effect with a list of these fields, or of the structs that they are in, each with
// its reason. It returns the fields without an entry, and the entries without a field.
func Lost(without []string, reasons map[string]string) (unlisted, stale []string) {
	used := map[string]bool{}
	for _, path := range without {
		entry, found := "", false
		for listed := range reasons {
			if rest, under := strings.CutPrefix(path, listed); under && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				entry, found = listed, true
			}
		}
		if used[entry] = found || used[entry]; !found {
			unlisted = append(unlisted, path)
		}
	}
	for _, listed := range slices.Sorted(maps.Keys(reasons)) {
		if !used[listed] {
			stale = append(stale, listed)
		}
	}
	return unlisted, stale
}
