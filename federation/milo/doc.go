// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package milo stands in for Milo in a local federation: a path router in
// front of real kube-apiservers, one for Milo's root and one per project, and a
// controller of Milo's Projects.
//
// Known differences from Milo: a request to a project that does not exist gets
// 404 (Milo answers 200 and an empty list), and a user who impersonates in a
// project needs permission to impersonate the three parent extras, because they
// are sent as impersonation headers.
package milo
