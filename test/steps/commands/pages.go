// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/pages"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// addPageSteps adds the sentences about pages of the documentation whose commands have an expected output.
func addPageSteps(sc world.Sentences) {
	sc.Step(`^the commands of page "([^"]*)" print the output that the page shows$`, func(ctx context.Context, path string) error {
		s := from(ctx)
		environment, err := s.PageEnvironment(ctx)
		if err != nil {
			return err
		}
		return s.runPage(ctx, path, environment)
	})
	sc.Step(`^the commands of page "([^"]*)" print the output that the page shows, with a kubeconfig of Karmada's documentation$`,
		func(ctx context.Context, path string) error { return from(ctx).runInstallation(ctx, path) })
}

// documented holds the commands that pages use, built for the first page.
type documented struct {
	once sync.Once
	err  error
}

func (d *documented) build(ctx context.Context, f *federation.Federation) error {
	d.once.Do(func() { d.err = f.BuildDocumented(ctx) })
	return d.err
}

// runInstallation runs the commands of a page that installs the add-on. After the scenario the add-on has the default
// configuration again.
func (s Steps) runInstallation(ctx context.Context, path string) error {
	if err := world.Shared[documented](s.World).build(ctx, s.Federation); err != nil {
		return err
	}
	s.installs()
	environment, err := s.AddOn.HomeEnvironment(s.pageFolder())
	if err != nil {
		return err
	}
	return s.runPage(ctx, path, environment)
}

// runPage runs the commands of a page.
func (s Steps) runPage(ctx context.Context, path string, environment map[string]string) error {
	repository, err := tools.FindRepository()
	if err != nil {
		return err
	}
	page, err := pages.Read(filepath.Join(repository, filepath.FromSlash(path)))
	if err != nil {
		return err
	}
	page.Path = path
	shell, err := pages.NewShell(ctx, s.pageFolder(), environment)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.Out, page.Summary())
	return errors.Join(page.Run(ctx, shell, world.Eventually, nil), shell.Close())
}

// pageFolder returns the working directory of a page's commands.
func (s Steps) pageFolder() string {
	return filepath.Join(s.Federation.Folder(), "commands", s.Namespace)
}

// PageEnvironment returns the environment of a page's commands: the kubeconfigs for the scenario's project have its
// namespace, as users' kubeconfigs do.
func (s Steps) PageEnvironment(ctx context.Context) (map[string]string, error) {
	if err := world.Shared[documented](s.World).build(ctx, s.Federation); err != nil {
		return nil, err
	}
	environment, err := s.Federation.Environment(s.Project, world.Consumer)
	if err != nil {
		return nil, err
	}
	environment["NAMESPACE"] = s.Namespace
	for _, variable := range []string{"KUBECONFIG", "PROJECT"} {
		config, err := clientcmd.LoadFromFile(environment[variable])
		if err != nil {
			return nil, err
		}
		config.Contexts[config.CurrentContext].Namespace = s.Namespace
		environment[variable] = filepath.Join(s.pageFolder(), "."+variable)
		if err := clientcmd.WriteToFile(*config, environment[variable]); err != nil {
			return nil, err
		}
	}
	return environment, nil
}
