// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// TestDockerfile: BuildKit parses the Dockerfile without warnings, and its images are the same as this tool's, apart
// from the base.
func TestDockerfile(t *testing.T) {
	file, err := os.Open(filepath.Join(repository, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	warn := func(rule, _, _, message string, _ []parser.Range) { t.Errorf("%s: %s", rule, message) }
	stages, _, err := instructions.Parse(parsed.AST, linter.New(&linter.Config{Warn: warn}))
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range parsed.Warnings {
		t.Errorf("%s", warning.Short)
	}
	if len(stages) != len(components)+1 {
		t.Fatalf("%d stages", len(stages))
	}
	checkBuild(t, stages[0])
	for i, c := range components {
		checkStage(t, stages[i+1], c)
	}
}

// checkBuild compares the compiler flags of the binaries.
func checkBuild(t *testing.T, stage instructions.Stage) {
	t.Helper()
	var script []string
	for _, command := range stage.Commands {
		if run, ok := command.(*instructions.RunCommand); ok {
			script = append(script, strings.Join(run.CmdLine, " "))
		}
	}
	compiled := strings.Join(script, "\n")
	r := release{version: "${VERSION}", commit: "${COMMIT}"}
	want := append([]string{"CGO_ENABLED=0", stripped}, flags...)
	variables, _, _ := strings.Cut(r.variables(), "date=")
	want = append(want, variables+"date=${DATE}")
	for _, c := range components {
		want = append(want, "./cmd/"+c.name)
	}
	for _, part := range want {
		if !strings.Contains(compiled, part) {
			t.Errorf("the build has no %q:\n%s", part, compiled)
		}
	}
}

// checkStage compares the configuration of an image.
func checkStage(t *testing.T, stage instructions.Stage, c component) {
	t.Helper()
	labels := map[string]string{}
	var runsAs, folder string
	var entrypoint, copied []string
	for _, command := range stage.Commands {
		switch command := command.(type) {
		case *instructions.UserCommand:
			runsAs = command.User
		case *instructions.WorkdirCommand:
			folder = command.Path
		case *instructions.EntrypointCommand:
			if !command.PrependShell {
				entrypoint = command.CmdLine
			}
		case *instructions.CopyCommand:
			copied = append(copied, command.From, command.SourcePaths[0], command.DestPath)
		case *instructions.LabelCommand:
			for _, label := range command.Labels {
				labels[label.Key] = strings.Trim(label.Value, "\"")
			}
		}
	}
	if stage.Name != c.name || runsAs != user || folder != "/" || !slices.Equal(entrypoint, []string{"/" + c.name}) {
		t.Errorf("%s: stage %s runs %v as %s in %s", c.name, stage.Name, entrypoint, runsAs, folder)
	}
	if !slices.Equal(copied, []string{"build", "/out/" + c.name, "/" + c.name}) {
		t.Errorf("%s: copies %v", c.name, copied)
	}
	r := release{version: "${VERSION}", commit: "${COMMIT}"}
	want := r.labels(c)
	want["org.opencontainers.image.created"] = "${DATE}"
	if !maps.Equal(labels, want) {
		t.Errorf("%s: labels\n%v\nwant\n%v", c.name, labels, want)
	}
}
