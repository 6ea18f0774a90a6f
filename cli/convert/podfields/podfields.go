// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podfields has the treatment of each field of Kubernetes' workloads and Pods in a Workload: it is honoured as
// a field of the Workload, every cell sets it, or it is refused.
package podfields

import (
	"fmt"
	"reflect"
	"strings"
)

// Entry is the treatment of a field.
type Entry struct {
	// Path is the field of a Workload that corresponds to it, from the root of the Workload; "" if no field does.
	Path string
	// Text is the reason why a field is refused, the value that every cell has instead, or the difference if the field is
	// honoured.
	Text string
	// Same are the values that every cell has anyway, so that nothing is lost. A nil list stands for none.
	Same []any
	// Harmless reports that no running Instance depends on the field, or that a conversion judges its value itself.
	Harmless bool
}

// Honoured reports whether a Workload has the field.
func (e *Entry) Honoured() bool { return e.Path != "" }

// Table is the treatment of the fields of one type, by their names in JSON.
type Table struct {
	// Type of Kubernetes.
	Type reflect.Type
	// Fields by name.
	Fields map[string]Entry
}

// Field is a field of a Kubernetes type.
type Field struct {
	// Name in JSON.
	Name string
	// Index for reflect.Value.FieldByIndex.
	Index []int
	// Type of the field.
	Type reflect.Type
}

// FieldsOf returns the fields of a type in their order, including the fields of embedded types.
func FieldsOf(typ reflect.Type) []Field {
	var fields []Field
	for field := range typ.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && options == "inline" {
			for _, inner := range FieldsOf(field.Type) {
				inner.Index = append([]int{field.Index[0]}, inner.Index...)
				fields = append(fields, inner)
			}
			continue
		}
		if name != "" && name != "-" {
			fields = append(fields, Field{Name: name, Index: field.Index, Type: field.Type})
		}
	}
	return fields
}

// Loss is a field that a Workload does not have.
type Loss struct {
	// Path of the field.
	Path string
	// Why it is refused.
	Why string
}

// Losses are the fields of a value that a Workload does not have, in their order. path is the path of the value.
func Losses(value any, path string) []Loss {
	return losses(reflect.ValueOf(value), path)
}

func losses(value reflect.Value, path string) []Loss {
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() {
			return nil
		}
		return losses(value.Elem(), path)
	case reflect.Slice:
		var found []Loss
		for i := range value.Len() {
			found = append(found, losses(value.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
		}
		return found
	case reflect.Struct:
		return lossesOfStruct(value, path)
	default:
		return nil
	}
}

func lossesOfStruct(value reflect.Value, path string) []Loss {
	table := Of(value.Type())
	if table == nil {
		// A type that Workloads use unchanged.
		return nil
	}
	var found []Loss
	for _, field := range FieldsOf(value.Type()) {
		at := value.FieldByIndex(field.Index)
		if at.IsZero() {
			continue
		}
		entry := table.Fields[field.Name]
		switch {
		case entry.Harmless || entry.hasSame(at) || !entry.Honoured() && isEmpty(at):
		case entry.Honoured():
			found = append(found, losses(at, join(path, field.Name))...)
		default:
			found = append(found, Loss{Path: join(path, field.Name), Why: entry.Text})
		}
	}
	return found
}

// isEmpty reports whether a value asks for nothing: charts render empty lists and structs for fields without a value.
func isEmpty(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Pointer:
		// A number or a flag that is zero may ask for something.
		kind := value.Type().Elem().Kind()
		return value.IsNil() || (kind == reflect.Struct || kind == reflect.String) && isEmpty(value.Elem())
	case reflect.Slice, reflect.Map:
		return value.Len() == 0
	case reflect.Struct:
		for _, field := range value.Fields() {
			if !isEmpty(field) {
				return false
			}
		}
		return true
	default:
		return value.IsZero()
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// hasSame reports whether every cell has this value anyway.
func (e *Entry) hasSame(value reflect.Value) bool {
	if value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	for _, same := range e.Same {
		if reflect.DeepEqual(value.Interface(), same) {
			return true
		}
	}
	return false
}

// Of is the table of a type; nil for a type that Workloads use unchanged.
func Of(typ reflect.Type) *Table {
	for i := range Tables {
		if Tables[i].Type == typ {
			return &Tables[i]
		}
	}
	return nil
}
