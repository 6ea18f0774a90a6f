// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

// Metering reports which projects need quota for their Instances. Its methods are safe for concurrent use.
type Metering interface {
	// Metered reports whether the Instances of a project need quota. It returns an error while that is unknown.
	Metered(project string) (bool, error)
	// OnChange registers f, which is called with the name of a project when the answer of Metered changes or becomes
	// known. f must return at once.
	OnChange(f func(project string))
}
