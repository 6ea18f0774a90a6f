// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestPackageCommentListsControllers verifies that the comment of the package lists every controller once, and nothing
// else.
func TestPackageCommentListsControllers(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for line := range strings.Lines(file.Doc.Text()) {
		if item, found := strings.CutPrefix(strings.TrimSpace(line), "- "); found {
			name, _, _ := strings.Cut(item, ":")
			name, _, _ = strings.Cut(name, ",")
			listed[name]++
		}
	}
	for _, controller := range Controllers() {
		if listed[controller.Name] != 1 {
			t.Errorf("controller %s is listed %d times", controller.Name, listed[controller.Name])
		}
		delete(listed, controller.Name)
	}
	if len(listed) > 0 {
		t.Errorf("no controllers: %v", listed)
	}
}
