// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"strconv"
	"strings"
)

// Flags of karmada-controller-manager about evictions from tainted clusters.
const (
	evictionFlag  = "--enable-no-execute-taint-eviction"
	managerFlag   = "--enable-taint-manager"
	gatesFlag     = "--feature-gates"
	purgeModeFlag = "--no-execute-taint-eviction-purge-mode"
	timeoutFlag   = "--graceful-eviction-timeout"

	evictionTimeout = "10m"
	purgeDirectly   = "Directly"
)

// checkEvictions warns if Karmada evicts deployments from clusters with a NoExecute taint: it knows no disruption
// budget, does not end an eviction when the taint is removed, and decides about the cities that the add-on decides
// about. Karmada evicts only with both the flag and the feature gate.
func checkEvictions(f *findings, args []string) {
	if !isTrue(args, evictionFlag, "false") || !isTrue(args, managerFlag, "true") || !hasFailoverGate(args) {
		return
	}
	when := "after " + flagOf(args, timeoutFlag, evictionTimeout) + " (" + timeoutFlag + ")"
	if flagOf(args, purgeModeFlag, "") == purgeDirectly {
		when = "at once (" + purgeModeFlag + "=" + purgeDirectly + ")"
	}
	f.warn("Karmada evicts deployments from clusters with a NoExecute taint (%s): a cell loses its Instances %s, without a disruption "+
		"budget, even if the taint is removed before, and while the add-on decides about its city; take feature gate Failover and "+
		"the flag from karmada-controller-manager, or use only NoSchedule taints for cells, see docs/reference/failover.md#noexecute-taints",
		evictionFlag, when)
}

// hasFailoverGate reports whether the feature gate of Karmada's failover is on. Flags add up, and the last value of a gate
// counts. AllBeta sets the gates that are not named.
func hasFailoverGate(args []string) bool {
	gates := map[string]bool{}
	for _, flag := range valuesOf(args, gatesFlag) {
		for gate := range strings.SplitSeq(flag, ",") {
			name, value, _ := strings.Cut(gate, "=")
			if on, err := strconv.ParseBool(strings.TrimSpace(value)); err == nil {
				gates[strings.TrimSpace(name)] = on
			}
		}
	}
	if on, named := gates["Failover"]; named {
		return on
	}
	return gates["AllBeta"]
}

// isTrue reports whether a flag of a program is true. A value that does not parse is not.
func isTrue(args []string, name, otherwise string) bool {
	is, err := strconv.ParseBool(flagOf(args, name, otherwise))
	return is && err == nil
}

// flagOf returns the value of a flag of a program; the last one counts.
func flagOf(args []string, name, otherwise string) string {
	values := append([]string{otherwise}, valuesOf(args, name)...)
	return values[len(values)-1]
}

// valuesOf returns all values of a flag of a program. A flag without a value is true.
func valuesOf(args []string, name string) []string {
	var values []string
	for i, arg := range args {
		if given, found := strings.CutPrefix(arg, name+"="); found {
			values = append(values, given)
			continue
		}
		switch {
		case arg != name:
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			values = append(values, args[i+1])
		default:
			values = append(values, "true")
		}
	}
	return values
}
