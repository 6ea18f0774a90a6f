// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestRemedies: each line that names a remedy goes when the remedy is applied to the file, and each remedy in the code is in one of these
// lines.
func TestRemedies(t *testing.T) {
	var all []string
	linesWith := func(text, part string) (found []string) {
		result, err := manifestsOf(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range linesOf(result) {
			if strings.Contains(line, part) {
				found = append(found, line)
			}
		}
		return found
	}
	for _, c := range remedies() {
		before := linesWith(c.in, c.line)
		if len(before) == 0 || !strings.Contains(c.in, c.from) {
			t.Errorf("%q is not listed for\n%s", c.line, c.in)
			continue
		}
		edited := strings.Replace(c.in, c.from, c.to, 1)
		if c.from == "" {
			edited = c.in + c.to
		}
		if after := linesWith(edited, c.line); len(after) > 0 {
			t.Errorf("listed after its remedy: %q for\n%s", after, edited)
		}
		all = append(all, before...)
	}
	for _, text := range remediesIn(t, "*.go", "podfields/tables.go") {
		if !slices.ContainsFunc(all, func(line string) bool { return strings.Contains(line, text) }) {
			t.Errorf("%q names a remedy, and no case above applies it", text)
		}
	}
}

// request is a text that asks for an edit; ofInput is one of another input than a manifest, or of a page.
var (
	request = regexp.MustCompile(`(^|[:;,] |, or )` +
		`(set|write|name|use|make|choose|put|add|remove|give|run|keep|create|convert|apply|leave|render|split) `)
	ofInput = regexp.MustCompile(`leave out --namespace|split it|rename one|else IfNotPresent; |choose another in --instance-type`)
)

// remediesIn returns the texts in the code that ask for an edit, without what is filled in.
func remediesIn(t *testing.T, patterns ...string) (found []string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil || strings.HasSuffix(file, "_test.go") {
				continue
			}
			ast.Inspect(tree, func(node ast.Node) bool {
				literal, isLiteral := node.(*ast.BasicLit)
				if !isLiteral || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(fmt.Errorf("%s: %w", file, err))
				}
				for _, part := range regexp.MustCompile(`%[sdqw]`).Split(text, -1) {
					if request.MatchString(part) && !ofInput.MatchString(part) {
						found = append(found, part)
					}
				}
				return true
			})
		}
	}
	if len(found) == 0 {
		t.Fatal("the code names no remedy")
	}
	return found
}
