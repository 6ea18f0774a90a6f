// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/federation"
	"github.com/karmada-compute/karmada-compute/webhook"
)

const (
	oneCore = "GOMAXPROCS=1"
	// caller is the user that calls the webhooks straight.
	caller = federation.Admin
	// replica is the name of the measured process.
	replica = "karmada-compute-0"
	agent   = "karmada-compute-cell"
)

type throughputOptions struct {
	clients          int
	duration, warmup time.Duration
}

func throughputCommand() *cobra.Command {
	var o throughputOptions
	cmd := &cobra.Command{
		Use:   "throughput",
		Short: "Measure how many admission requests a replica answers on one core",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.clients < 1 || o.duration <= 0 || o.warmup < 0 {
				return fmt.Errorf("--clients=%d, --duration=%s, --warmup=%s: use values above 0", o.clients, o.duration, o.warmup)
			}
			return runThroughput(cmd, o)
		},
	}
	cmd.Flags().IntVar(&o.clients, "clients", 8, "how many clients with a connection each call at once")
	cmd.Flags().DurationVar(&o.duration, "duration", 10*time.Second, "how long each target is called")
	cmd.Flags().DurationVar(&o.warmup, "warmup", 2*time.Second, "how long each target is called before the measurement")
	return cmd
}

func runThroughput(cmd *cobra.Command, o throughputOptions) error {
	report := newReport(cmd, "Requests a second of one replica on one core",
		"request", "requests/s", "ratio to the floor", "p50", "p99", "cores used", "requests per CPU second")
	t := &throughput{options: o, progress: newProgress(cmd)}
	if err := withStage(cmd.Context(), cmd.ErrOrStderr(), func(ctx context.Context, s *stage) error {
		targets, err := t.prepare(ctx, s)
		if err != nil {
			return err
		}
		return withEcho(ctx, cmd.ErrOrStderr(), func(address string, pid int) error {
			// The floor echoes the same body.
			floor := targets[0]
			floor.name, floor.url, floor.pid, floor.answer = "floor: bare TLS echo", "https://"+address, pid, floor.body
			return t.measure(ctx, append([]target{floor}, targets...))
		})
	}); err != nil {
		return err
	}
	for i, r := range t.results {
		report.add(t.names[i], fmt.Sprintf("%.0f", r.perSecond), ratio(r.perSecond, t.results[0].perSecond),
			millis(r.p50), millis(r.p99), fmt.Sprintf("%.2f", r.cores), fmt.Sprintf("%.0f", r.perCPUSecond()))
	}
	report.note("%d keep-alive clients on HTTP/1.1 over TLS for %s, after %s as a warm-up, straight to the replica with the certificate of %s.", o.clients, o.duration, o.warmup, caller)
	report.note("Floor: the same clients and body against a server in Go that sends back what it gets. It and the replica run with %s; the replica's controllers run beside its webhooks.", oneCore)
	report.note("A create asks whether the consumer may use the network, an update that adds a city does not; both are answered from caches that are filled again every 5 s.")
	report.note("API servers, Milo's router and the clients share the machine's CPUs with the replica. Less than 1 core used means that the replica waited for them; the last column is what it would answer if it did not.")
	return report.write(cmd.OutOrStdout())
}

// throughput is one run.
type throughput struct {
	options  throughputOptions
	progress *progress
	names    []string
	results  []result
}

// prepare restarts the replica on one core and returns the targets.
func (t *throughput) prepare(ctx context.Context, s *stage) ([]target, error) {
	t.progress.printf("restarting the replica with %s", oneCore)
	if err := s.restartOnOneCore(ctx); err != nil {
		return nil, err
	}
	address, err := s.addOn.WebhookAddress(0)
	if err != nil {
		return nil, err
	}
	as, err := s.federation.Config("milo", caller)
	if err != nil {
		return nil, err
	}
	// The replica was started by this process, so its certificate is not verified. The client certificate authenticates us.
	config := &rest.Config{TLSClientConfig: rest.TLSClientConfig{Insecure: true, CertData: as.CertData, KeyData: as.KeyData}}
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("use the certificate of %s: %w", caller, err)
	}
	create, createErr := createReview()
	scaleOut, scaleOutErr := scaleOutReview()
	if err := errors.Join(createErr, scaleOutErr); err != nil {
		return nil, err
	}
	base := target{url: "https://" + address + webhook.ValidatePath + "?timeout=5s", tls: tlsConfig, answer: []byte(`"allowed":true`), pid: s.pid(replica)}
	targets := []target{base, base}
	targets[0].name, targets[0].body = "validate a create", create
	targets[1].name, targets[1].body = "validate an update", scaleOut
	// Milo's stand-in copies the consumer's rights to the project a moment later.
	for i := range targets {
		if err := eventually(ctx, func(ctx context.Context) error {
			_, err := hammer(ctx, targets[i], 1, time.Millisecond)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return targets, nil
}

// measure calls the targets one after the other.
func (t *throughput) measure(ctx context.Context, targets []target) error {
	for _, target := range targets {
		t.progress.printf("calling for %s: %s", t.options.warmup+t.options.duration, target.name)
		if _, err := hammer(ctx, target, t.options.clients, t.options.warmup); err != nil {
			return err
		}
		r, err := hammer(ctx, target, t.options.clients, t.options.duration)
		if err != nil {
			return err
		}
		t.names, t.results = append(t.names, target.name), append(t.results, r)
	}
	return nil
}

// restartOnOneCore has the replica use one core.
func (s *stage) restartOnOneCore(ctx context.Context) error {
	return s.addOn.Configure(ctx, func(o *federation.AddOnOptions) { o.Env = []string{oneCore} })
}

// pid is the id of a process of the federation or of the replica, or 0.
func (s *stage) pid(name string) int {
	if name == replica {
		id, err := s.addOn.ProcessID(0)
		if err != nil {
			return 0
		}
		return id
	}
	if name == agent {
		return s.agentPID
	}
	for _, process := range s.federation.Status() {
		if process.Name == name && process.Running {
			return process.PID
		}
	}
	return 0
}
