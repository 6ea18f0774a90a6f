// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package attempts has the sentences about requests that may be refused, and about their results.
package attempts

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about attempts.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// state is the state that the sentences of a scenario share.
type state struct {
	// attempt is the last attempt.
	attempt attempt
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }

// Register adds the sentences about requests that may be refused. A sentence sends the request, and a later sentence
// checks its result: "that is" checks the last attempt, "that is eventually" repeats it until the result is as
// expected, and "that is for 5 seconds" repeats it and expects the result each time.
func Register(sc world.Sentences) {
	sc.Step(`^that (is|is eventually|is within \d+ seconds|is for \d+ seconds) (not refused|(?:refused with|warned of) "(.*)")$`,
		func(ctx context.Context, when, what, text string) error {
			return from(ctx).turnsOut(ctx, when, what, strings.ReplaceAll(text, `\"`, `"`))
		})
	sc.Step(`^that took less than (\d+) seconds$`, func(ctx context.Context, seconds int) error {
		if took := from(ctx).state().attempt.took; took >= time.Duration(seconds)*time.Second {
			return fmt.Errorf("it took %s", took)
		}
		return nil
	})
	sc.Step(`^that is an error and no denial$`, func(ctx context.Context) error {
		refused := from(ctx).state().attempt.refused
		if refused == nil {
			return errors.New("it was not refused")
		}
		if strings.Contains(refused.Error(), "denied the request") && !strings.Contains(refused.Error(), "try again") {
			return refused
		}
		return nil
	})
}

// attempt is the last attempt.
type attempt struct {
	again    func(context.Context) error
	refused  error
	took     time.Duration
	warnings *warnings
}

// warnings holds the warnings of an API server.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader stores a warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// String returns all warnings.
func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.texts, "\n")
}

func (w *warnings) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = nil
}

// Try makes an attempt.
func (s Steps) Try(ctx context.Context, do func(context.Context) error) {
	s.TryWarned(ctx, func(rest.WarningHandler) func(context.Context) error { return do })
}

// TryWarned makes an attempt that collects the API server's warnings.
func (s Steps) TryWarned(ctx context.Context, do func(rest.WarningHandler) func(context.Context) error) {
	heard := &warnings{}
	s.state().attempt = attempt{again: do(heard), warnings: heard}
	s.state().attempt.make(ctx)
}

func (a *attempt) make(ctx context.Context) {
	a.warnings.forget()
	begin := time.Now()
	a.refused = a.again(ctx)
	a.took = time.Since(begin)
}

// turnsOut checks the result of an attempt, and repeats the attempt if the result may take a while.
func (s Steps) turnsOut(ctx context.Context, when, what, text string) error {
	a := &s.state().attempt
	if a.again == nil {
		return errors.New("nothing was tried")
	}
	check := func() error {
		warned := a.warnings.String()
		switch {
		case what == "not refused":
			return a.refused
		case strings.HasPrefix(what, "warned of"):
			if a.refused != nil || !strings.Contains(warned, text) {
				return fmt.Errorf("refused with %v, warned of %q", a.refused, warned) //nolint:errorlint // it may be nil.
			}
			return nil
		case a.refused == nil:
			return errors.New("it was not refused")
		case !strings.Contains(a.refused.Error(), text):
			return fmt.Errorf("it was refused with: %w", a.refused)
		}
		return nil
	}
	if when == "is" {
		return check()
	}
	limit := world.Patience
	if seconds := regexp.MustCompile(`\d+`).FindString(when); seconds != "" {
		parsed, err := time.ParseDuration(seconds + "s")
		if err != nil {
			return err
		}
		limit = parsed
	}
	if strings.HasPrefix(when, "is for") {
		return a.stays(ctx, limit, check)
	}
	return world.Within(ctx, limit, func(ctx context.Context) error {
		a.make(ctx)
		return check()
	})
}

// stays repeats an attempt for a while and returns an error as soon as check does. The attempt's duration is the
// duration of the slowest request.
func (a *attempt) stays(ctx context.Context, period time.Duration, check func() error) error {
	const interval = 50 * time.Millisecond
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	slowest := a.took
	for end := time.Now().Add(period); time.Now().Before(end); {
		if err := check(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		a.make(ctx)
		slowest = max(slowest, a.took)
	}
	a.took = slowest
	return check()
}
