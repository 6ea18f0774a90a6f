// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// MaxNamed is how many fields a message names.
const MaxNamed = 5

// WholeStatus is the fault of a status that is no object.
const WholeStatus = "status"

// Lists bounds the lists of a report. Entries beyond are not even read: so the time that a report takes is bounded.
// Karmada ends a script after a second.
type Lists struct {
	// Max is how many entries a list has, and Named how many a list with this name has instead.
	Max   int
	Named map[string]int
	// OfType is how many entries of one type all lists have together.
	OfType int
}

const (
	// unfit replaces a text of another type. It fits nothing, so that it is treated as any other text that does not fit.
	unfit = "\x7f"
	// unknown replaces a number that is always present. No index, position, count or generation is negative.
	unknown = -1
)

// Faults are the paths of the fields of a report that have a wrong type or range.
type Faults map[string]bool

// repairer repairs a report.
type repairer struct {
	lists  Lists
	faults Faults
	// left is how many more entries of a type there may be.
	left map[reflect.Type]int
}

// String names the fields.
func (f Faults) String() string {
	names := slices.Sorted(maps.Keys(f))
	if len(names) > MaxNamed {
		return strings.Join(names[:MaxNamed], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// Report decodes the status that a cell reports. It has the same result as lua/types.lua of the interpreter: a field of
// a wrong type or range costs this field and no other, and a list with an entry that is no object costs the list.
// Instead of a text there is one that fits nothing, and instead of a number that is never omitted a negative one.
func Report[T any](raw []byte, lists Lists) (T, Faults) {
	var tree any
	var status, none T
	r := repairer{lists: lists, faults: Faults{}, left: map[reflect.Type]int{}}
	err := json.Unmarshal(raw, &tree)
	repaired := r.object(reflect.TypeFor[T](), tree, "")
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(repaired, &status)
	}
	if err != nil {
		return none, Faults{WholeStatus: true}
	}
	return status, r.faults
}

// object returns a value as an object of a type, and an empty object instead of any other value. Lua does not tell an
// empty list from an empty object, nor null from a missing entry.
func (r *repairer) object(typ reflect.Type, value any, path string) map[string]any {
	switch value := value.(type) {
	case nil:
		return map[string]any{}
	case map[string]any:
		r.fields(typ, value, path)
		return value
	case []any:
		if len(present(value)) == 0 {
			return map[string]any{}
		}
	}
	if path == "" {
		path = WholeStatus
	}
	r.faults[path] = true
	return map[string]any{}
}

func (r *repairer) fields(typ reflect.Type, object map[string]any, path string) {
	for field := range typ.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous {
			r.fields(field.Type, object, path)
			continue
		}
		value, below := object[name], name
		if path != "" {
			below = path + "." + name
		}
		if value == nil {
			delete(object, name)
			continue
		}
		always := !strings.Contains(options, "omitempty")
		if repaired := r.value(field.Type, value, place{name: name, path: below, always: always}); repaired != nil {
			object[name] = repaired
		} else {
			delete(object, name)
		}
	}
}

// place is where a value is.
type place struct {
	name, path string
	// always reports that the field is never omitted.
	always bool
}

// value returns a value as a type has it, or nil for a field that is missing.
func (r *repairer) value(typ reflect.Type, value any, at place) any {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	fits, instead := false, any(nil)
	switch {
	case typ == reflect.TypeFor[metav1.Time]():
		text, isText := value.(string)
		_, err := time.Parse(time.RFC3339, text)
		fits = isText && err == nil
	case typ.Kind() == reflect.Struct:
		return r.object(typ, value, at.path)
	case typ.Kind() == reflect.Slice:
		return r.list(typ.Elem(), value, at)
	case typ.Kind() == reflect.String:
		_, fits = value.(string)
		instead = unfit
	case typ.Kind() == reflect.Bool:
		_, fits = value.(bool)
	default:
		value, fits = integer(value, typ.Kind())
		if at.always {
			instead = int64(unknown)
		}
	}
	if fits {
		return value
	}
	r.faults[at.path] = true
	return instead
}

// list returns the first entries of a list, or nil if one of them is no object.
func (r *repairer) list(typ reflect.Type, value any, at place) any {
	entries, isList := value.([]any)
	if object, isObject := value.(map[string]any); isObject {
		isList = !slices.ContainsFunc(slices.Collect(maps.Values(object)), func(member any) bool { return member != nil })
	}
	entries = r.take(present(entries), typ, at.name)
	if !isList || slices.ContainsFunc(entries, func(entry any) bool { return !isObject(entry) }) {
		r.faults[at.path] = true
		return nil
	}
	for i := range entries {
		entries[i] = r.object(typ, entries[i], at.path)
	}
	return entries
}

// take returns the first entries of a list.
func (r *repairer) take(entries []any, typ reflect.Type, name string) []any {
	limit, known := r.lists.Named[name]
	if !known {
		limit = r.lists.Max
	}
	left, known := r.left[typ]
	if !known {
		left = r.lists.OfType
	}
	entries = entries[:min(len(entries), limit, left)]
	r.left[typ] = left - len(entries)
	return entries
}

func isObject(value any) bool {
	list, isList := value.([]any)
	_, isMap := value.(map[string]any)
	return isMap || isList && len(present(list)) == 0
}

// present are the entries of a list that are not null.
func present(entries []any) []any {
	return slices.DeleteFunc(entries, func(entry any) bool { return entry == nil })
}

// integer returns an integer that a field can have. Integers from 2^53 on are not exact in Lua.
func integer(value any, kind reflect.Kind) (any, bool) {
	limit, number := float64(1<<53), math.NaN()
	if kind == reflect.Int32 {
		limit = 1 << 31
	}
	switch value := value.(type) {
	case int64:
		number = float64(value)
	case float64:
		number = value
	}
	if number != math.Floor(number) || number >= limit || number < -limit {
		return nil, false
	}
	return int64(number), true
}
