// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"slices"
	"strconv"
	"strings"
)

// Flags of karmada-controller-manager about evictions from tainted clusters.
const (
	evictionFlag  = "--enable-no-execute-taint-eviction"
	purgeModeFlag = "--no-execute-taint-eviction-purge-mode"
	timeoutFlag   = "--graceful-eviction-timeout"

	evictionTimeout = "10m"
	purgeDirectly   = "Directly"
)

// checkEvictions warns if Karmada evicts deployments from clusters with a NoExecute taint: it knows no disruption
// budget, and does not end an eviction when the taint is removed.
func checkEvictions(f *findings, args []string) {
	gates := strings.Split(flagOf(args, "--feature-gates", ""), ",")
	evicts, err := strconv.ParseBool(flagOf(args, evictionFlag, "false"))
	if err != nil || !evicts || !slices.Contains(gates, "Failover=true") {
		return
	}
	when := "after " + flagOf(args, timeoutFlag, evictionTimeout) + " (" + timeoutFlag + ")"
	if flagOf(args, purgeModeFlag, "") == purgeDirectly {
		when = "at once (" + purgeModeFlag + "=" + purgeDirectly + ")"
	}
	f.warn("Karmada evicts deployments from clusters with a NoExecute taint (%s): a cell loses its Instances %s, without a disruption "+
		"budget and even if the taint is removed before; use NoSchedule taints for cells, see docs/reference/failover.md#noexecute-taints",
		evictionFlag, when)
}

// flagOf returns the value of a flag of a program; the last one counts, and a flag without a value is true.
func flagOf(args []string, name, otherwise string) string {
	value := otherwise
	for _, arg := range args {
		if arg == name {
			value = "true"
		}
		if given, found := strings.CutPrefix(arg, name+"="); found {
			value = given
		}
	}
	return value
}
