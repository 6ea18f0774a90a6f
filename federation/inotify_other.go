// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package federation

// checkInotify has nothing to check where there is no inotify.
func checkInotify(int, int) error { return nil }
