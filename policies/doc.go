// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policies has the objects that configure Karmada: the PropagationPolicy of a city and the registration of the
// interpreter webhook.
package policies
