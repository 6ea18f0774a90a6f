// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// The kinds that an argument TYPE/NAME may name.
var (
	workloadKinds = []string{"wl", "cwl", "workload", "workloads"}
	instanceKinds = []string{"inst", "instance", "instances"}
)

// Typed splits an argument TYPE/NAME. The group may follow the type, as `kubectl get -o name` prints it.
func Typed(argument string) (kind, name string, prefixed bool) {
	kind, name, prefixed = strings.Cut(argument, "/")
	if !prefixed {
		return "", argument, false
	}
	return strings.TrimSuffix(strings.ToLower(kind), "."+v1alpha.GroupVersion.Group), name, true
}

// IsWorkload reports whether the type of an argument is a Workload's.
func IsWorkload(kind string) bool { return slices.Contains(workloadKinds, kind) }

// IsInstance reports whether the type of an argument is an Instance's.
func IsInstance(kind string) bool { return slices.Contains(instanceKinds, kind) }

// Bare returns the name in an argument NAME or TYPE/NAME of a Workload or an Instance.
func Bare(argument string) string {
	kind, name, prefixed := Typed(argument)
	if prefixed && (IsWorkload(kind) || IsInstance(kind)) {
		return name
	}
	return argument
}
