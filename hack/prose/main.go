// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command prose writes the texts in Go sources that users may see, such as errors, conditions, events and log lines, into a folder
// for the prose linter: of each file <path>.go a file <path>.go.txt, with each text on twice the line of its source.
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
	"strconv"
	"strings"
)

// verb is a verb of a format. What it stands for is one word.
var verb = regexp.MustCompile(`%[-+#0-9.\[\]]*[a-zA-Z]`)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: prose <output folder> <source folder>...")
		os.Exit(1)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(out string, folders []string) error {
	errs := []error{os.RemoveAll(out)}
	for _, folder := range folders {
		errs = append(errs, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			return write(filepath.Join(out, path+".txt"), path)
		}))
	}
	return errors.Join(errs...)
}

func write(out, source string) error {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, source, nil, 0)
	if err != nil {
		return err
	}
	texts := map[int][]string{}
	last := 0
	ast.Inspect(file, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		// A parsed literal is a valid one.
		text, _ := strconv.Unquote(literal.Value)
		if words := strings.Fields(verb.ReplaceAllString(text, "X")); len(words) > 2 {
			last = positions.Position(literal.Pos()).Line
			texts[last] = append(texts[last], strings.Join(words, " "))
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
