// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/rest"
)

var errDown = errors.New("down")

// testAnswers is a cache of numbers with the lifetimes of Projects.
func testAnswers(t *testing.T) (*answers[int], TimerClock) {
	t.Helper()
	fake := NewTimerClock()
	l, err := NewLookup(LookupOptions{Root: &rest.Config{Host: "http://localhost"}, Clock: fake})
	if err != nil {
		t.Fatal(err)
	}
	return newAnswers[int](l, kindProject, "the number", projectLifetimes), fake
}

func say(value int, err error) fetcher[int] {
	return func(context.Context) (int, bool, error) { return value, err == nil, err }
}

// hang is a fetcher that reports its calls and answers when a value is sent.
func hang() (ask fetcher[int], called <-chan context.Context, release chan<- int) {
	calls, values := make(chan context.Context, 100), make(chan int)
	return func(ctx context.Context) (int, bool, error) {
		calls <- ctx
		select {
		case value := <-values:
			return value, true, nil
		case <-ctx.Done():
			return 0, false, ctx.Err()
		}
	}, calls, values
}

func want(t *testing.T, a *answers[int], ask fetcher[int], value int, outcome string) {
	t.Helper()
	e, got, err := a.resolve(t.Context(), "key", ask)
	if err != nil || e.value != value || got != outcome {
		t.Errorf("got %d as a %s, %v, want %d as a %s", e.value, got, err, value, outcome)
	}
}

func TestAnswersShareOneRequest(t *testing.T) {
	a, _ := testAnswers(t)
	ask, called, release := hang()
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			if value, found, err := a.get(t.Context(), "key", ask); value != 7 || !found || err != nil {
				t.Errorf("got %d, %t, %v", value, found, err)
			}
		})
	}
	<-called
	release <- 7
	group.Wait()
	if len(called) != 0 {
		t.Errorf("Milo was asked %d times more than once", len(called))
	}
}

func TestCallerThatLeavesStopsNobody(t *testing.T) {
	a, _ := testAnswers(t)
	ask, called, release := hang()
	ctx, leave := context.WithCancel(t.Context())
	left, answered := make(chan error), make(chan int)
	go func() {
		_, _, err := a.get(ctx, "key", ask)
		left <- err
	}()
	request := <-called
	go func() {
		value, _, _ := a.get(t.Context(), "key", ask)
		answered <- value
	}()
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "Milo cannot be reached for the number: it did not answer in time") {
		t.Errorf("error is %v", err)
	}
	if request.Err() != nil {
		t.Error("the request ended with the first who asked")
	}
	if _, ok := request.Deadline(); !ok {
		t.Error("the request has no deadline")
	}
	release <- 7
	if value := <-answered; value != 7 || len(called) != 0 {
		t.Errorf("the other got %d, and Milo was asked %d times more", value, len(called))
	}
}

// TestStaleWhileMiloHangs: the first caller waits a second, later ones for the rest of that second, and after it none
// waits.
func TestStaleWhileMiloHangs(t *testing.T) {
	a, fake := testAnswers(t)
	want(t, a, say(1, nil), 1, outcomeMiss)
	fake.Step(projectLifetimes.found)
	ask, called, release := hang()
	var group sync.WaitGroup
	group.Go(func() { want(t, a, ask, 1, outcomeStale) })
	<-called
	if d := <-fake.Timers; d != refreshWait {
		t.Errorf("the first waits %v", d)
	}
	fake.Step(refreshWait * 3 / 4)
	group.Go(func() { want(t, a, ask, 1, outcomeStale) })
	if d := <-fake.Timers; d != refreshWait/4 {
		t.Errorf("the second waits %v", d)
	}
	fake.Step(refreshWait / 4)
	group.Wait()
	want(t, a, ask, 1, outcomeStale)
	if len(fake.Timers) != 0 || len(called) != 0 {
		t.Errorf("waited %d times and asked %d times more", len(fake.Timers), len(called))
	}
	// Milo's late answer is cached, although no caller waits for it.
	over := a.flights.DoChan("key", nil)
	release <- 2
	<-over
	want(t, a, ask, 2, outcomeHit)
}

func TestStaleAtTheEndOfTheCallersTime(t *testing.T) {
	a, fake := testAnswers(t)
	want(t, a, say(1, nil), 1, outcomeMiss)
	fake.Step(projectLifetimes.found)
	ask, called, _ := hang()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-called
		cancel()
	}()
	if e, outcome, err := a.resolve(ctx, "key", ask); err != nil || e.value != 1 || outcome != outcomeStale {
		t.Errorf("got %d as a %s, %v", e.value, outcome, err)
	}
}

func TestFailureIsNotTriedAgainAtOnce(t *testing.T) {
	a, fake := testAnswers(t)
	for range 3 {
		if _, _, err := a.get(t.Context(), "key", say(0, errDown)); !errors.Is(err, errDown) {
			t.Fatalf("error is %v", err)
		}
		if _, _, err := a.get(t.Context(), "key", say(1, nil)); !errors.Is(err, errDown) {
			t.Fatalf("within a second error is %v", err)
		}
		fake.Step(backoff)
	}
	want(t, a, say(1, nil), 1, outcomeMiss)
	fake.Step(projectLifetimes.found)
	want(t, a, say(0, errDown), 1, outcomeStale)
	want(t, a, say(2, nil), 1, outcomeStale)
	fake.Step(backoff)
	for len(fake.Timers) > 0 {
		<-fake.Timers
	}
	want(t, a, say(2, nil), 2, outcomeMiss)
	if d := <-fake.Timers; d != shortRefreshWait {
		t.Errorf("after a failure one waits %v", d)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	a, fake := testAnswers(t)
	a.entries = cache.NewLRUExpireCacheWithClock(4, fake)
	for i := range 10 {
		if _, _, err := a.get(t.Context(), fmt.Sprint(i), say(i, nil)); err != nil {
			t.Fatal(err)
		}
		// An entry that is used stays.
		if _, outcome, _ := a.resolve(t.Context(), "0", say(-1, nil)); outcome != outcomeHit {
			t.Fatalf("after %d more the first is a %s", i, outcome)
		}
	}
	if keys := a.entries.Keys(); fmt.Sprint(keys) != "[7 8 9 0]" {
		t.Errorf("keeps %v", keys)
	}
}

// FuzzAnswers lets time pass and Milo fail and recover, and checks every answer.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte{0, 120, 3, 2, 1, 4, 255, 8, 2, 5, 90, 3})
	f.Add([]byte{2, 2, 2, 255, 255, 255, 1, 1, 7, 7})
	f.Fuzz(func(t *testing.T, steps []byte) {
		fake := NewTimerClock()
		l, err := NewLookup(LookupOptions{Root: &rest.Config{Host: "http://localhost"}, Clock: fake})
		if err != nil {
			t.Fatal(err)
		}
		m := moody{answers: newAnswers[time.Time](l, kindProject, "the time", projectLifetimes), clock: fake}
		for _, step := range steps {
			// Two bits decide Milo's answer, the others the time that passes.
			fake.Step(time.Duration(step>>2) * time.Duration(step>>2) * 300 * time.Millisecond)
			m.ask(t, step&3 != 3, step&3 != 2)
			for len(fake.Timers) > 0 {
				<-fake.Timers
			}
		}
	})
}

// moody is a cache of a Milo that answers with the time, with "not found", or not at all.
type moody struct {
	answers *answers[time.Time]
	clock   TimerClock
	failed  time.Time
}

// ask does one lookup and compares it with Milo's current answer.
func (m *moody) ask(t *testing.T, up, exists bool) {
	t.Helper()
	asked, backingOff := false, m.clock.Since(m.failed) < backoff
	value, found, err := m.answers.get(t.Context(), "key", func(context.Context) (time.Time, bool, error) {
		asked = true
		if !up {
			m.failed = m.clock.Now()
			return time.Time{}, false, errDown
		}
		return m.clock.Now(), exists, nil
	})
	if asked && backingOff {
		t.Fatal("asked again within a second of a failure")
	}
	if asked && up && (err != nil || found != exists) {
		t.Fatalf("Milo's answer was not passed on: %t, %v", found, err)
	}
	excused := backingOff || asked && !up
	if err != nil && !excused {
		t.Fatalf("failed though Milo did not: %v", err)
	}
	oldest := projectLifetimes.found
	if excused {
		oldest = projectLifetimes.stale
	}
	if age := m.clock.Since(value); found && age > oldest {
		t.Fatalf("served what is %v old, may be %v", age, oldest)
	}
}

// TestSlowAnswerDelaysNoOther: a hundred requests hang, and one more is answered.
func TestSlowAnswerDelaysNoOther(t *testing.T) {
	a, _ := testAnswers(t)
	ask, called, release := hang()
	var group sync.WaitGroup
	var answered atomic.Int32
	for i := range 100 {
		group.Go(func() {
			if _, _, err := a.get(t.Context(), fmt.Sprint("slow-", i), ask); err == nil {
				answered.Add(1)
			}
		})
	}
	for range 100 {
		<-called
	}
	want(t, a, say(1, nil), 1, outcomeMiss)
	for range 100 {
		release <- 7
	}
	group.Wait()
	if n := answered.Load(); n != 100 {
		t.Errorf("%d of the slow ones were answered", n)
	}
}

// TestASlowAnswerIsAwaited: a caller after a request that took its whole time is not refused at once, as after one that
// failed: it waits for another request.
func TestASlowAnswerIsAwaited(t *testing.T) {
	a, _ := testAnswers(t)
	slow := &unansweredError{plane: "Milo", what: "the number", err: fmt.Errorf("send: %w", context.DeadlineExceeded)}
	if _, _, err := a.get(t.Context(), "key", say(0, slow)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the first caller gets %v", err)
	}
	want(t, a, say(7, nil), 7, outcomeMiss)
	if _, _, err := a.get(t.Context(), "other", say(0, errors.New("refused"))); err == nil {
		t.Error("a refused connection gives no error")
	}
	if _, _, err := a.get(t.Context(), "other", say(7, nil)); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("after a refused connection a caller in the same second gets %v", err)
	}
}
