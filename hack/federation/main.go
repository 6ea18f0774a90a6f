// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command federation builds test/cmd/federation and the binaries that the subcommand needs, and then executes it with
// the same arguments. It imports only the standard library, so that on a machine with empty caches it is compiled
// within seconds and reports the progress of the builds.
//
// "federation binaries" only builds, everything that a federation and its tests run. "federation tool NAME" builds one
// of these binaries and prints its path.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

const command = "./test/cmd/federation"

// karmadactl is Karmada's, with the addon.
const karmadactl = "./cmd/karmadactl"

// addOn are the commands of the add-on, and the command that enables it.
var addOn = []string{"./cmd/karmada-compute", "./cmd/karmada-compute-cell", karmadactl}

// own are tools that the repository builds from its own module.
var own = map[string]string{"karmadactl": karmadactl, "kubectl": "./hack/kubectl"}

// withAddOn are the subcommands that start a federation, and the add-on in it.
var withAddOn = []string{"demo", "hostile", "soak", "up"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	binary, err := run(ctx, os.Args[1:])
	if ctx.Err() != nil {
		err = errors.New("interrupted; finished builds are kept")
	}
	stop()
	if err == nil && binary != "" {
		err = syscall.Exec(binary, append([]string{binary}, os.Args[1:]...), os.Environ())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// run builds what a subcommand needs. It returns the program to become, or "" when the subcommand is done.
func run(ctx context.Context, args []string) (string, error) {
	b, err := builder()
	if err != nil {
		return "", err
	}
	switch {
	case len(args) == 2 && args[0] == "tool" && own[args[1]] != "":
		built, err := b.Own(ctx, own[args[1]])
		if err == nil {
			fmt.Println(built[args[1]])
		}
		return "", err
	case len(args) == 2 && args[0] == "tool":
		built, err := b.Build(ctx, args[1])
		if err == nil {
			fmt.Println(built[args[1]])
		}
		return "", err
	case len(args) > 0 && args[0] == "binaries":
		return "", buildTools(ctx, b, append(everything(ctx), ofNames(ctx, args)...))
	case len(args) > 0 && slices.Contains(withAddOn, args[0]):
		names, err := needed(ctx, args)
		if err == nil {
			err = buildTools(ctx, b, names)
		}
		if err != nil {
			return "", err
		}
		built, err := b.Own(ctx, append(ownFor(args), command)...)
		return built["federation"], err
	}
	built, err := b.Own(ctx, command)
	return built["federation"], err
}

// needed returns the names of the binaries that a subcommand with these arguments runs.
func needed(ctx context.Context, args []string) ([]string, error) {
	names := append(tools.Core(), ofDNS(args)...)
	if !slices.Contains(args, "--containers") {
		return names, nil
	}
	return append(names, tools.Containers()...), tools.BuildsContainers(ctx)
}

// ofNames returns the names of the binaries of the scenarios of names, if the arguments name the DNS: Gateways only run where
// nodes run containers.
func ofNames(ctx context.Context, args []string) []string {
	names := ofDNS(args)
	if len(names) > 0 && tools.BuildsContainers(ctx) == nil {
		names = append(names, tools.Traefik)
	}
	return names
}

// ofDNS returns the names of the binaries of the DNS of a federation, which take minutes to build, if the arguments
// name it.
func ofDNS(args []string) []string {
	if slices.Contains(args, "--dns") {
		return tools.DNS()
	}
	return nil
}

// ownFor returns the commands of the repository that a subcommand with these arguments runs. The commands of a released
// add-on are compiled already; karmadactl joins the cells.
func ownFor(args []string) []string {
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--released") }) {
		return []string{karmadactl}
	}
	return addOn
}

// everything returns the names of all binaries that this machine can build.
func everything(ctx context.Context) []string {
	if err := tools.BuildsContainers(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "No nodes that run containers, and no scenarios of them:", err)
		return tools.All()
	}
	return append(tools.All(), tools.Containers()...)
}

// builder returns a builder for the checkout of the working directory.
func builder() (*tools.Builder, error) {
	repository, err := tools.FindRepository()
	if err != nil {
		return nil, err
	}
	cache, err := tools.DefaultCache()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	return &tools.Builder{Repository: repository, Cache: cache, Printf: func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}}, nil
}

// buildTools builds the binaries that a federation runs, and meanwhile downloads the modules for the following builds.
func buildTools(ctx context.Context, b *tools.Builder, names []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { b.Prefetch(ctx, append(addOn, command)...) })
	_, err := b.Build(ctx, names...)
	if err != nil {
		cancel()
	}
	group.Wait()
	return err
}
