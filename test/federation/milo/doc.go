// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package milo stands in for Milo in a local federation: a path router in
// front of real kube-apiservers, one for Milo's root and one per project, and a
// controller of Milo's Projects.
//
// As Milo, it serves core v1 Events and not events.k8s.io, and no Pods, Nodes,
// Services or ServiceAccounts. As Milo, it does not wait for objects with finalizers in namespace default when
// a project is deleted, it lets extras at the root pass as who impersonates sets
// them, and after a restart it refuses requests for a while and closes watches
// that resume. Its quota is package ledger; a claim of a resource type that is not
// registered at the root is refused. A Project that is suspended and whose status
// lists suspensions, as a newer Milo does, refuses writes; one with the condition
// alone, as an older Milo, does not.
//
// Known differences from Milo: its root may be
// down while projects are served, a request to a project that does not exist gets
// 404 (Milo answers 200 and an empty list), a suspended project refuses a write
// before it is authorized, and a user who impersonates in a
// project needs permission to impersonate the three parent extras, because they
// are sent as impersonation headers.
package milo
