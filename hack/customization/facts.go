// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// constants returns Lua with names and limits of the Go packages.
func constants() string {
	var out strings.Builder
	for _, constant := range []struct {
		name  string
		value any
	}{
		{"condition_available", v1alpha.ConditionAvailable},
		{"condition_progressing", v1alpha.ConditionProgressing},
		{"condition_report_valid", v1alpha.ConditionReportValid},
		{"reason_report_fields_ignored", v1alpha.ReasonReportFieldsIgnored},
		{"max_quantity_length", wire.MaxQuantityLength},
		{"max_quantity_exponent", wire.MaxQuantityExponent},
		{"slice_api_version", v1alpha.GroupVersion.String()},
		{"slice_kind", v1alpha.KindInstanceSlice},
		{"deployment_uid_label", v1alpha.LabelDeploymentUID},
		{"max_instances", wire.MaxInstances},
		{"max_index", wire.MaxIndex},
		{"max_of_type", wire.MaxOfType},
		{"max_named", wire.MaxNamed},
		{"max_word", wire.MaxWord},
		{"max_message", v1alpha.MaxMessage},
		{"template_generation_annotation", workv1alpha2.ResourceTemplateGenerationAnnotationKey},
	} {
		fmt.Fprintf(&out, "local %s = %#v\n\n", constant.name, constant.value)
	}
	var entries []string
	for _, list := range slices.Sorted(maps.Keys(wire.MaxLists)) {
		entries = append(entries, fmt.Sprintf("%s = %d", list, wire.MaxLists[list]))
	}
	fmt.Fprintf(&out, "local max_entries = {%s}\n\n", strings.Join(entries, ", "))
	var urgencies []string
	for at, cause := range reasons.Causes() {
		urgencies = append(urgencies, fmt.Sprintf("%s = %d", cause, at))
	}
	fmt.Fprintf(&out, "local cause_urgencies = {%s}\n\n", strings.Join(urgencies, ", "))
	for _, text := range []struct {
		name  string
		value wire.Text
	}{
		{"hash_text", wire.HashText},
		{"gate_text", wire.GateText},
		{"address_text", wire.AddressText},
		{"since_text", wire.SinceText},
		{"name_text", wire.NameText},
		{"image_text", wire.ImageText},
		{"indices_text", wire.IndicesText},
		{"addresses_text", wire.AddressesText},
	} {
		// A pattern that finds a character that the text may not contain.
		others := strings.Join(strings.Split(text.value.Other, ""), "%")
		fmt.Fprintf(&out, "local %s = {%d, %q}\n\n", text.name, text.value.Max, "[^%w%"+others+"]")
	}
	return out.String()
}

// statusTypes returns Lua with the types of a status, for lua/types.lua.
func statusTypes() string {
	types := luaTypes{written: map[string]reflect.Type{}}
	types.write(reflect.TypeFor[v1alpha.WorkloadDeploymentStatus]())
	types.write(reflect.TypeFor[wire.ReflectedStatus]())
	return types.out.String()
}

// luaTypes writes each type once, after the types that it needs.
type luaTypes struct {
	out     strings.Builder
	written map[string]reflect.Type
}

// write writes a type and returns its name. It panics when two types have the same name.
func (t *luaTypes) write(of reflect.Type) string {
	known, written := t.written[of.Name()]
	switch {
	case !written:
		t.written[of.Name()] = of
		fields := strings.Join(t.fields(of), ", ")
		fmt.Fprintf(&t.out, "local %s = {%s}\n\n", of.Name(), fields)
	case known != of:
		panic(fmt.Sprintf("lua/types.lua cannot tell %s from %s", known, of))
	}
	return of.Name()
}

func (t *luaTypes) fields(of reflect.Type) []string {
	var fields []string
	for field := range of.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous {
			fields = append(fields, t.fields(field.Type)...)
			continue
		}
		fields = append(fields, name+" = "+t.reader(field.Type, !strings.Contains(options, "omitempty")))
	}
	return fields
}

type scalar struct {
	kind   reflect.Kind
	always bool
}

var scalarReaders = map[scalar]string{
	{reflect.String, true}:  "text",
	{reflect.String, false}: "some_text",
	{reflect.Int32, true}:   "int32",
	{reflect.Int32, false}:  "some_int32",
	{reflect.Int64, true}:   "int64",
	{reflect.Int64, false}:  "some_int64",
	{reflect.Bool, false}:   "some_bool",
}

// reader returns the reader of a field in lua/types.lua. It panics if there is no reader: an author who extends the API
// adds it.
func (t *luaTypes) reader(of reflect.Type, always bool) string {
	if of == reflect.TypeFor[metav1.Time]() || of == reflect.TypeFor[*metav1.Time]() {
		return "time"
	}
	switch name, known := scalarReaders[scalar{of.Kind(), always}]; {
	case known:
		return name
	case of.Kind() == reflect.Pointer && of.Elem().Kind() == reflect.String && !always:
		return "pointer"
	case of == reflect.TypeFor[*int32]():
		return "pointer32"
	case of.Kind() == reflect.Struct:
		return "{" + t.write(of) + "}"
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
		return t.write(of.Elem())
	default:
		panic(fmt.Sprintf("lua/types.lua cannot read a %s", of))
	}
}
