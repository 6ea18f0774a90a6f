// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

func TestShortenMessage(t *testing.T) {
	for name, message := range map[string]string{
		"short": "fits", "long": strings.Repeat("x", 600), "long, of wide runes": strings.Repeat("€", 600),
	} {
		t.Run(name, func(t *testing.T) {
			got := reasons.Shorten(message, 512)
			if len(got) > 512 || !utf8.ValidString(got) || (len(message) <= 512 && got != message) {
				t.Errorf("got %d bytes: %q", len(got), got)
			}
		})
	}
}

// TestCount: the noun and the verb follow the number.
func TestCount(t *testing.T) {
	for n, want := range map[int32]string{0: "0 Instances are", 1: "1 Instance is", 2: "2 Instances are"} {
		if got := reasons.Count(n, "Instance is", "Instances are"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
