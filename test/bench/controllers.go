// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

// hubNamespace holds Leases and marks.
const hubNamespace = "karmada-system"

// leaseMapper maps Leases without discovery.
func leaseMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(coordinationv1.SchemeGroupVersion.WithKind("Lease"), meta.RESTScopeNamespace)
	return mapper
}

type controllersOptions struct {
	projects, used int
	lease          time.Duration
	patience       time.Duration
}

func controllersCommand() *cobra.Command {
	var o controllersOptions
	cmd := &cobra.Command{
		Use:   "controllers",
		Short: "Measure two replicas with controllers, of which one is killed, when few of many projects have Workloads",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.used < 1 || o.projects < o.used {
				return fmt.Errorf("--projects and --used: %d of %d projects cannot have Workloads", o.used, o.projects)
			}
			return runControllers(cmd, &o)
		},
	}
	cmd.Flags().IntVar(&o.projects, "projects", 10000, "how many projects Milo has")
	cmd.Flags().IntVar(&o.used, "used", 100, "how many of them have a Workload")
	cmd.Flags().DurationVar(&o.lease, "lease-duration", 15*time.Second, "as of karmada-compute")
	cmd.Flags().DurationVar(&o.patience, "patience", 15*time.Minute, "how long the replicas may take to engage their projects")
	return cmd
}

func runControllers(cmd *cobra.Command, o *controllersOptions) (err error) {
	report := newReport(cmd, "Two replicas with controllers, when few of many projects have Workloads",
		"engaged", "projects", "with a Workload", "all engaged after", "RSS of each", "watches", "requests", "takeover after a kill", "RSS of the other then")
	folder, err := os.MkdirTemp("", "bench-controllers-")
	if err != nil {
		return fmt.Errorf("no folder for Milo's CA, set TMPDIR: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	progress := newProgress(cmd)
	for _, all := range []bool{true, false} {
		t := &takeover{controllersOptions: o, all: all, caFile: filepath.Join(folder, "ca.crt"), cmd: cmd}
		progress.printf("%s", t.name())
		if err := t.run(cmd.Context()); err != nil {
			return fmt.Errorf("%s: %w", t.name(), err)
		}
		report.add(t.row()...)
	}
	report.note("Each replica is a process with milo.Provider, milo.Coordinator and the marks, as the add-on has them, and informers for Workload, WorkloadDeployment, Instance and LocationBinding in each engaged project. Controllers are not in it: what they need grows with what runs.")
	report.note("A cache per project is --project-idle-after=0. Without Workloads a project is not watched. Nothing is swept here (--project-sweep).")
	report.note("Milo and the hub are one process of their own, which answers at once. Watches include those of the Projects and of the marks, one each per replica; requests are those to Milo until all projects were engaged.")
	report.note("The takeover is from the kill of one replica until the other one has engaged all projects. It begins when the Lease of the killed one has ended, 13 s of the default --lease-duration after its last renewal.")
	return report.write(cmd.OutOrStdout())
}

// takeover is a run of two replicas, of which one is killed.
type takeover struct {
	*controllersOptions
	all    bool
	caFile string
	cmd    *cobra.Command

	ready, taken time.Duration
	rss          [2]uint64
	after        uint64
	load         miloLoad
	// engaged is how many projects each replica has engaged.
	engaged [2]int
}

func (t *takeover) name() string {
	if t.all {
		return "a cache per project"
	}
	return "projects with Workloads"
}

// want is how many projects are to be engaged.
func (t *takeover) want() int {
	if t.all {
		return t.projects
	}
	return t.used
}

func (t *takeover) row() []string {
	return []string{
		t.name(), strconv.Itoa(t.projects), strconv.Itoa(t.used), fmt.Sprintf("%.1f s", t.ready.Seconds()),
		mebibytes(t.rss[0]) + ", " + mebibytes(t.rss[1]), strconv.FormatInt(t.load.Watches, 10), strconv.FormatInt(t.load.Requests, 10),
		fmt.Sprintf("%.1f s", t.taken.Seconds()), mebibytes(t.after),
	}
}

func (t *takeover) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	fake, err := startChild(ctx, t.cmd.ErrOrStderr(), nil, "milo",
		"--projects="+strconv.Itoa(t.projects), "--used="+strconv.Itoa(t.used), "--ca="+t.caFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fake.kill()) }()
	address, err := fake.expect(ctx, "listening", nil)
	if err != nil {
		return err
	}
	began := time.Now()
	var replicas [2]*child
	for i := range replicas {
		if replicas[i], err = t.start(ctx, address, i); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, replicas[i].kill()) }()
	}
	counts := followEngaged(ctx, replicas[:])
	if err := t.await(ctx, counts, func(engaged [2]int) bool {
		return engaged[0]+engaged[1] == t.want() && engaged[0] > 0 && engaged[1] > 0
	}); err != nil {
		return err
	}
	t.ready = time.Since(began)
	if err := t.measure(ctx, fake, replicas); err != nil {
		return err
	}
	killed := time.Now()
	if err := replicas[0].kill(); err != nil {
		return err
	}
	if err := t.await(ctx, counts, func(engaged [2]int) bool { return engaged[1] == t.want() }); err != nil {
		return err
	}
	t.taken = time.Since(killed)
	held, err := memoryOf(replicas[1].pid())
	t.after = held.rss
	return err
}

func (t *takeover) start(ctx context.Context, address string, i int) (*child, error) {
	return startChild(ctx, t.cmd.ErrOrStderr(), nil, controllersReplica, "--milo="+address, "--ca="+t.caFile,
		"--name=replica-"+strconv.Itoa(i), "--all="+strconv.FormatBool(t.all), "--lease-duration="+t.lease.String())
}

// measure reads the memory of both replicas and the load of Milo.
func (t *takeover) measure(ctx context.Context, fake *child, replicas [2]*child) error {
	for i, replica := range replicas {
		held, err := memoryOf(replica.pid())
		if err != nil {
			return err
		}
		t.rss[i] = held.rss
	}
	if err := fake.tell("load"); err != nil {
		return err
	}
	return decodeLine(ctx, fake, "load", &t.load)
}

// count is how many projects a replica has engaged.
type count struct{ replica, engaged int }

// followEngaged has what replicas say. A replica that was killed says nothing more.
func followEngaged(ctx context.Context, replicas []*child) <-chan count {
	counts := make(chan count)
	for i, replica := range replicas {
		go func() {
			for {
				text, err := replica.expect(ctx, "engaged", nil)
				if err != nil {
					return
				}
				engaged, err := strconv.Atoi(text)
				if err != nil {
					return
				}
				select {
				case counts <- count{i, engaged}:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return counts
}

// await waits for counts.
func (t *takeover) await(ctx context.Context, counts <-chan count, done func(engaged [2]int) bool) error {
	for !done(t.engaged) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s, engaged are %v projects: %w", t.patience, t.engaged, context.Cause(ctx))
		case c := <-counts:
			t.engaged[c.replica] = c.engaged
		}
	}
	return nil
}
