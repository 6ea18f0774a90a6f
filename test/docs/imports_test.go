// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// The table of the import rules is between these lines of ARCHITECTURE.md.
const (
	beginImports = "<!-- begin: imports, from .golangci.yaml -->\n"
	endImports   = "<!-- end: imports -->\n"
)

const module = "github.com/karmada-compute/karmada-compute"

// linters is the part of .golangci.yaml with the import rules.
type linters struct {
	Linters struct {
		Settings struct {
			Depguard struct {
				Rules map[string]struct {
					Files []string `json:"files"`
					Allow []string `json:"allow"`
					Deny  []struct {
						Package string `json:"pkg"`
						Because string `json:"desc"`
					} `json:"deny"`
				} `json:"rules"`
			} `json:"depguard"`
		} `json:"settings"`
	} `json:"linters"`
}

// TestArchitectureHasTheImportRules: the page has the import rules that the linter checks. UPDATE=1 writes the table.
func TestArchitectureHasTheImportRules(t *testing.T) {
	page := filepath.Join(repository, "ARCHITECTURE.md")
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(content), beginImports)
	have, after, ends := strings.Cut(rest, endImports)
	if !begins || !ends {
		t.Fatalf("%s lacks the lines %q and %q", page, beginImports, endImports)
	}
	want := importRules(t)
	if have == want {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("the rules of .golangci.yaml have changed: run UPDATE=1 go test -C test ./docs. The table is\n%s", want)
	}
	if err := os.WriteFile(page, []byte(before+beginImports+want+endImports+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// importRules is the table of the rules: a line for each rule and reason.
func importRules(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, ".golangci.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config linters
	if err := yaml.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	rules := config.Linters.Settings.Depguard.Rules
	var table strings.Builder
	table.WriteString("\n| in | nothing imports | but | since |\n| --- | --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		rule := rules[name]
		denied := map[string][]string{}
		if len(rule.Deny) == 0 {
			denied[strings.ReplaceAll(name, "-", " ")] = []string{"anything else"}
		}
		for _, one := range rule.Deny {
			denied[one.Because] = append(denied[one.Because], short(one.Package))
		}
		for _, because := range slices.Sorted(maps.Keys(denied)) {
			fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", inCode(places(rule.Files)), inCode(denied[because]), inCode(shortened(rule.Allow)),
				because)
		}
	}
	if len(rules) < 10 {
		t.Fatalf("only %d rules are found", len(rules))
	}
	return table.String()
}

// places are the folders of a rule's patterns, without exclusions.
func places(patterns []string) []string {
	var found []string
	for _, pattern := range patterns {
		switch {
		case strings.HasPrefix(pattern, "!"):
		case pattern == "$all":
			found = append(found, "all packages")
		default:
			found = append(found, strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(pattern, "**/"), "/**"), "/*.go"))
		}
	}
	return found
}

// short is an import path without the module's.
func short(path string) string {
	path = strings.TrimSuffix(path, "$")
	if path == module {
		return "anything of ours"
	}
	return strings.Trim(strings.TrimPrefix(path, module), "/")
}

func shortened(paths []string) []string {
	var result []string
	for _, path := range paths {
		result = append(result, short(path))
	}
	return result
}

// inCode are names in code, apart from words.
func inCode(names []string) string {
	var result []string
	for _, name := range names {
		if name != "$gostd" && !strings.Contains(name, " ") {
			name = "`" + name + "`"
		}
		result = append(result, strings.Replace(name, "$gostd", "the standard library", 1))
	}
	return strings.Join(result, ", ")
}
