// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package milo is all that the add-on knows of Milo: where a project's control plane is, which projects there are
// (Provider, for controllers; Lookup, for admission) and the few of its types that are read.
//
// Milo's own Go module is not published, so its wire format is spoken with small types of our own.
package milo
