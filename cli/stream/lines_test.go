// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	var out strings.Builder
	lines := &Lines{Out: &out}
	a, b := lines.With("[a] "), lines.With("[b] ")
	for _, c := range []struct {
		to   *Prefixed
		text string
	}{{a, "one\ntw"}, {b, "other\n\n"}, {a, "o\n"}, {b, "last"}} {
		if n, err := c.to.Write([]byte(c.text)); n != len(c.text) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	for _, one := range []*Prefixed{a, b, b} {
		if err := one.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if want := "[a] one\n[b] other\n[b] \n[a] two\n[b] last\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestLongLines: a line without an end is not kept.
func TestLongLines(t *testing.T) {
	var out strings.Builder
	p := (&Lines{Out: &out}).With("")
	for range 64 {
		if _, err := p.Write([]byte(strings.Repeat("a", 10000))); err != nil {
			t.Fatal(err)
		}
		if len(p.tail) > maxLine {
			t.Fatalf("%d bytes are kept", len(p.tail))
		}
	}
}
