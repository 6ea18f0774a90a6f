// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

// Metering says which projects need quota for their Instances. Its methods are safe for concurrent use.
type Metering interface {
	// Metered says whether the Instances of a project need quota. It is an error while that is not known.
	Metered(project string) (bool, error)
	// OnChange has f called with the name of a project of which Metered says something else than before, or something at last. f
	// must return at once.
	OnChange(f func(project string))
}
