// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/stream"
)

// streamsOfSession is how many streams of one session a replica carries.
const streamsOfSession = 32

// followers follow the log of one Instance in many streams, several in each session.
type followers struct {
	logs    *logs
	project *live.Plane
	// begun is how many have got something.
	begun atomic.Int64
}

// usage is the memory and CPU time of a process.
type usage struct {
	memory int
	cpu    time.Duration
}

// carriers are the processes that carry streams, the floor first.
var carriers = []string{aggregated, replica}

func (f *followers) run(ctx context.Context, o sessionsOptions, into *report, progress *progress) error {
	atRest, err := f.usage()
	if err != nil {
		return err
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	group, groupCtx := errgroup.WithContext(following)
	for opened := 0; opened < o.streams; {
		session, err := f.open(ctx)
		if err != nil {
			return err
		}
		defer session.Close()
		more := min(o.streams-opened, streamsOfSession)
		for range more {
			group.Go(func() error {
				err := session.Logs(groupCtx, &firstWrite{note: func() { f.begun.Add(1) }})
				if following.Err() == nil {
					return errors.Join(errors.New("a log that is followed has ended"), err)
				}
				return nil
			})
		}
		opened += more
		// Too many requests at once would wait for each other longer than the replica lets them wait.
		if err := f.awaitBegun(groupCtx, opened); err != nil {
			stop()
			return errors.Join(err, group.Wait())
		}
	}
	progress.printf("measuring %d logs for %s", o.streams, o.during)
	begin, err := f.usage()
	if err != nil {
		return err
	}
	timer := time.NewTimer(o.during)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-groupCtx.Done():
		return group.Wait()
	}
	end, err := f.usage()
	if err != nil {
		return err
	}
	stop()
	f.add(into, o, [3][]usage{atRest, begin, end})
	return group.Wait()
}

// awaitBegun waits until this number of logs has begun.
func (f *followers) awaitBegun(ctx context.Context, wanted int) error {
	return eventually(ctx, func(context.Context) error {
		if begun := f.begun.Load(); begun < int64(wanted) {
			return fmt.Errorf("%d of %d logs have begun", begun, wanted)
		}
		return nil
	})
}

// open opens a session whose log is followed.
func (f *followers) open(ctx context.Context) (*stream.Session, error) {
	return stream.Open(ctx, f.project, &v1alpha.InstanceSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "bench-"},
		Spec: v1alpha.InstanceSessionSpec{
			Type: v1alpha.SessionLogs, InstanceRef: v1alpha.SessionInstanceReference{Name: instanceOf(talker), UID: f.logs.uid[talker]},
			Logs: &v1alpha.SessionLogOptions{Follow: true, TailLines: new(int64(1))},
		},
	})
}

// usage returns the memory and CPU time of the carriers.
func (f *followers) usage() ([]usage, error) {
	var all []usage
	for _, name := range carriers {
		process, err := procfs.NewProc(f.logs.stage.pid(name))
		if err != nil {
			return nil, fmt.Errorf("find process %s: %w", name, err)
		}
		stat, err := process.Stat()
		if err != nil {
			return nil, fmt.Errorf("read what %s uses: %w", name, err)
		}
		all = append(all, usage{stat.ResidentMemory(), time.Duration(stat.CPUTime() * float64(time.Second))})
	}
	return all, nil
}

// add adds the rows of usages at rest, and at the begin and the end of the measurement.
func (f *followers) add(into *report, o sessionsOptions, at [3][]usage) {
	memory := func(i int) float64 { return float64(at[2][i].memory-at[0][i].memory) / 1024 / float64(o.streams) }
	cpu := func(i int) float64 {
		return (at[2][i].cpu - at[1][i].cpu).Seconds() / o.during.Seconds() / float64(o.streams)
	}
	for i, name := range carriers {
		into.add(name, fmt.Sprint(o.streams), fmt.Sprintf("%.0f KiB", memory(i)), fmt.Sprintf("%.2f ms", cpu(i)*1000), ratio(memory(i), memory(0)), ratio(cpu(i), cpu(0)))
	}
}

// firstWrite notes the first write.
type firstWrite struct {
	note  func()
	noted bool
}

// Write discards what it gets.
func (w *firstWrite) Write(p []byte) (int, error) {
	if !w.noted {
		w.noted = true
		w.note()
	}
	return len(p), nil
}
