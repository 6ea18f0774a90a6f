// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/planes"
)

const (
	// sampleInterval is the interval between two comparisons of the planes.
	sampleInterval = 5 * time.Second
	// superviseInterval bounds the delay before a process that ended by itself is restarted.
	superviseInterval = 2 * time.Second
	// reportInterval is the interval between two reports of the progress.
	reportInterval = 20 * time.Second
	// agreements is how many comparisons in a row must find no disagreement.
	agreements = 2
	// printed is the maximum number of disagreements in a report.
	printed = 12
)

// Soak is one soak of a federation with the add-on. Its projects have the namespace and a consumer who may write
// Workloads in it and use the cities.
type Soak struct {
	Options
	*planes.Planes
	AddOn *federation.AddOn
	// Namespace of the Workloads, in every project. It must not contain other objects. Without Milo the Workloads are in
	// the namespaces that the projects are.
	Namespace string
	// Consumer is the user that writes Workloads.
	Consumer string
	// Patience is how long after the last fault the planes may disagree.
	Patience time.Duration
	// Out receives the progress.
	Out io.Writer
	// Clock is the clock. Nil: the real one.
	Clock clock.Clock

	processes *Processes
	collector *collector
	consumer  *consumer
	begin     time.Time

	mu       sync.Mutex // guards what follows
	ledger   ledger
	standing []Standing
	// sampled is the last time when all planes answered, and clean the number of comparisons in a row without a
	// disagreement.
	sampled time.Time
	clean   int
	killed  []string
	ended   []string
	// excused is how many requests may fail for other reasons than killed processes.
	excused int
}

// Run executes the plan of the seed and waits until project, hub and cells agree, or patience ends: Result.Err reports
// whether they do. The error is about a failure of the soak itself; killed processes are running again in any case. The
// Workloads are not deleted: Remove deletes them.
func (s *Soak) Run(ctx context.Context) (*Result, error) {
	plan, err := s.prepare(ctx)
	if err != nil {
		return nil, err
	}
	s.printf("seed %d: %d operations on %d Workloads, %d faults, in %s", s.Seed, len(plan.Operations), s.Workloads,
		len(plan.Faults), s.Duration)
	return s.during(ctx, plan, func(ctx context.Context) error { return s.fail(ctx, plan.Faults) })
}

// during disturbs the federation while the consumers change their Workloads, and waits until all planes agree.
func (s *Soak) during(ctx context.Context, plan Plan, disturb func(context.Context) error) (*Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()
	background.Go(func() { s.watch(ctx) })
	background.Go(func() { s.supervise(ctx) })
	background.Go(func() { s.consumer.run(ctx, s.begin, plan.Operations) })
	if err := disturb(ctx); err != nil {
		return nil, err
	}
	if !sleepUntil(ctx, s.Clock, s.begin.Add(s.Duration)) {
		return nil, context.Cause(ctx)
	}
	last := s.Clock.Now()
	s.printf("the last fault is over; waiting until project, hub and cells agree")
	settled, err := s.settle(ctx, last)
	if err != nil {
		return nil, err
	}
	return s.result(settled), nil
}

// Remove deletes the Workloads of a soak and waits until all planes are empty.
func (s *Soak) Remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	if err := s.consumer.removeAll(ctx); err != nil {
		return err
	}
	for {
		found, err := s.compare(ctx, func(string) map[string]*Wanted { return nil })
		if err == nil && len(found) == 0 {
			return nil
		}
		if !sleepUntil(ctx, s.Clock, s.Clock.Now().Add(time.Second)) {
			return errors.Join(fmt.Errorf("%d objects are left after all Workloads were deleted: %v", len(found), found), err)
		}
	}
}

func (s *Soak) prepare(ctx context.Context) (Plan, error) {
	if s.Clock == nil {
		s.Clock = clock.RealClock{}
	}
	s.processes = NewProcesses(s.Federation, s.AddOn)
	plan, err := s.plan()
	if err != nil {
		return plan, err
	}
	if err := s.connect(ctx); err != nil {
		return plan, err
	}
	err = s.consumer.awaitAdmitted(ctx, plan.Operations)
	s.begin = s.Clock.Now()
	return plan, err
}

// connect creates the clients of the consumer and of all planes. The soak begins.
func (s *Soak) connect(ctx context.Context) (err error) {
	if s.collector, err = newCollector(ctx, s); err != nil {
		return err
	}
	s.begin = s.Clock.Now()
	s.consumer = &consumer{
		namespaceIn: s.namespaceIn, projects: map[string]client.Client{}, clock: s.Clock, printf: s.printf,
		wanted: map[Name]*Wanted{}, pending: map[Name]int{}, setBack: map[string]bool{},
	}
	for _, project := range s.Projects {
		s.consumer.projects[project] = s.Client("project/"+project, s.Consumer)
	}
	return nil
}

// namespaceIn returns the namespace of the Workloads in a project: the same in every project, or the project itself.
func (s *Soak) namespaceIn(project string) string {
	if s.Planes != nil && s.Federation.WithoutMilo() {
		return project
	}
	return s.Namespace
}

// plan returns a plan for the processes that the patterns select.
func (s *Soak) plan() (Plan, error) {
	o, err := s.Options, error(nil)
	if len(o.Processes) == 0 {
		o.Processes = DefaultProcesses
	}
	if o.Processes, err = Match(o.Processes, s.processes.Names()); err != nil {
		return Plan{}, err
	}
	return NewPlan(o)
}

// fail kills one process after the other and restarts each.
func (s *Soak) fail(ctx context.Context, faults []Fault) error {
	for _, fault := range faults {
		if !sleepUntil(ctx, s.Clock, s.begin.Add(fault.At)) {
			return context.Cause(ctx)
		}
		s.printf("kill %s for %.1f s", fault.Process, fault.Down.Seconds())
		killed := s.processes.Kill(ctx, fault.Process)
		if errors.Is(killed, federation.ErrNotRunning) {
			// The process had ended by itself, and is being restarted: there is no process to kill.
			s.printf("%v", killed)
			killed = nil
		}
		sleepUntil(ctx, s.Clock, s.Clock.Now().Add(fault.Down))
		// The process must run again even if ctx has ended.
		if err := errors.Join(killed, s.processes.Start(context.WithoutCancel(ctx), fault.Process)); err != nil {
			return fmt.Errorf("fault of %s: %w", fault.Process, err)
		}
		s.mu.Lock()
		s.killed = append(s.killed, fault.Process)
		s.mu.Unlock()
	}
	return nil
}

// supervise restarts processes that end without being killed, until ctx ends.
func (s *Soak) supervise(ctx context.Context) {
	for sleepUntil(ctx, s.Clock, s.Clock.Now().Add(superviseInterval)) {
		started, err := s.processes.StartEnded(context.WithoutCancel(ctx))
		if err != nil {
			s.printf("%v", err) // the next round tries again
		}
		if len(started) > 0 {
			s.printf("started again, since it had ended by itself: %s", strings.Join(started, ", "))
			s.mu.Lock()
			s.ended = append(s.ended, started...)
			s.mu.Unlock()
		}
	}
}

// watch compares the planes repeatedly, and writes the progress, until ctx ends.
func (s *Soak) watch(ctx context.Context) {
	reported := s.begin
	for sleepUntil(ctx, s.Clock, s.Clock.Now().Add(sampleInterval)) {
		// While an API server is down, the planes cannot be compared.
		found, err := s.compare(ctx, s.consumer.wants)
		s.mu.Lock()
		if err == nil {
			s.sampled = s.Clock.Now()
			s.standing = s.ledger.update(s.sampled, found)
			s.clean++
			if len(found) > 0 {
				s.clean = 0
			}
		}
		standing := s.standing
		s.mu.Unlock()
		if s.Clock.Since(reported) >= reportInterval {
			s.report(standing, err)
			reported = s.Clock.Now()
		}
	}
}

// compare reads all planes and compares them.
func (s *Soak) compare(ctx context.Context, wants func(project string) map[string]*Wanted) ([]Disagreement, error) {
	views, err := s.collector.collect(ctx)
	if err != nil {
		return nil, err
	}
	var found []Disagreement
	for _, view := range views {
		disagreements, err := Compare(view, wants(view.Project))
		if err != nil {
			return nil, err
		}
		found = append(found, disagreements...)
	}
	return found, nil
}

// settle waits until no disagreement is left, and returns the time that this took; 0 if patience ended first.
func (s *Soak) settle(ctx context.Context, last time.Time) (time.Duration, error) {
	s.mu.Lock()
	s.clean = 0
	s.mu.Unlock()
	for s.Clock.Since(last) < s.Patience {
		if !sleepUntil(ctx, s.Clock, s.Clock.Now().Add(time.Second)) {
			return 0, context.Cause(ctx)
		}
		s.mu.Lock()
		clean := s.clean
		s.mu.Unlock()
		if clean >= agreements {
			return s.Clock.Since(last), nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sampled.Before(last) {
		return 0, errors.New("not all planes answer after the last fault, so that they cannot be compared")
	}
	return 0, nil
}

// report writes the progress: all disagreements that are older than a moment.
func (s *Soak) report(standing []Standing, err error) {
	s.mu.Lock()
	faults := len(s.killed)
	s.mu.Unlock()
	s.consumer.mu.Lock()
	done := s.consumer.done
	s.consumer.mu.Unlock()
	lines := []string{fmt.Sprintf("%d faults, %d operations, %d disagreements", faults, done, len(standing))}
	if err != nil {
		lines[0] += fmt.Sprintf(", not all planes answer: %v", err)
	}
	for i, d := range standing {
		if i == printed {
			lines = append(lines, fmt.Sprintf("and %d more", len(standing)-printed))
			break
		}
		if d.Age >= reportInterval {
			lines = append(lines, d.String())
		}
	}
	s.printf("%s", strings.Join(lines, "\n          "))
}

func (s *Soak) result(settled time.Duration) *Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.consumer.mu.Lock()
	defer s.consumer.mu.Unlock()
	result := &Result{
		Seed: s.Seed, Duration: s.Duration, Faults: len(s.killed), Ended: s.ended,
		Operations: s.consumer.done, Requests: len(s.consumer.latencies), Failures: s.consumer.failures,
		P99:     percentile(s.consumer.latencies, 99),
		Settled: settled, Longest: s.ledger.longest,
	}
	if settled == 0 {
		result.Left = s.standing
	}
	result.Excused = s.excused
	for _, fault := range s.killed {
		result.Excused += excuses(fault)
	}
	return result
}

// printf writes a line with the time since the start. A closed output must not stop a soak.
func (s *Soak) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Out, "[%5.1fs] %s\n", s.Clock.Since(s.begin).Seconds(), fmt.Sprintf(format, args...))
}
