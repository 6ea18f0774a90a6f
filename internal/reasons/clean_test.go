// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons_test

import (
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[2Jb\nc\td\u009b31m\x7f":      "a[2Jb\nc\td31m",
		"\u202egnp.exe\u202c \u2066x\u2069": "gnp.exe x",
		"é … 😀 שלום":                        "é … 😀 שלום",
	} {
		if got := reasons.Clean(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestWriters: characters are cleaned and escaped also where a write ends within one.
func TestWriters(t *testing.T) {
	const text = "a\u009b…\x1b[\xc2\u202eb\x9bc\n"
	for size := 1; size <= len(text); size++ {
		var cleaned, escaped strings.Builder
		clean, escape := reasons.CleanWriter(&cleaned), reasons.EscapeWriter(&escaped)
		for rest := text; rest != ""; {
			part := rest[:min(size, len(rest))]
			rest = rest[len(part):]
			for _, writer := range []interface{ Write([]byte) (int, error) }{clean, escape} {
				if n, err := writer.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("wrote %d of %d bytes, %v", n, len(part), err)
				}
			}
		}
		if got, want := cleaned.String(), "a…[\uFFFDb\uFFFDc\n"; got != want {
			t.Errorf("%d bytes at once: cleaned %q, want %q", size, got, want)
		}
		if got, want := escaped.String(), "a\\u009b…\\u001b[\uFFFD\u202eb\uFFFDc\n"; got != want {
			t.Errorf("%d bytes at once: escaped %q, want %q", size, got, want)
		}
	}
}
