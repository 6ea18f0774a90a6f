// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"strings"
	"testing"
)

// TestCheckInotify: what is opened is closed again. It does not take all there are, which others need.
func TestCheckInotify(t *testing.T) {
	for range 50 {
		if err := checkInotify(0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := tooFewInotify(3, 57); !strings.Contains(err.Error(), "3 more") || !strings.Contains(err.Error(), "sysctl -w fs.inotify.max_user_instances") {
		t.Errorf("too few: %v", err)
	}
}
