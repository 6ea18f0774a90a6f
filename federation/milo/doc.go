// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package milo stands in for Milo in a local federation: a path router in
// front of real kube-apiservers, one for Milo's root and one per project, and
// the rules of Milo's Projects.
//
// Known differences from Milo: a project that does not exist is answered with
// 404 (Milo answers 200 and an empty list), and a user who impersonates in a
// project must be allowed to impersonate the three parent extras, because they
// travel as impersonation headers.
package milo
