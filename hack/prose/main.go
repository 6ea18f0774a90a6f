// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command prose writes the comments of Go sources, and the texts in them that users may see, such as errors,
// conditions, events and log lines, into a folder for the prose linter. For each file <path>.go it writes a file
// <path>.go.txt, with each text on twice the line of its source. Of the folders after --, and of tests, it writes the
// comments alone.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// verb is a verb of a format. The linter sees it as one word.
var verb = regexp.MustCompile(`%[-+#0-9.\[\]]*[a-zA-Z]`)

// generated is the start of the names of generated files.
const generated = "zz_generated"

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: prose <output folder> <source folder>... [-- <source folder>...]")
		os.Exit(1)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(out string, folders []string) error {
	errs := []error{os.RemoveAll(out)}
	silent := slices.Index(folders, "--")
	for i, folder := range folders {
		if i == silent {
			continue
		}
		errs = append(errs, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasPrefix(filepath.Base(path), generated) {
				return err
			}
			speaks := (silent < 0 || i < silent) && !strings.HasSuffix(path, "_test.go")
			return write(filepath.Join(out, path+".txt"), path, speaks)
		}))
	}
	return errors.Join(errs...)
}

// write writes the comments of a source and, if it speaks to users, its strings.
func write(out, source string, speaks bool) error {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, source, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	texts := map[int][]string{}
	last := 0
	add := func(pos token.Pos, text string) {
		if words := strings.Fields(verb.ReplaceAllString(text, "X")); len(words) > 2 {
			line := positions.Position(pos).Line
			texts[line] = append(texts[line], strings.Join(words, " "))
			last = max(last, line)
		}
	}
	for _, group := range file.Comments {
		if text := group.Text(); !strings.HasPrefix(text, "Copyright") {
			add(group.Pos(), text)
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && speaks && literal.Kind == token.STRING {
			// A parsed literal is a valid one.
			text, _ := strconv.Unquote(literal.Value)
			add(literal.Pos(), text)
		}
		return true
	})
	if last == 0 {
		return nil
	}
	var content strings.Builder
	for line := range last {
		content.WriteString("\n" + strings.Join(texts[line+1], " ") + "\n")
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o750); err != nil {
		return err
	}
	return os.WriteFile(out, []byte(content.String()), 0o600)
}
