// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun: comments and texts of three words or more are there, on twice the line of their source, with a word for each
// verb. Tests and the folders after -- have comments only.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	const source = "// Copyright of all of us.\n\npackage p\n\n// a comment of\n// many words\nvar a, b = \"short\", \"cell " +
		"%s is %[2]d\\nlost\"\n"
	for name, content := range map[string]string{
		"p/p.go": source, "p/p_test.go": source, "p/none.go": "package p\n", "p/zz_generated.go": source, "silent/q.go": source,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run("out", []string{"p", "--", "silent"}); err != nil {
		t.Fatal(err)
	}
	comment := strings.Repeat("\n", 9) + "a comment of many words\n"
	for name, want := range map[string]string{
		"out/p/p.go.txt": comment + "\n\n\ncell X is X lost\n", "out/p/p_test.go.txt": comment, "out/silent/q.go.txt": comment,
	} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if found, _ := filepath.Glob("out/p/*"); len(found) != 2 {
		t.Errorf("got %v", found)
	}
}
