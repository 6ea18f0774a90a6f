// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package interpreter answers Karmada's resource interpreter about WorkloadDeployments: pure functions on objects, a
// file per operation, and the HTTP handler around them.
//
// Of the operations that Karmada defines, InterpretComponent is not supported, since a deployment has one template, nor
// is Prune, which Karmada 1.18 never requests. InterpretReplica and ReviseReplica belong together: once the first is
// supported, Karmada schedules by it and requests the second for every cell.
//
// InstanceSlices need no answers: they have no replicas and no dependencies, and Karmada copies their status unchanged.
// The hub reads it in their ResourceBindings.
//
// The cases in testdata hold for the functions, the handler and the customization in Lua.
package interpreter
