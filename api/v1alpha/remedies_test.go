// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryReasonHasARemedy reads the sources: every constant that is a reason, and every reason that is set without one.
func TestEveryReasonHasARemedy(t *testing.T) {
	found := 0
	for _, folder := range []string{"api", "cell", "conditions", "hub", "interpreter", "milo", "policies", "webhook"} {
		for _, path := range sources(t, filepath.Join("..", "..", folder)) {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				reason, ok := reasonOf(node)
				if !ok {
					return true
				}
				found++
				if !slices.ContainsFunc(remedies, func(r Remedy) bool { return r.Reason == reason }) {
					t.Errorf("%s: reason %s is not in the table of remedies", path, reason)
				}
				return true
			})
		}
	}
	if found < len(remedies)/2 {
		t.Errorf("only %d reasons were found in the sources, and the table has %d", found, len(remedies))
	}
}

func sources(t *testing.T, folder string) []string {
	t.Helper()
	var paths []string
	if err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			paths = append(paths, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return paths
}

// reasonOf is the reason that a constant of the API is, or that a condition is made with by its text.
func reasonOf(node ast.Node) (string, bool) {
	switch node := node.(type) {
	case *ast.ValueSpec:
		if len(node.Values) == 1 && strings.HasPrefix(node.Names[0].Name, "Reason") {
			return text(node.Values[0])
		}
	case *ast.CompositeLit:
		if selector, ok := node.Type.(*ast.SelectorExpr); !ok || !strings.HasSuffix(selector.Sel.Name, "Condition") {
			return "", false
		}
		for _, element := range node.Elts {
			field, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			if key, ok := field.Key.(*ast.Ident); ok && key.Name == "Reason" {
				return text(field.Value)
			}
		}
	case *ast.AssignStmt:
		if selector, ok := node.Lhs[0].(*ast.SelectorExpr); ok && selector.Sel.Name == "Reason" {
			return text(node.Rhs[0])
		}
	}
	return "", false
}

func text(expression ast.Expr) (string, bool) {
	literal, ok := expression.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil && value != ""
}

// TestRemedies: whoever must act is told what to do, and no condition has two remedies for one reason.
func TestRemedies(t *testing.T) {
	seen := map[string]bool{}
	for _, remedy := range Remedies() {
		if (remedy.Actor == ActorConsumer || remedy.Actor == ActorOperator) && remedy.Do == "" {
			t.Errorf("the %s is not told what to do about %s", remedy.Actor, remedy.Reason)
		}
		if len(remedy.Conditions) == 0 {
			t.Errorf("no condition has reason %s", remedy.Reason)
		}
		for _, condition := range remedy.Conditions {
			key := condition + "/" + remedy.Reason
			if seen[key] {
				t.Errorf("two remedies for reason %s of %s", remedy.Reason, condition)
			}
			seen[key] = true
			if got, ok := RemedyOf(condition, remedy.Reason); !ok || got.Do != remedy.Do {
				t.Errorf("%s: got %+v", key, got)
			}
		}
	}
	if got, ok := RemedyOf(ConditionReady, "Nonsense"); ok {
		t.Errorf("a remedy for nonsense: %+v", got)
	}
}
