// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

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

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// addAttemptSteps are the sentences about what may be refused. An attempt is made, and then it is said what became of it:
// "that is" speaks of the attempt, "that comes to be" makes it again until it is so, "that is for 5 seconds" makes it
// again and again and wants it to be so each time.
func addAttemptSteps(sc world.Sentences) {
	sc.Step(`^that (is|comes to be|is within \d+ seconds|is for \d+ seconds) (not refused|(?:refused with|warned of) "(.*)")$`, func(ctx context.Context, when, what, text string) error {
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

// attempt is what was tried last.
type attempt struct {
	again    func(context.Context) error
	refused  error
	took     time.Duration
	warnings *warnings
}

// warnings are what an API server warned of.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader keeps a warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// String is all of them.
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

// TryWarned makes an attempt that hears what the API server warns of.
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

// turnsOut checks what became of an attempt, and where it may take a while makes it again.
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

// stays repeats an attempt for a while and returns an error as soon as check does. The attempt then took as long as the
// slowest of them.
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
