// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ui is the command ui: it serves a page on this machine, and keeps the state that the page shows.
package ui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/internal/listeners"
)

const (
	// pageWait is how long the page waits for a change in one request.
	pageWait = 20 * time.Second
	// pageFinish is how long requests in flight have when the command ends. They end with it.
	pageFinish = time.Second
)

// pageBounds limit the connections of the page. A browser has six, and keeps some that it does not use yet.
var pageBounds = listeners.Bounds{Unproved: 16, PerSource: 16, Proved: 32, First: 30 * time.Second}

// pageTimeouts are the timeouts of the page.
var pageTimeouts = listeners.Timeouts{Header: 30 * time.Second, Answer: pageWait + 30*time.Second, Idle: time.Minute}

// Command returns the command ui.
func Command(c *command.Command) *cobra.Command {
	port, namespace := 0, ""
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Serve a page on this machine with Workloads, cities, Instances, rollouts and events, as they change",
		Long: "Serve a read-only page at an address of this machine, until Ctrl-C. It reads with the credential of your kubeconfig and\n" +
			"shows what `list`, `tree`, `explain`, `rollout plan` and `events` show, and follows logs as `logs` does. The printed\n" +
			"address has a random token: with it, every user of this machine sees what you may see.",
		Example: c.Examples(`
  # Open the address that is printed
  %s ui
  # Through a tunnel: the port must be the same on both sides
  ssh -L 8001:127.0.0.1:8001 workstation %s ui --port 8001`),
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().IntVar(&port, "port", 0, "The port of the page at 127.0.0.1. 0: a free one.")
	if c.Operator {
		cmd.Short = "Serve a page on this machine with the replicas, cells, cities and repairs of the add-on, and a project"
		cmd.Long = "Serve a read-only page at an address of this machine, until Ctrl-C. It reads with the credential of your kubeconfig and\n" +
			"shows what `status` shows, every 10 s or, if the hub is large, less often, with the time of the read. With --project and\n" +
			"--milo-kubeconfig it also shows the Workloads of the project in a namespace, as they change. The printed address has a\n" +
			"random token: with it, every user of this machine sees what you may see."
		cmd.Example = "  # Open the address that is printed\n  karmadactl compute ui"
		cmd.Flags().StringVar(&namespace, "system-namespace", "karmada-system", "The namespace of the add-on's Leases on the hub.")
	}
	cmd.RunE = c.Run(func(ctx context.Context, _ []string) error { return serve(ctx, c, port, namespace) })
	return cmd
}

// serve serves the page until ctx ends. namespace is the add-on's on the hub, for operators.
func serve(ctx context.Context, c *command.Command, port int, namespace string) error {
	if c.Operator && (c.Project == "") != (c.MiloKubeconfig == "") {
		return errors.New("--project and --milo-kubeconfig belong together; where projects are namespaces of the hub, `kubectl compute ui` " +
			"with the kubeconfig of the hub and --namespace=<project> shows a project")
	}
	listener, err := listeners.Listen(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), pageBounds)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--port: another process listens on port %d; choose another port, or 0 for a free one", port)
	case err != nil:
		return fmt.Errorf("--port: %w", err)
	}
	_, served, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}

	boards, token := newBoards(ctx, c, namespace), rand.Text()
	server := listeners.NewServer(page.New(page.Options{Open: boards.of, Token: token, Port: served, Wait: pageWait}), pageTimeouts)
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	if _, err := fmt.Fprintf(c.Streams.Out, "http://127.0.0.1:%s/%s/\n", served, token); err != nil {
		return errors.Join(err, listener.Close())
	}
	if _, err := fmt.Fprintln(c.Streams.ErrOut, "Open the address in a browser on this machine. Ctrl-C stops the page."); err != nil {
		return errors.Join(err, listener.Close())
	}
	// The first page finds its state read.
	_, leave := boards.of("")
	leave()
	if err := listeners.Serve(ctx, server, listener, pageFinish); err != nil {
		return err
	}
	return context.Cause(ctx)
}
