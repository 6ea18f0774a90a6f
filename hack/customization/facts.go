// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"reflect"
	"strings"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/interpreter"
)

func conditionTypes() string {
	return fmt.Sprintf("local condition_available, condition_progressing = %q, %q\n", v1alpha.ConditionAvailable, v1alpha.ConditionProgressing)
}

func quantityLimits() string {
	return fmt.Sprintf("local max_quantity_length, max_quantity_exponent = %d, %d\n", v1alpha.MaxQuantityLength, v1alpha.MaxQuantityExponent)
}

func sliceFacts() string {
	return fmt.Sprintf("local slice_api_version, slice_kind, deployment_uid_label = %q, %q, %q\n",
		v1alpha.GroupVersion.String(), v1alpha.KindInstanceSlice, v1alpha.LabelDeploymentUID)
}

func statusLimits() string {
	return fmt.Sprintf("local max_instances, max_message = %d, %d\nlocal template_generation_annotation = %q\n",
		interpreter.MaxInstances, v1alpha.MaxMessage, workv1alpha2.ResourceTemplateGenerationAnnotationKey)
}

func deploymentStatus() string {
	return "local deployment_status = " + fields(reflect.TypeFor[v1alpha.WorkloadDeploymentStatus](), "") + "\n"
}

func reflectedStatus() string {
	return "local reflected_status = " + fields(reflect.TypeFor[interpreter.ReflectedStatus](), "") + "\n"
}

// fields is a Lua table with the fields of a type, for lua/types.lua.
func fields(of reflect.Type, indent string) string {
	var out strings.Builder
	out.WriteString("{\n")
	writeFields(&out, of, indent+"  ")
	return out.String() + indent + "}"
}

func writeFields(out *strings.Builder, of reflect.Type, indent string) {
	for field := range of.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous {
			writeFields(out, field.Type, indent)
			continue
		}
		always := ""
		if !strings.Contains(options, "omitempty") {
			always = ", always = true"
		}
		fmt.Fprintf(out, "%s{name = %q, %s%s},\n", indent, name, kind(field.Type, indent), always)
	}
}

// kind names the reader in lua/types.lua of a field. It panics when there is none: whoever extends the API adds one.
func kind(of reflect.Type, indent string) string {
	switch {
	case of == reflect.TypeFor[metav1.Time]():
		return `kind = "time"`
	case of.Kind() == reflect.String:
		return `kind = "string"`
	case of.Kind() == reflect.Pointer && of.Elem().Kind() == reflect.String:
		return `kind = "pointer"`
	case of.Kind() == reflect.Int32, of.Kind() == reflect.Int64:
		return fmt.Sprintf(`kind = "integer", bits = %d`, of.Bits())
	case of.Kind() == reflect.Struct:
		return `kind = "object", fields = ` + fields(of, indent)
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
		return `kind = "list", fields = ` + fields(of.Elem(), indent)
	default:
		panic(fmt.Sprintf("lua/types.lua cannot read a %s", of))
	}
}
