// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// listed is a package, as the go command lists it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
}

// checker checks the types of packages for a platform, from their sources. Nothing is compiled, which takes less than a
// tenth of the time.
type checker struct {
	files   *token.FileSet
	sizes   types.Sizes
	checked map[string]*types.Package
	// current is the package that is being checked.
	current *listed
}

// Import returns a package that was checked before: the go command lists dependencies first.
func (c *checker) Import(path string) (*types.Package, error) {
	if mapped, isMapped := c.current.ImportMap[path]; isMapped {
		path = mapped
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if found := c.checked[path]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%s is not among the dependencies", path)
}

// check checks a package.
func (c *checker) check(p *listed) error {
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	var problems []error
	config := types.Config{
		Importer: c, Sizes: c.sizes, Error: func(err error) { problems = append(problems, err) },
	}
	c.current = p
	checked, _ := config.Check(p.ImportPath, c.files, parsed, nil) // the errors are in problems
	c.checked[p.ImportPath] = checked
	return errors.Join(problems...)
}

// checkFor checks the types of commands and of all their dependencies for a platform.
func checkFor(t *testing.T, platform *v1.Platform, of []component) error {
	t.Helper()
	args := []string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap"}
	for _, c := range of {
		args = append(args, "./cmd/"+c.name)
	}
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = repository
	command.Env = append(os.Environ(), "GOOS="+platform.OS, "GOARCH="+platform.Architecture, "CGO_ENABLED=0",
		"GOFLAGS=-mod=readonly", "GOWORK=off")
	out, err := command.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return fmt.Errorf("%w: %s", err, exit.Stderr)
	} else if err != nil {
		return err
	}
	c := &checker{files: token.NewFileSet(), sizes: types.SizesFor("gc", platform.Architecture), checked: map[string]*types.Package{}}
	var problems []error
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return errors.Join(problems...)
		} else if err != nil {
			return err
		}
		problems = append(problems, c.check(&p))
	}
}

// TestOtherPlatforms: the types of everything that a release compiles are right for platforms that no other test
// compiles for, and every dependency has files for them.
func TestOtherPlatforms(t *testing.T) {
	for _, platform := range []*v1.Platform{{OS: "darwin", Architecture: "arm64"}, {OS: "linux", Architecture: "arm64"}} {
		of := commands
		if platform.OS == "linux" {
			of = slices.Concat(commands, components)
		}
		if err := checkFor(t, platform, of); err != nil {
			t.Errorf("%s: %v", platform, err)
		}
	}
}
