// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/federation"
)

const (
	// talker writes a line at an interval, and long writes a long log at once.
	talker, long = "talker", "long"
	// aggregated is the process of Karmada that carries the streams from the hub to cells.
	aggregated = "karmada-aggregated-apiserver"
)

type sessionsOptions struct {
	n, mib, streams int
	lines, during   time.Duration
}

func sessionsCommand() *cobra.Command {
	var o sessionsOptions
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Measure logs through sessions: the first byte, the rate, and many that are followed at once",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.n < 1 || o.mib < 1 || o.streams < 1 || o.lines <= 0 || o.during <= 0 {
				return fmt.Errorf("--n=%d, --mib=%d, --streams=%d, --lines=%s, --during=%s: use numbers above 0", o.n, o.mib, o.streams, o.lines, o.during)
			}
			return runSessions(cmd, o)
		},
	}
	cmd.Flags().IntVar(&o.n, "n", 40, "how many logs are read for the time of the first byte")
	cmd.Flags().IntVar(&o.mib, "mib", 200, "size of the long log")
	cmd.Flags().IntVar(&o.streams, "streams", 500, "how many logs are followed at once")
	cmd.Flags().DurationVar(&o.lines, "lines", 500*time.Millisecond, "interval of the lines of a log that is followed")
	cmd.Flags().DurationVar(&o.during, "during", 20*time.Second, "how long they are followed")
	return cmd
}

func runSessions(cmd *cobra.Command, o sessionsOptions) error {
	first := newReport(cmd, "The first byte of a log", "", "p50", "p95", "p50 to floor", "p95 to floor")
	rate := newReport(cmd, "The rate of a long log", "", "MiB", "took", "MiB/s", "to floor")
	many := newReport(cmd, "Logs that are followed at once, per stream", "process", "streams", "memory", "CPU a second", "memory to floor", "CPU to floor")
	progress := newProgress(cmd)
	err := withStage(cmd.Context(), cmd.ErrOrStderr(), func(ctx context.Context, s *stage) error {
		l, err := s.openLogs(ctx, o)
		if err != nil {
			return err
		}
		progress.printf("reading %d logs of each kind", o.n)
		if err := l.firstBytes(ctx, o.n, first); err != nil {
			return err
		}
		progress.printf("reading %d MiB of each kind", o.mib)
		if err := l.rates(ctx, rate); err != nil {
			return err
		}
		progress.printf("following %d logs", o.streams)
		return l.follow(ctx, o, many, progress)
	}, federation.Cell{Name: cell, City: city, Containers: 1})
	first.note("Floor: kubectl logs --tail=1 against the cell. Ours: kubectl compute logs --tail=1 against the project. Each is a process of its own, in turn.")
	rate.note("The same commands, without --tail.")
	many.note("Floor: Karmada's aggregated API server, which carries the same streams. Each has a line every %s.", o.lines)
	// Print the measurements before a failure, too.
	for _, table := range []*report{first, rate, many} {
		err = errors.Join(err, table.write(cmd.OutOrStdout()))
	}
	return err
}

// logs are two Instances with logs, and the commands that read them.
type logs struct {
	stage       *stage
	environment []string
	// hubNamespace has the Pods in the cell.
	hubNamespace string
	uid          map[string]types.UID
}

// openLogs runs the Instances, and waits until the long log is written.
func (s *stage) openLogs(ctx context.Context, o sessionsOptions) (*logs, error) {
	if err := s.federation.BuildDocumented(ctx); err != nil {
		return nil, err
	}
	environment, err := s.federation.Environment(project, consumer)
	if err != nil {
		return nil, err
	}
	l := &logs{stage: s, environment: os.Environ(), uid: map[string]types.UID{}}
	for _, name := range []string{"PATH", "KUBECONFIG", "CELL"} {
		l.environment = append(l.environment, name+"="+environment[name])
	}
	c, err := s.client(plane, consumer)
	if err != nil {
		return nil, err
	}
	for name, arg := range map[string]string{talker: "--log=" + o.lines.String(), long: fmt.Sprintf("--fill=%d", o.mib)} {
		workload, err := containerWorkload(name, arg)
		if err != nil {
			return nil, err
		}
		if _, err := c.Resource(workloadResource).Namespace(namespace).Create(ctx, workload, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
		if err := eventually(ctx, func(ctx context.Context) error {
			shown, err := c.Resource(instanceResource).Namespace(namespace).Get(ctx, instanceOf(name), metav1.GetOptions{})
			if err != nil {
				return err
			}
			if readyInstance(shown) == "" {
				return fmt.Errorf("Instance %s is not Ready", shown.GetName())
			}
			l.uid[name] = shown.GetUID()
			return nil
		}); err != nil {
			return nil, err
		}
		deployment, err := c.Resource(v1alpha.GroupVersion.WithResource("workloaddeployments")).Namespace(namespace).Get(ctx, name+"-main-dfw", metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		l.hubNamespace = deployment.GetAnnotations()[v1alpha.AnnotationHubNamespace]
	}
	return l, nil
}

func instanceOf(workload string) string { return workload + "-main-dfw-0" }

// containerWorkload is a Workload with one Instance that runs the test image, and is Ready when it serves.
func containerWorkload(name, arg string) (*unstructured.Unstructured, error) {
	workload, err := newWorkload(name)
	if err != nil {
		return nil, err
	}
	return workload, unstructured.SetNestedSlice(workload.Object, []any{map[string]any{
		"name": "app", "image": federation.TestImage, "args": []any{arg},
		"ports":          []any{map[string]any{"name": "http", "port": int64(8080)}},
		"readinessProbe": map[string]any{"httpGet": map[string]any{"path": "/ready", "port": "http"}, "periodSeconds": int64(1)},
	}}, "spec", "template", "spec", "runtime", "sandbox", "containers")
}

// floor and ours are the commands that read the log of an Instance.
func (l *logs) floor(workload string, more ...string) []string {
	return append([]string{"kubectl", "--kubeconfig=$CELL", "--namespace=" + l.hubNamespace, "logs", instanceOf(workload)}, more...)
}

func (l *logs) ours(workload string, more ...string) []string {
	return append([]string{"kubectl", "compute", "logs", instanceOf(workload)}, more...)
}

// readers are the commands in the tables.
var readers = []string{"floor: kubectl logs", "kubectl compute logs"}

// reading is the result of a command that reads a log.
type reading struct {
	first, all time.Duration
	bytes      int64
}

// read runs a command until it ends.
func (l *logs) read(ctx context.Context, args []string) (reading, error) {
	// The shell expands the variables, and is replaced by the command.
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+strings.Join(args, " ")) //nolint:gosec // the benchmark's own
	cmd.Env, cmd.Stderr = l.environment, l.stage.out
	out, err := cmd.StdoutPipe()
	if err != nil {
		return reading{}, fmt.Errorf("read %v: %w", args, err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return reading{}, fmt.Errorf("run %v: %w", args, err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		return reading{}, fmt.Errorf("%v prints nothing: %w, %w", args, err, cmd.Wait())
	}
	r := reading{first: time.Since(began)}
	rest, err := io.Copy(io.Discard, out)
	if err != nil {
		return r, fmt.Errorf("read %v: %w", args, err)
	}
	if err := cmd.Wait(); err != nil {
		return r, fmt.Errorf("%v: %w", args, err)
	}
	r.all, r.bytes = time.Since(began), rest+1
	return r, nil
}

// firstBytes reads n logs with each command, in turn.
func (l *logs) firstBytes(ctx context.Context, n int, into *report) error {
	var floor, ours samples
	const warmup = 3
	for i := range n + warmup {
		for to, args := range map[*samples][]string{&floor: l.floor(talker, "--tail=1"), &ours: l.ours(talker, "--tail=1")} {
			r, err := l.read(ctx, args)
			if err != nil {
				return err
			}
			if i >= warmup {
				to.add(r.first)
			}
		}
	}
	base, with := floor.summary(), ours.summary()
	for i, of := range []summary{base, with} {
		into.add(readers[i], millis(of.p50), millis(of.p95), ratio(of.p50.Seconds(), base.p50.Seconds()), ratio(of.p95.Seconds(), base.p95.Seconds()))
	}
	return nil
}

// rates reads the long log with each command, three times.
func (l *logs) rates(ctx context.Context, into *report) error {
	const mib, times = 1 << 20, 3
	var total [2]reading
	for range times {
		for i, args := range [][]string{l.floor(long), l.ours(long)} {
			r, err := l.read(ctx, args)
			if err != nil {
				return err
			}
			total[i].all, total[i].bytes = total[i].all+r.all, total[i].bytes+r.bytes
		}
	}
	perSecond := func(r reading) float64 { return float64(r.bytes) / mib / r.all.Seconds() }
	for i, r := range total {
		into.add(readers[i], fmt.Sprint(r.bytes/times/mib), (r.all / times).Round(time.Millisecond).String(), fmt.Sprintf("%.1f", perSecond(r)), ratio(perSecond(r), perSecond(total[0])))
	}
	return nil
}

// follow follows logs at once.
func (l *logs) follow(ctx context.Context, o sessionsOptions, into *report, progress *progress) error {
	config, err := l.stage.federation.Config(plane, consumer)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := v1alpha.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("make a client for %s: %w", plane, err)
	}
	return (&followers{logs: l, project: &live.Plane{Config: config, Client: c}}).run(ctx, o, into, progress)
}
