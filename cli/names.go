// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

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

// typed splits an argument TYPE/NAME. The group may follow the type, as `kubectl get -o name` prints it.
func typed(argument string) (kind, name string, prefixed bool) {
	kind, name, prefixed = strings.Cut(argument, "/")
	if !prefixed {
		return "", argument, false
	}
	return strings.TrimSuffix(strings.ToLower(kind), "."+v1alpha.GroupVersion.Group), name, true
}

// bare returns the name in an argument NAME or TYPE/NAME of a Workload or an Instance.
func bare(argument string) string {
	kind, name, prefixed := typed(argument)
	if prefixed && (slices.Contains(workloadKinds, kind) || slices.Contains(instanceKinds, kind)) {
		return name
	}
	return argument
}
