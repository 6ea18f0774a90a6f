// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

const (
	metricTarget = `{"metrics":[{"resource":{"target":{%q:%%s}}}]}`
	instance     = `{"runtime":{"resources":{"requests":{"cpu":%s}}}}`
	container    = `{"runtime":{"sandbox":{"containers":[{"resources":{%q:{"cpu":%%s}}}]}}}`
	divisor      = `{"runtime":{"sandbox":{"containers":[{"env":[{"valueFrom":{"resourceFieldRef":{"divisor":%s}}}]}]}}}`
	initializer  = `{"runtime":{"sandbox":{"initContainers":[{"resources":{%q:{"cpu":%%s}}}]}}}`
	initDivisor  = `{"runtime":{"sandbox":{"initContainers":[{"env":[{"valueFrom":{"resourceFieldRef":{"divisor":%s}}}]}]}}}`
	emptyDir     = `{"volumes":[{"emptyDir":{"sizeLimit":%s}}]}`
	tolerance    = `{"behavior":{%q:{"tolerance":%%s}}}`
	disk         = `{"volumes":[{"disk":{"template":{"spec":{"resources":{"requests":{"storage":%s}}}}}}]}`
	recorded     = `{"controller":{"instanceTypeResources":{"cpu":%s}}}`
	ofType       = `{"spec":{"instanceTypeResources":{"cpu":%s}}}`
	inTemplate   = `{"spec":{"template":{"spec":%s}}}`
	inPartition  = `{"spec":{"partition":{"template":{"spec":%s}}}}`
	ofPartition  = `{"spec":{"partition":{"instanceTypeResources":{"cpu":%s}}}}`
	ofDeployment = `{"spec":{"scaleSettings":%s}}`
	ofPlacement  = `{"spec":{"placements":[{"scaleSettings":%s}]}}`
)

// quantityPaths are objects that hold a quantity, in each place where one can be.
func quantityPaths(scaleSettings string) []string {
	var paths []string
	for _, target := range []string{"value", "averageValue"} {
		paths = append(paths, fmt.Sprintf(scaleSettings, fmt.Sprintf(metricTarget, target)))
	}
	for _, direction := range []string{"scaleUp", "scaleDown"} {
		paths = append(paths, fmt.Sprintf(scaleSettings, fmt.Sprintf(tolerance, direction)))
	}
	return append(paths, templatePaths(inTemplate)...)
}

// templatePaths are the paths in a template.
func templatePaths(in string) []string {
	var paths []string
	for _, spec := range []string{
		instance, fmt.Sprintf(container, "limits"), fmt.Sprintf(container, "requests"), divisor, disk, recorded,
		fmt.Sprintf(initializer, "limits"), fmt.Sprintf(initializer, "requests"), initDivisor, emptyDir,
	} {
		paths = append(paths, fmt.Sprintf(in, spec))
	}
	return paths
}

// decoders are the functions that decode objects from outside, with the objects that hold quantities and the type.
var decoders = map[string]struct {
	decode func(string) error
	paths  []string
	of     reflect.Type
}{
	"Workload": {
		decode: func(raw string) error { _, err := wire.Workload([]byte(raw)); return err },
		paths:  quantityPaths(ofPlacement), of: reflect.TypeFor[v1alpha.Workload](),
	},
	"WorkloadDeployment": {
		decode: func(raw string) error { _, err := wire.WorkloadDeployment([]byte(raw)); return err },
		paths:  slices.Concat(quantityPaths(ofDeployment), templatePaths(inPartition), []string{ofType, ofPartition}),
		of:     reflect.TypeFor[v1alpha.WorkloadDeployment](),
	},
}

// TestQuantities: quantities that take forever to parse are refused, in every place; the test would hang if they were
// parsed.
func TestQuantities(t *testing.T) {
	for kind, d := range decoders {
		for _, path := range d.paths {
			for _, endless := range []string{
				`"1e1000000000"`, `"1e-1000000000"`, `" 1e-1000000000 "`, `1e-1000000000`,
				`"12345678901234567890E+1000000000"`, `"1e99999999999999999999"`, `"` + strings.Repeat("9", 1000) + `"`,
			} {
				if err := d.decode(fmt.Sprintf(path, endless)); err == nil || !strings.Contains(err.Error(), "out of any range") {
					t.Errorf("%s %.120s: error is %v", kind, fmt.Sprintf(path, endless), err)
				}
			}
			for _, good := range []string{`"1"`, `1`, `0.5`, `"1.5Gi"`, `"2E"`, `"2Ei"`, `"1e3"`, `"1E-6"`, `null`, `"100m"`} {
				if err := d.decode(fmt.Sprintf(path, good)); err != nil {
					t.Errorf("%s %s: %v", kind, fmt.Sprintf(path, good), err)
				}
			}
		}
	}
}

// TestTextThatLooksLikeAQuantity: a field that is no quantity may have any text.
func TestTextThatLooksLikeAQuantity(t *testing.T) {
	const raw = `{"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"a","env":[{"name":"A","value":"1e-1000000000"}]}]}}}}}}`
	if _, err := wire.Workload([]byte(raw)); err != nil {
		t.Error(err)
	}
}

// TestAllQuantitiesAreBounded: a quantity that is added to the API must be checked as well.
func TestAllQuantitiesAreBounded(t *testing.T) {
	for kind, d := range decoders {
		if got := quantitiesIn(d.of, map[reflect.Type]bool{}); got != len(d.paths) {
			t.Errorf("%s has %d fields of quantities, and %d are known: bound the others in decode.go", kind, got, len(d.paths))
		}
	}
}

// quantitiesIn counts the fields of a type that hold quantities, or maps of them.
func quantitiesIn(of reflect.Type, above map[reflect.Type]bool) int {
	if of == reflect.TypeFor[resource.Quantity]() {
		return 1
	}
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return quantitiesIn(of.Elem(), above)
	case reflect.Struct:
		if above[of] {
			return 0
		}
		above[of] = true
		defer delete(above, of)
		count := 0
		for field := range of.Fields() {
			count += quantitiesIn(field.Type, above)
		}
		return count
	default:
		return 0
	}
}
