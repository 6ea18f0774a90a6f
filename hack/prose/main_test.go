// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRun: texts of three words or more are there, on twice the line of their source, with a word for each verb.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	const source = "package p\n\n// a comment of many words\nvar a, b = \"short\", \"cell %s is %[2]d\\nlost\"\n"
	for name, content := range map[string]string{"p/p.go": source, "p/p_test.go": source, "p/none.go": "package p\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run("out", []string{"p"}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("out/p/p.go.txt"); err != nil || string(got) != "\n\n\n\n\n\n\ncell X is X lost\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if found, _ := filepath.Glob("out/p/*"); len(found) != 1 {
		t.Errorf("there are %v", found)
	}
}
