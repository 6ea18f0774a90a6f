// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package listeners bounds what callers can hold at a port of the add-on: their connections in all and from each
// source, the time of each step of a request, and the reviews of made-up credentials. Every port of every binary is
// served through it.
package listeners
