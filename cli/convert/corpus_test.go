// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// leastShapes lets the tests fail when shapes are missing.
const leastShapes = 60

// corpus returns the shapes of testdata/corpus by name: what people have in files, each converted by itself.
func corpus(t testing.TB) (names []string, shapes map[string]string) {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shapes = map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(content), "# == ")
		for shape := range strings.SplitSeq(rest, "\n# == ") {
			name, text, _ := strings.Cut(shape, "\n")
			if _, twice := shapes[name]; twice {
				t.Fatalf("two shapes are named %q", name)
			}
			names = append(names, name)
			shapes[name] = text
		}
	}
	if len(names) < leastShapes {
		t.Fatalf("%d shapes, want at least %d", len(names), leastShapes)
	}
	return names, shapes
}

// TestCorpus converts each shape: nothing is lost silently, nothing is listed that is not lost, and the same input
// gives the same output. The lists are in testdata/corpus.losses. That admission takes the Workloads is a test of
// cmd/karmada-compute.
func TestCorpus(t *testing.T) {
	names, shapes := corpus(t)
	var lists strings.Builder
	for _, name := range names {
		fmt.Fprintf(&lists, "== %s\n", name)
		t.Run(name, func(t *testing.T) {
			result := checkPromises(t, shapes[name])
			for _, loss := range result.Losses {
				fmt.Fprintln(&lists, loss)
			}
			for _, problem := range result.Problems {
				fmt.Fprintf(&lists, "error: %v\n", problem)
			}
		})
	}
	const golden = "testdata/corpus.losses"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(lists.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if lists.String() != string(want) {
		t.Errorf("the lists differ from %s; UPDATE=1 writes it. Got\n%s", golden, lists.String())
	}
}

// checkPromises converts a text, and checks what holds for any.
func checkPromises(t *testing.T, text string) *Result {
	t.Helper()
	result, err := manifestsOf(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := manifestsOf(text)
	if err != nil || printed(t, again) != printed(t, result) ||
		fmt.Sprint(again.Losses, again.Problems) != fmt.Sprint(result.Losses, result.Problems) {
		t.Errorf("the same input gives another output: %v", err)
	}
	read := &reader{}
	if err := read.read(Input{Name: "file", Reader: strings.NewReader(text)}); err != nil {
		t.Fatal(err)
	}
	out := outputLeaves(t, result)
	for _, object := range read.objects {
		if isConverted(object, result) {
			checkObject(t, object, result, out)
		}
	}
	return result
}

// isConverted reports whether an object has become a Workload.
func isConverted(object source, result *Result) bool {
	if !convertible(object.Unstructured) {
		return false
	}
	for _, problem := range result.Problems {
		if strings.Contains(problem.Error(), describe(object.Unstructured)+" is not converted") {
			return false
		}
	}
	for _, loss := range result.Losses {
		if loss.Object == describe(object.Unstructured) && strings.HasPrefix(loss.Why, "is in the input more than once") {
			return false
		}
	}
	return true
}
