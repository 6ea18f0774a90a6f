// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package features holds the scenarios, in Gherkin, and runs them on local federations: real kube-apiservers, real
// Karmada, two replicas of the add-on and an agent in each cell.
//
// # Sentences
//
// Most sentences are about any object of any plane. An object is what kubectl calls it, with its name and where it is:
//
//	workload "web"                                  in the project of the scenario
//	workload "web" in project "south"
//	pod "web-main-dfw-0" in cell "dfw"
//	secret "karmada-system/some-name" on the hub    in another namespace than the scenario's
//	project "${project}" in Milo
//
// This is said of it (package steps has the patterns, and Check says which sentence fits none):
//
//	Then OBJECT exists | is gone | does not exist
//	Then OBJECT has condition Ready False because of "Reason", saying "part of the message"
//	Then OBJECT has current condition Ready True    of its newest generation
//	Then OBJECT has no condition Ready
//	Then OBJECT has "spec.containers[*].image" "a b"    a JSONPath, what it finds joined by spaces
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
// "has" waits until it is so, for three minutes at most; "still has" and "does not exist" want it at once. Names, values,
// patches and YAML may hold ${namespace}, ${hubNamespace}, ${project}, ${projectUID}, ${hubNamespace of south} and what was
// remembered: `"data.key" of secret "x" is remembered as "KEY"` makes ${KEY}.
//
// # Tags
//
// Scenarios get along with each other, unless they say otherwise: @serial stops or counts what all share, or measures time, and
// runs alone in its federation; @status and @dependency depend on how Karmada interprets and run in both modes;
// @customization runs in that mode alone. A scenario that stops, moves or shrinks a cell takes one that nobody else uses:
// `Given the federation has cells "iad-1, iad-2"`. Nothing may depend on what another scenario does: it runs before, after or
// beside.
//
// # Flags
//
// After -args: --godog.tags='@mine' runs some, --repeat=20 runs them so many times, --slowest lists what took longest,
// --one-federation runs everything in one federation where two are too much (memory, or inotify instances). The last lines
// say of each failed scenario what was expected, what was found, and where objects and logs are.
package features
