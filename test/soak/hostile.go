// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Party is the hostile party.
type Party string

// Parties.
const (
	// PartyConsumer has every right in its own project.
	PartyConsumer Party = "consumer"
	// PartyCell has every right in one cell.
	PartyCell Party = "cell"
)

const (
	// hostileWorkers is the number of concurrent writers.
	hostileWorkers = 4
	// checkInterval is the interval between two checks of the invariants.
	checkInterval = 2 * time.Second
	// progressInterval is the interval between two lines of progress.
	progressInterval = 5 * time.Second
	// loggedWrites is the number of writes before the first finding that an error lists.
	loggedWrites = 40
	// shownEvidence is the maximum length of the evidence in an error. The log has all of it.
	shownEvidence = 4000
	// findingsOfKind is the maximum number of findings of a kind.
	findingsOfKind = 10
)

// Hostile is a run in which one party writes random objects wherever it has rights. Objects of other parties must not
// change. Projects are the projects of the hostile consumer and of its victim; a hostile cell gets deployments of both.
type Hostile struct {
	*Soak
	Party Party
	// Project belongs to the hostile consumer, and Victim is the other project.
	Project, Victim string
	// Cell is the hostile cell.
	Cell string
	// Quota is true if Instances of metered projects need quota: the victim is metered.
	Quota bool

	// party is the client of the hostile party.
	party      client.Client
	planes     []string
	projectUID string
	before     snapshot
	source     func(worker uint64) func() Write

	findingMu sync.Mutex // guards what follows
	findings  []Finding
	written   []written
	peaks     map[string]Usage
	// held are the open connections of a hostile neighbour.
	held []net.Conn
}

// Finding is a violated invariant.
type Finding struct {
	// Kind is the invariant.
	Kind string
	// The object and its violation of the invariant.
	What string
	// At is the time since the start of the noise.
	At time.Duration
	// Evidence has the request and its answer in JSON, if the finding is a request that was accepted.
	Evidence string
}

// written is a write with its answer.
type written struct {
	at time.Duration
	Write
	err error
	// evidence describes a write that must fail and was accepted; unchanged reports that the write has changed nothing.
	evidence  string
	unchanged bool
}

// HostileResult is the outcome of a run.
type HostileResult struct {
	Seed     uint64
	Party    Party
	Findings []Finding
	// Writes is the number of writes, and Refused the number that were refused or failed. Unchanged is the number that
	// only the add-on may send, and that were accepted because they change nothing.
	Writes, Refused, Unchanged int
	// Healed is the time from the end of the noise until all planes agreed; 0 if they did not.
	Healed time.Duration
	// Peaks is the highest memory use of each process.
	Peaks map[string]Usage
	// Log contains all writes, in the order of their answers.
	Log []string
	// before is the end of the log at the time of the first finding.
	before []string
}

// Err returns an error if an invariant was violated, with the preceding writes.
func (r *HostileResult) Err() error {
	if len(r.Findings) == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("seed %d, hostile %s: %d findings", r.Seed, r.Party, len(r.Findings))}
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%6.1fs  %s: %s", f.At.Seconds(), f.Kind, f.What))
		if f.Evidence != "" {
			lines = append(lines, "         "+reasons.Shorten(f.Evidence, shownEvidence))
		}
	}
	lines = append(append(lines, "the last writes before the first finding:"), r.before...)
	return errors.New(strings.Join(lines, "\n"))
}

// String returns the figures in one line.
func (r *HostileResult) String() string {
	return fmt.Sprintf("seed %d, hostile %s: %d writes, %d of them refused, %d without effect, %d findings, healed after %.0f s; peaks: %s",
		r.Seed, r.Party, r.Writes, r.Refused, r.Unchanged, len(r.Findings), r.Healed.Seconds(), describePeaks(r.Peaks))
}

// Run produces the noise and reports its forbidden effects. The error is about a failure of the run itself.
func (h *Hostile) Run(ctx context.Context) (*HostileResult, error) {
	if h.Clock == nil {
		h.Clock = clock.RealClock{}
	}
	if h.Workloads == 0 {
		h.Workloads = 3
	}
	if err := h.arrange(ctx); err != nil {
		return nil, fmt.Errorf("prepare the run: %w", err)
	}
	if left, err := h.agree(ctx); err != nil || len(left) > 0 {
		return nil, errors.Join(fmt.Errorf("the planes disagree before the noise: %v", left), err)
	}
	var err error
	if h.before, err = h.snapshot(ctx); err != nil {
		return nil, err
	}
	h.begin = h.Clock.Now()
	h.printf("seed %d: noise of a hostile %s for %s; %d objects must stay as they are", h.Seed, h.Party, h.Duration, len(h.before))
	h.noise(ctx)
	last := h.Clock.Now()
	h.printf("the noise is over; waiting until project, hub and cells agree")
	if err := h.heal(ctx); err != nil {
		return nil, err
	}
	healed := h.Clock.Since(last)
	h.measure(ctx)
	h.checkMeasured()
	return h.result(healed), context.Cause(ctx)
}

// noise writes until the duration is over, and checks the invariants meanwhile.
func (h *Hostile) noise(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, h.Duration)
	defer cancel()
	var group sync.WaitGroup
	for worker := range uint64(hostileWorkers) {
		next := h.source(worker)
		group.Go(func() {
			for sleepUntil(ctx, h.Clock, h.Clock.Now().Add(h.Pace)) {
				h.write(ctx, next())
			}
		})
	}
	group.Go(func() {
		for sleepUntil(ctx, h.Clock, h.Clock.Now().Add(checkInterval)) {
			h.check(ctx)
		}
	})
	group.Go(func() {
		for sleepUntil(ctx, h.Clock, h.Clock.Now().Add(time.Second)) {
			h.measure(ctx)
		}
	})
	group.Go(func() {
		for sleepUntil(ctx, h.Clock, h.Clock.Now().Add(progressInterval)) {
			h.printf("%s", h.result(0))
		}
	})
	group.Wait()
}

// write sends a write and stores its answer.
func (h *Hostile) write(ctx context.Context, w Write) {
	request, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var t *trial
	if w.Verb == "connect" {
		t = &trial{Write: w, err: h.dial(request, w)}
	} else {
		t = w.try(request, h.party)
	}
	if ctx.Err() != nil {
		return
	}
	one := written{at: h.Clock.Since(h.begin), Write: w, err: t.err}
	if w.MustFail && t.err == nil {
		one.unchanged, one.evidence = t.harmless(), t.evidence()
	}
	h.findingMu.Lock()
	h.written = append(h.written, one)
	h.findingMu.Unlock()
	if one.evidence != "" && !one.unchanged {
		h.record(Finding{Kind: "a write is accepted that only the add-on may make", What: w.what(), Evidence: one.evidence})
	}
}

// find records a finding, once.
func (h *Hostile) find(kind, what string) { h.record(Finding{Kind: kind, What: what}) }

func (h *Hostile) record(found Finding) {
	h.findingMu.Lock()
	defer h.findingMu.Unlock()
	same := 0
	for _, f := range h.findings {
		if f.Kind == found.Kind {
			same++
		}
		if f.Kind == found.Kind && f.What == found.What {
			return
		}
	}
	if same < findingsOfKind {
		found.At = h.Clock.Since(h.begin)
		h.findings = append(h.findings, found)
		h.printf("FOUND %s: %s", found.Kind, found.What)
	}
}

// check checks all invariants that hold at any time.
func (h *Hostile) check(ctx context.Context) {
	checks := []func(context.Context) error{h.checkUntouched, h.checkStrays, h.checkPods}
	if h.Party == PartyCell {
		checks = []func(context.Context) error{h.checkUntouched, h.checkBounds}
	}
	for _, check := range checks {
		if err := check(ctx); err != nil && ctx.Err() == nil {
			h.printf("a check was not possible: %v", err) // the next one may be
		}
	}
}

// agree waits until two comparisons in a row find no disagreement, and returns the last disagreements when patience
// ends.
func (h *Hostile) agree(ctx context.Context) ([]Disagreement, error) {
	begin, clean := h.Clock.Now(), 0
	for {
		found, err := h.compare(ctx, h.consumer.wants)
		clean++
		if err != nil || len(found) > 0 {
			clean = 0
		}
		if clean == agreements {
			return nil, nil
		}
		if h.Clock.Since(begin) > h.Patience {
			return found, err
		}
		if !sleepUntil(ctx, h.Clock, h.Clock.Now().Add(time.Second)) {
			return found, context.Cause(ctx)
		}
	}
}

// heal ends the noise as its party would, and finds objects that do not return to their former state.
func (h *Hostile) heal(ctx context.Context) error {
	if err := h.withdraw(ctx); err != nil {
		return err
	}
	if left, err := h.agree(ctx); err != nil || len(left) > 0 {
		h.findLeft("what a hostile party wrote does not heal", left, err)
		return nil
	}
	if h.Party.ownsProject() {
		name := Name{h.Project, h.hostileNames()[0]}
		h.want(name, &Wanted{Image: "docker.io/library/nginx:1", Placements: []Placement{{Name: "p0", Cities: h.Cities, Replicas: 1}}})
		h.consumer.do(ctx, Operation{Verb: Create, Name: name, Wanted: h.consumer.wants(h.Project)[name.Workload]})
		if left, err := h.agree(ctx); err != nil || len(left) > 0 {
			h.findLeft("the project does not converge after the noise", left, err)
		}
	}
	return h.checkRestored(ctx)
}

func (h *Hostile) findLeft(kind string, left []Disagreement, err error) {
	if err != nil {
		h.find(kind, err.Error())
	}
	for _, d := range left {
		h.find(kind, d.String())
	}
}

// want records a Workload that should exist, or with nil one that should not.
func (h *Hostile) want(name Name, wanted *Wanted) {
	h.consumer.mu.Lock()
	defer h.consumer.mu.Unlock()
	h.consumer.wanted[name] = wanted
}

// hostileNames returns the names of the Workloads that the hostile consumer writes.
func (h *Hostile) hostileNames() []string {
	var names []string
	for i := range h.Workloads {
		names = append(names, fmt.Sprintf("h-%d", i))
	}
	return names
}

func (h *Hostile) result(healed time.Duration) *HostileResult {
	h.findingMu.Lock()
	defer h.findingMu.Unlock()
	r := &HostileResult{
		Seed: h.Seed, Party: h.Party, Findings: slices.Clone(h.findings), Writes: len(h.written), Healed: healed, Peaks: maps.Clone(h.peaks),
	}
	var shown []string
	for _, w := range h.written {
		line := fmt.Sprintf("%7.2fs  %s%s", w.at.Seconds(), w.Write, w.outcome())
		if w.err != nil {
			r.Refused++
		}
		if w.unchanged {
			r.Unchanged++
		}
		shown = append(shown, line)
		if w.evidence != "" {
			line += " → " + w.evidence
		}
		r.Log = append(r.Log, line)
		if len(h.findings) > 0 && w.at <= h.findings[0].At {
			r.before = shown[max(0, len(shown)-loggedWrites):]
		}
	}
	return r
}

// outcome describes the answer, if it is not the expected success.
func (w *written) outcome() string {
	switch {
	case w.err != nil:
		return " → " + reasons.Shorten(strings.ReplaceAll(w.err.Error(), "\n", " "), 200)
	case w.unchanged:
		return " → accepted, nothing has changed"
	case w.evidence != "":
		return " → accepted"
	}
	return ""
}
