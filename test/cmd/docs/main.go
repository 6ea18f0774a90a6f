// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command docs runs the commands of pages of the documentation on the federation of `make up`, and compares what they
// print with what the page says. `features/documentation.feature` runs all pages, each in a namespace of its own; this
// is for writing one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/pages"
)

var (
	folder  = flag.String("folder", federation.DefaultFolder(), "folder of the federation")
	project = flag.String("project", "north", "project in which the page's commands work")
	within  = flag.Duration("within", time.Minute, "how long it may take until commands print what the page says")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, paths []string) error {
	f, err := federation.Open(*folder)
	if err != nil {
		return err
	}
	if err := f.BuildDocumented(ctx); err != nil {
		return err
	}
	environment, err := f.Environment(*project, "consumer")
	if err != nil {
		return err
	}
	var problems []error
	for _, path := range paths {
		problems = append(problems, runPage(ctx, path, environment))
	}
	return errors.Join(problems...)
}

// runPage runs a page in a separate folder.
func runPage(ctx context.Context, path string, environment map[string]string) error {
	page, err := pages.Read(path)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "docs-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // It is below the folder for what is temporary.
	shell, err := pages.NewShell(ctx, scratch, environment)
	if err != nil {
		return err
	}
	began := time.Now()
	err = errors.Join(page.Run(ctx, shell, eventually, nil), shell.Close())
	fmt.Printf("%s, in %s\n", page.Summary(), time.Since(began).Round(100*time.Millisecond))
	return err
}

func eventually(ctx context.Context, check func(context.Context) error) error {
	return federation.Await(ctx, 200*time.Millisecond, *within, check)
}
