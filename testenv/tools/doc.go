// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tools builds the binaries that a local federation runs: etcd, Kubernetes, kwok and Karmada, at the exact
// versions of the modules under hack/tools, and the repository's own commands.
//
// Built binaries are cached per user. A cache folder is keyed by everything that determines its binaries, so that it is
// never stale and checkouts share it.
//
// The package imports only the standard library: the launcher that reports the progress of the builds is compiled
// first, and must compile within seconds.
package tools
