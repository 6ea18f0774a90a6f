// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package golden compares files of commands, and of what follows from them, with what follows now.
package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Sequences runs the files of testdata/sequences, each as a test of its own. play runs the commands of a file and returns the file as
// it should be. UPDATE=1 writes the files.
func Sequences(t *testing.T, play func(t *testing.T, written string) string) {
	t.Helper()
	files, err := filepath.Glob("testdata/sequences/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d sequences, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			written, err := os.ReadFile(file) //nolint:gosec // a file of the test
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(written))
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if got != string(written) {
				t.Errorf("%s has changed. UPDATE=1 writes it; review the difference. It is now:\n%s", file, got)
			}
		})
	}
}
