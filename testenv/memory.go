// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"fmt"
	"runtime"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Shapes are variables that fill a template of so many bytes: in one value, in many, and in many empty ones, which take
// most memory.
func Shapes(size int) map[string][]corev1.EnvVar {
	return map[string][]corev1.EnvVar{
		"one value":       {{Name: "A", Value: strings.Repeat("x", size)}},
		"many variables":  variables(size, "x"),
		"empty variables": variables(size, ""),
	}
}

// variables are as many variables as fit into a template.
func variables(size int, value string) (all []corev1.EnvVar) {
	for n := 0; size > 0; n++ {
		variable := corev1.EnvVar{Name: fmt.Sprintf("E%d", n), Value: value}
		all = append(all, variable)
		size -= len(`{"name":""},`) + len(variable.Name)
		if value != "" {
			size -= len(`,"value":""`) + len(value)
		}
	}
	return all
}

// Heap returns how many bytes are reachable after a function that were not before.
func Heap(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	do()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return after.HeapAlloc - before.HeapAlloc
}
