// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

// Stage is stage, for tests.
func (r *Registration) Stage(webhook map[string]any) error { return r.stage(webhook) }
