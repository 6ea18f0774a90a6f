// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// speaking are the folders of the code that runs without Milo, and whose texts users see: conditions, Events, refusals,
// logs, metrics and the help of commands.
var speaking = []string{
	"cell", "cli", "cmd/internal", "cmd/karmada-compute", "cmd/karmada-compute-cell", "hub", "internal", "interpreter",
	"milo", "namespaces", "policies", "webhook",
}

// atMilo are the files whose texts no user sees without Milo, with the reason.
var atMilo = map[string]string{
	"cli/command/server.go":               "the kubeconfig is of Milo",
	"cli/view/earlier.go":                 "the deployment is of a project of Milo",
	"cmd/karmada-compute/certificates.go": "the webhooks are registered on the hub alone",
	"cmd/karmada-compute/sessions.go":     "the transport is to Milo",
	"hub/quota/":                          "--quota is refused",
	"internal/cities/choice.go":           "the hub always lists locations",
	"internal/reasons/table.go":           "conditions of quota are not written",
	"milo/locationkind.go":                "the hub always lists locations",
	"milo/metering.go":                    "--quota is refused",
	"milo/patience.go":                    "Patience is for Milo's root",
	"milo/planes.go":                      "control planes of Milo",
	"milo/lookup.go":                      "an option that only Milo needs",
	"milo/types.go":                       "the address of Milo",
	"milo/watch.go":                       "the watch of Milo's Projects",
	"webhook/registration/":               "the users of a configuration at Milo",
}

// names is a text that names Milo, and both one that speaks of both kinds of projects, or of the flag of Milo.
var (
	names = regexp.MustCompile(`\bMilo\b`)
	both  = regexp.MustCompile(`(?i:without Milo)|--projects=|--milo-kubeconfig|--quota`)
)

// TestTextsNameNoMilo: without Milo no text tells a user of Milo, unless it also names the mode without Milo.
func TestTextsNameNoMilo(t *testing.T) {
	used := map[string]bool{}
	for _, folder := range speaking {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
			for at, text := range texts(t, path) {
				reason := reasonFor(name)
				if reason != "" {
					used[reason] = true
				} else if !both.MatchString(text) {
					t.Errorf("%s: %q names Milo; say what holds for every project", at, text)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for file := range atMilo {
		if !used[file] {
			t.Errorf("%s has no text that names Milo: remove it from the list", file)
		}
	}
}

// reasonFor returns the entry of the list for a file, or "".
func reasonFor(name string) string {
	for prefix := range atMilo {
		if strings.HasPrefix(name, prefix) {
			return prefix
		}
	}
	return ""
}

// texts returns the texts of a file that name Milo, by their positions. Parts that are joined with + are one text.
func texts(t *testing.T, path string) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(node ast.Node) bool {
		expression, isExpression := node.(ast.Expr)
		if !isExpression {
			return true
		}
		text, isText := joined(expression)
		if isText && names.MatchString(text) {
			found[files.Position(node.Pos()).String()] = text
		}
		return !isText
	})
	return found
}

// joined returns the literals of an expression, and reports whether it has one.
func joined(expression ast.Expr) (string, bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, isLeft := joined(e.X)
		right, isRight := joined(e.Y)
		return left + right, e.Op == token.ADD && (isLeft || isRight)
	}
	return "", false
}
