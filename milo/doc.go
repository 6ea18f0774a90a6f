// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package milo is the add-on's client for Milo: the address of a project's control plane, the projects (Provider for
// controllers, Lookup for admission), and the types that are read.
//
// Milo's Go module is not published, so the types are declared here, with the fields that are read.
package milo
