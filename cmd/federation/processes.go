// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/karmada-compute/karmada-compute/federation"
)

// miloCommand is the process that stands in for Milo; up starts it.
func miloCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:    "milo",
		Short:  "Serve the Milo stand-in of a federation",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := federation.Open(folder)
			if err != nil {
				return err
			}
			return f.ServeMilo(cmd.Context(), processLog())
		},
	}
	folderFlag(cmd, &folder)
	return cmd
}

// balancerCommand is the process in front of the add-on's replicas.
func balancerCommand() *cobra.Command {
	var balancer federation.Balancer
	var backends []string
	cmd := &cobra.Command{
		Use:    "balancer",
		Short:  "Spread TCP connections over backends",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			balancer.Log = processLog()
			for _, backend := range backends {
				address, health, _ := strings.Cut(backend, "=")
				balancer.Backends = append(balancer.Backends, &federation.Backend{Address: address, Health: health})
			}
			return balancer.Serve(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&balancer.Listen, "listen", "127.0.0.1:0", "address to accept connections on")
	cmd.Flags().StringSliceVar(&backends, "backend", nil, "address to pass them to, with =URL only while that answers 200; may be given several times")
	return cmd
}

// isolateCommand is what a cell's karmada-agent runs in.
func isolateCommand() *cobra.Command {
	var isolation federation.Isolation
	var inside bool
	cmd := &cobra.Command{
		Use:    "isolate [flags] -- command [arguments]",
		Short:  "Run a command in a network of its own",
		Args:   cobra.MinimumNArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			isolation.Log, isolation.Command = processLog(), args
			if inside {
				return isolation.RunInside(cmd.Context())
			}
			return isolation.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&isolation.Sockets, "sockets", ".", "folder for the sockets that connections are carried over")
	cmd.Flags().StringSliceVar(&isolation.Reach, "reach", nil, "address outside that the command reaches; may be given several times")
	cmd.Flags().StringSliceVar(&isolation.Serve, "serve", nil, "address of the command that is reached from outside; may be given several times")
	cmd.Flags().BoolVar(&inside, "inside", false, "this is the process in the new network")
	return cmd
}

// processLog logs to standard error, and has the Kubernetes client libraries
// log there too.
func processLog() *slog.Logger {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	klog.SetSlogLogger(log)
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	return log
}
