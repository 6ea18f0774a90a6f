// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package interpreter teaches Karmada what a WorkloadDeployment is: pure functions on objects, a file per operation,
// and the HTTP handler around them.
//
// Of the operations that Karmada defines InterpretComponent is not served, since a deployment has one template. Prune is,
// although Karmada 1.18 never asks for it. InterpretReplica and ReviseReplica belong together: once the first is
// answered, Karmada schedules by it and asks the second for every cell.
//
// The cases in testdata hold for the functions, the handler and the customization in Lua.
package interpreter
