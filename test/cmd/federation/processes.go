// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// miloCommand runs the Milo stand-in; up starts it as a process.
func miloCommand() *cobra.Command {
	return onFederation(&cobra.Command{Use: "milo", Short: "Serve the Milo stand-in of a federation", Args: cobra.NoArgs, Hidden: true},
		func(cmd *cobra.Command, f *federation.Federation, _ []string) error {
			return f.ServeMilo(cmd.Context(), processLog())
		})
}

// keepCommand runs the keeper, which stops a federation when its program ends.
func keepCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:    "keep",
		Short:  "Stop a federation when standard input ends",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The keeper ends only after the federation's program, not on a signal.
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			f, err := federation.Open(folder)
			if err != nil {
				return err
			}
			return f.Keep(cmd.InOrStdin())
		},
	}
	folderFlag(cmd, &folder)
	return cmd
}

// balancerCommand runs the balancer in front of the add-on's replicas.
func balancerCommand() *cobra.Command {
	var balancer federation.Balancer
	var kubeconfig, service string
	cmd := &cobra.Command{
		Use:    "balancer",
		Short:  "Distribute TCP connections over backends",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			balancer.Log = processLog()
			if service != "" {
				var err error
				if balancer.Service, err = serviceOf(kubeconfig, service, balancer.Log); err != nil {
					return err
				}
			}
			return balancer.Serve(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&balancer.Listen, "listen", "127.0.0.1:0", "address to accept connections on")
	cmd.Flags().StringSliceVar(&balancer.Backends, "backend", nil, "address of a backend (repeatable)")
	cmd.Flags().StringVar(&service, "service", "",
		"NAMESPACE/NAME:PORT, the name of the port, of a Service whose ready endpoints, Pods on nodes of processes, are the backends")
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the Service's cluster")
	return cmd
}

// loadBalancersCommand runs the load balancers of a cell.
func loadBalancersCommand() *cobra.Command {
	balancers := federation.LoadBalancers{Routed: true}
	var kubeconfig string
	cmd := &cobra.Command{
		Use:    "load-balancers",
		Short:  "Give the Services of type LoadBalancer of a cell addresses of this machine",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if balancers.Config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
				return fmt.Errorf("--kubeconfig: %w", err)
			}
			balancers.Log = processLog()
			return balancers.Serve(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the cell")
	cmd.Flags().IntVar(&balancers.Port, "port", 0, "reserved port, which determines the range of addresses")
	cmd.Flags().BoolVar(&balancers.Reachable, "reachable", false, "give this machine a route, so that the addresses answer on it (needs root)")
	return cmd
}

func serviceOf(kubeconfig, name string, log *slog.Logger) (*federation.Service, error) {
	namespace, rest, ok := strings.Cut(name, "/")
	service, port, found := strings.Cut(rest, ":")
	if !ok || !found || namespace == "" || service == "" || port == "" {
		return nil, fmt.Errorf("--service %q: use NAMESPACE/NAME:PORT", name)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	return &federation.Service{Config: config, Namespace: namespace, Name: service, Port: port, Log: log}, nil
}

// isolateCommand runs a cell's karmada-agent in a network namespace.
func isolateCommand() *cobra.Command {
	var isolation federation.Isolation
	var inside bool
	cmd := &cobra.Command{
		Use:    "isolate [flags] -- command [arguments]",
		Short:  "Run a command in its own network namespace",
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
	cmd.Flags().StringVar(&isolation.Sockets, "sockets", ".", "folder of the Unix sockets over which connections are forwarded")
	cmd.Flags().StringSliceVar(&isolation.Reach, "reach", nil, "address outside that the command can connect to (repeatable)")
	cmd.Flags().StringSliceVar(&isolation.Serve, "serve", nil, "address of the command that accepts connections from outside (repeatable)")
	cmd.Flags().BoolVar(&isolation.Machine, "machine", false,
		"as root, with mount, PID, IPC and UTS namespaces too, and a link to this machine")
	cmd.Flags().BoolVar(&inside, "inside", false, "run as the process inside the new network namespace")
	return cmd
}

// processLog returns a logger to standard error, and sets it as the logger of the Kubernetes client libraries.
func processLog() *slog.Logger {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	klog.SetSlogLogger(log)
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	return log
}
