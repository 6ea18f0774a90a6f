// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mend bounds, counts and logs what the add-on does on the hub to make Karmada reconcile an object again that it has
// forgotten. Controllers decide that something is wrong; a Mender decides whether it is time to act on it.
package mend
