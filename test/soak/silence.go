// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// Silence is a soak of static stability. While a client sends requests to the name of a Workload in three cities, one control
// plane, controller or agent after the other is down for a time. Silence must change nothing.
type Silence struct {
	*Year
	// Down is how long each silence lasts.
	Down time.Duration
	// Containers: the cells have nodes that run containers. Else the name is resolved, and no request is sent.
	Containers bool

	contacts map[string]*federation.Contact
	observer *observer
	pods     *availability
	backedUp []agedBackup
}

// agedBackup is a backup of the hub.
type agedBackup struct {
	at     time.Time
	backup *federation.Backup
}

// backupAge is the age of the backup to which the hub is set back, unless the run is shorter.
const backupAge = 10 * time.Minute

// planSilences returns all silences in the order of a seed.
func planSilences(kinds, cells []string, down time.Duration, random *rand.Rand) []OperatorMove {
	cells, kinds = slices.Sorted(slices.Values(cells)), slices.Clone(kinds)
	random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	var silences []OperatorMove
	for _, kind := range kinds {
		lasts := down
		if most := silenceTable[kind].most; most > 0 {
			lasts = min(down, most)
		}
		cell := cells[random.IntN(len(cells))]
		if !silenceTable[kind].ofCell {
			cell = ""
		}
		silences = append(silences, OperatorMove{Kind: kind, Cell: cell, Lasts: lasts})
	}
	return silences
}

// silenceKinds are the kinds of silences in an order that is always the same.
func silenceKinds(withoutMilo bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(silenceTable)), func(kind string) bool {
		return withoutMilo && silenceTable[kind].milo
	})
}

// Run begins and ends one silence after the other. The error is about a failure of the soak itself: SilenceResult.Err has what the
// silences have broken.
func (s *Silence) Run(ctx context.Context) (*SilenceResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()
	if err := s.prepareSilences(ctx); err != nil {
		return nil, err
	}
	background.Go(func() { s.watch(ctx) })
	background.Go(func() { s.supervise(ctx) })
	if _, err := s.awaitWhole(ctx); err != nil {
		return nil, fmt.Errorf("before the first silence: %w", err)
	}
	client := s.observe(ctx, &background)
	defer client.Stop()
	silences := planSilences(silenceKinds(s.Federation.WithoutMilo()), slices.Collect(maps.Keys(s.contacts)), s.Down, newRandom(s.Seed, 4))
	s.printf("seed %d: %d silences", s.Seed, len(silences))
	result := &SilenceResult{Seed: s.Seed}
	for n, silence := range silences {
		row, err := s.silence(ctx, client, step{OperatorMove: silence, name: fmt.Sprintf("silence-%d", n)})
		if row != nil {
			s.printf("%s", row.Row())
			result.Rows = append(result.Rows, *row)
		}
		if err != nil {
			return result, fmt.Errorf("%s: %w", silence.Kind, err)
		}
	}
	return result, nil
}

// prepareSilences prepares the federation, and creates the Workloads.
func (s *Silence) prepareSilences(ctx context.Context) (err error) {
	if s.Clock == nil {
		s.Clock = clock.RealClock{}
	}
	if err := s.startNames(ctx); err != nil {
		return err
	}
	s.contacts = map[string]*federation.Contact{}
	for _, cell := range s.Federation.Cells() {
		if s.contacts[cell.Name], err = s.Federation.Contact(ctx, cell.Name); err != nil {
			return err
		}
	}
	s.processes = NewProcesses(s.Federation, s.AddOn)
	// Its connections to cells are the earlier ones.
	if err := errors.Join(s.processes.Kill(ctx, karmadaControllers), s.processes.Start(ctx, karmadaControllers)); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	if !s.Federation.WithoutMilo() {
		if err := s.meter(ctx, s.Projects[0]); err != nil {
			return err
		}
	}
	if s.pods, err = watchAvailability(ctx, s.Federation, s.collector.hubNamespaces[s.Projects[0]], false); err != nil {
		return err
	}
	return s.serve(ctx)
}

// silence begins and ends one silence, and waits until all is whole again. The silence is ended also after a failure, or after the
// end of ctx.
func (s *Silence) silence(ctx context.Context, client *federation.Traffic, one step) (*SilenceRow, error) {
	if err := s.backUpHub(ctx); err != nil {
		return nil, err
	}
	s.printf("%s, for %.0f s", strings.TrimSpace(one.Kind+" "+one.Cell), one.Lasts.Seconds())
	before := client.Counted()
	s.observer.begin()
	s.pods.begin()
	ready, _, _ := s.pods.end()
	back, err := silenceTable[one.Kind].begin(ctx, s, one)
	if err == nil {
		sleepUntil(ctx, s.Clock, s.Clock.Now().Add(one.Lasts))
	}
	if back != nil {
		err = errors.Join(err, back(context.WithoutCancel(ctx)))
	}
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	s.printf("%s: the silence is over", one.Kind)
	row := &SilenceRow{Kind: one.Kind, Cell: one.Cell, Lasts: one.Lasts, Ready: ready}
	row.after, row.left = s.awaitWhole(ctx)
	row.observed = s.observer.end()
	row.Requests = client.Counted().Sent - before.Sent
	row.Fewest, row.Replaced, row.low = s.pods.end()
	return row, context.Cause(ctx)
}

// backUpHub takes a backup of the hub, and selects the one to which the hub is set back next: the newest one that is old enough,
// or else the oldest.
func (s *Silence) backUpHub(ctx context.Context) error {
	backup, err := s.Federation.Backup(ctx, hubPlane)
	if err != nil {
		return err
	}
	s.backedUp = append(s.backedUp, agedBackup{s.Clock.Now(), backup})
	chosen := s.backedUp[0]
	for _, one := range s.backedUp {
		if s.Clock.Since(one.at) >= backupAge {
			chosen = one
		}
	}
	s.backups = map[string]*federation.Backup{hubPlane: chosen.backup}
	return nil
}

// awaitWhole waits until the name has all of its cities, and project, hub and cells agree. It returns how long that took.
func (s *Silence) awaitWhole(ctx context.Context) (time.Duration, error) {
	begin := s.Clock.Now()
	settled, err := s.settle(ctx, begin)
	if err == nil && settled == 0 {
		s.mu.Lock()
		err = (&Result{Seed: s.Seed, Left: s.standing}).Err()
		s.mu.Unlock()
	}
	err = errors.Join(err, s.awaitNamed(ctx))
	return s.Clock.Since(begin), err
}
