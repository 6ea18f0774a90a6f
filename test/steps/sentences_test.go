// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps_test

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/test/steps"
)

// TestCheck: every sentence matches exactly one pattern.
func TestCheck(t *testing.T) {
	if err := steps.Check([]string{"../../features"}); err != nil {
		t.Fatal(err)
	}
}
