// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package budget divides a minimum of Available Instances among members as floors: a Workload's minimum among its
// cities, and a city's floor among its cells. It reads and writes nothing.
//
// A member takes an Instance down voluntarily only while more Instances than its floor are Available. Only the member
// knows their number, so floors are the tokens of the budget: whatever is late, lost or partitioned, voluntary
// disruptions leave in each member the smallest floor that may be in force there, minus failures. Divide therefore
// lowers a floor only if the members still guarantee the minimum together, and counts a raised floor only once the
// member applies it.
package budget
