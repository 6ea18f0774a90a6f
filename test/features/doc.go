// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package features holds the scenarios, in Gherkin, and runs them on local federations: real kube-apiservers, real
// Karmada, two replicas of the add-on and an agent in each cell.
//
// # Sentences
//
// Most sentences are about any object of any plane. An object is its kubectl name, with its plane:
//
//	workload "web"                                  in the project of the scenario
//	workload "web" in project "south"
//	pod "web-main-dfw-0" in cell "dfw"
//	secret "karmada-system/some-name" on the hub    in another namespace than the scenario's
//	project "${project}" in Milo
//
// Sentences about an object (package steps has the patterns, and Check reports sentences that fit none):
//
//	Then OBJECT exists | is gone | does not exist
//	Then OBJECT has condition Ready False because of "Reason", saying "part of the message"
//	Then OBJECT has current condition Ready True    of its newest generation
//	Then OBJECT has no condition Ready
//	Then OBJECT has "spec.containers[*].image" "a b"    a JSONPath; several values are joined by spaces
//	Then OBJECT has "status.list" | has no "status.list" | has "metadata.name" matching "^.{1,63}$"
//	Then OBJECT has the same "spec" as in the project, but for "spec.assignment"
//	Then every instance in the project has ...
//	Then the hub has no secrets | has 2 secrets | has exactly the secrets "a, b"
//	Then the hub has exactly the secrets              with a table: the first column is the name, the others are fields
//	When an operator patches OBJECT with {"spec":{}}  a merge patch, or a JSON patch: [{"op":"add"}]
//	When the consumer tries to patch OBJECT with {}   Then that is refused with "..."
//	When an operator creates on the hub               with YAML
//	When the consumer deletes OBJECT
//	Then OBJECT was not replaced | was replaced | becomes another one
//
// "has" waits for the value, for five minutes at most; "still has" and "does not exist" check once. Names, values,
// patches and YAML may contain ${namespace}, ${hubNamespace}, ${project}, ${projectUID}, ${hubNamespace of south} and
// remembered values: `"data.key" of secret "x" is remembered as "KEY"` sets ${KEY}.
//
// # Tags
//
// Scenarios run in parallel, apart from these tags: @serial stops or counts shared objects, or measures time, and runs
// alone in its federation; @status and @dependency depend on how Karmada interprets and run in both modes;
// @customization runs in that mode alone; @counts watches every status of Workloads and WorkloadDeployments in the
// scenario's projects, and fails when a count is outside of what its cells had (package counts). A scenario that stops,
// moves or shrinks a cell takes one that no other scenario uses: `Given the federation has cells "iad-1, iad-2"`.
// Nothing may depend on what another scenario does: it runs before, after or beside.
//
// # Flags
//
// After -args: --godog.tags='@mine' selects scenarios, --repeat=20 runs each of them 20 times. The last lines report for
// each failed scenario the expectation, the found objects, and the location of objects and logs.
package features
