// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command metrics writes the reference of all metrics, from the calls in the sources that create them.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const reference = "docs/reference/metrics.md"

const head = `# Metrics

Generated from the code: every metric that the add-on defines. Both binaries also serve the metrics of controller-runtime, client-go and
the Go runtime. A controller's metric is served where the controller runs, and an optional feature's metric where the feature is
enabled. The chart has [alerts and dashboards](../how-to/monitoring.md) for these metrics.
`

// agent reports whether a folder belongs to the agent in the cells. All others belong to the binary on the host.
func agent(path string) bool {
	return strings.HasPrefix(path, "cell/") || strings.HasPrefix(path, "cmd/karmada-compute-cell/")
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "metrics:", err)
		os.Exit(1)
	}
}

func run() error {
	host, cell, err := readAll()
	if err != nil {
		return err
	}
	out := &strings.Builder{}
	out.WriteString(head)
	write(out, "karmada-compute, at the host", host)
	write(out, "karmada-compute-cell, in the cells", cell)
	return os.WriteFile(reference, []byte(out.String()), 0o644) //nolint:gosec // not a secret
}

func write(out *strings.Builder, title string, metrics []metric) {
	slices.SortFunc(metrics, func(a, b metric) int { return strings.Compare(a.name, b.name) })
	fmt.Fprintf(out, "\n## %s\n\n| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n", title)
	for _, m := range metrics {
		fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", m.name, m.kind, strings.Join(m.labels, ", "), strings.ReplaceAll(m.help, "|", `\|`))
	}
}

// readAll reads all sources of the repository, so that no metric is left out.
func readAll() (host, cell []metric, err error) {
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (strings.HasPrefix(path, ".") || path == "bin" || path == "hack"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		found, err := read(files, file)
		if agent(path) {
			cell = append(cell, found...)
		} else {
			host = append(host, found...)
		}
		return err
	})
	return host, cell, err
}

// read returns the metrics that a file creates. A call that it cannot read is an error, so that no metric is left out.
func read(files *token.FileSet, file *ast.File) ([]metric, error) {
	r := &reader{file: file, read: map[token.Pos]bool{}}
	var calls []*ast.CallExpr
	var names []*ast.BasicLit
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.CallExpr:
			if kinds[called(n)] != "" {
				calls = append(calls, n)
			}
		case *ast.BasicLit:
			if ours.MatchString(n.Value) {
				names = append(names, n)
			}
		}
		return true
	})
	var found []metric
	for _, call := range calls {
		m, err := r.metric(call)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", files.Position(call.Pos()), err)
		}
		found = append(found, m)
	}
	for _, name := range names {
		if !r.read[name.Pos()] {
			return nil, fmt.Errorf("%s: %s is the name of a metric that this generator does not understand: make it with "+
				"prometheus.New…, with its name, help and labels as literals", files.Position(name.Pos()), name.Value)
		}
	}
	return found, nil
}
