// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"testing"
)

// interruptedAt ends its context at the line of output with a number, the first is 1.
type interruptedAt struct {
	line int
	end  context.CancelFunc
}

// Write implements io.Writer.
func (i *interruptedAt) Write(line []byte) (int, error) {
	if i.line--; i.line == 0 {
		i.end()
	}
	return len(line), nil
}

// interruptDisable runs disable until a line of its output. It reports whether disable came to its end.
func (s *site) interruptDisable(t *testing.T, o *options, line int) (ended bool) {
	t.Helper()
	run, err := o.connect()
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	run.out, run.known = &interruptedAt{line: line, end: end}, s.inventory()
	if run.known.isWithoutMilo() {
		run.values = nested([]string{"projects", "mode"}, modeNamespaces)
	}
	if err = run.remove(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted at line %d: %v", line, err)
	}
	return err == nil
}

// TestDisableInterruptedAnywhere: a disable that is interrupted after any of its steps is continued by the next one, and
// an enable in between starts the add-on again: with Milo, and without it while the Workloads are kept.
func TestDisableInterruptedAnywhere(t *testing.T) {
	for mode, workloads := range map[string]string{modeMilo: workloadsRefuse, modeNamespaces: workloadsKeep} {
		t.Run(mode+"/"+workloads, func(t *testing.T) {
			s := newSite(t)
			o, values := s.options(), map[string]any{}
			if mode == modeNamespaces {
				o.miloKubeconfig, values = "", nested([]string{"projects", "mode"}, modeNamespaces)
			}
			for line, ended := 1, false; !ended; line++ {
				o.workloads = workloads
				ended = s.interruptAndContinue(t, o, values, line)
			}
		})
	}
}

// enabledAgain is the line after which the add-on is enabled before it is disabled altogether: the replicas are stopped,
// and the objects of one plane are deleted.
const enabledAgain = 2

// interruptAndContinue enables the add-on, interrupts disable at a line, and runs it again, once after the add-on was
// enabled in between. Nothing may be left. It reports whether disable came to its end at once.
func (s *site) interruptAndContinue(t *testing.T, o *options, values map[string]any, line int) (ended bool) {
	t.Helper()
	if err := s.enable(t.Context(), o, values); err != nil {
		t.Fatalf("enable before line %d: %v\n%s", line, err, s.out.String())
	}
	known := s.inventory()
	ended = s.interruptDisable(t, o, line)
	if line == enabledAgain {
		if err := s.enable(t.Context(), o, values); err != nil {
			t.Fatalf("enable after line %d: %v\n%s", line, err, s.out.String())
		}
	}
	for _, workloads := range []string{o.workloads, workloadsRefuse} {
		if o.workloads = workloads; s.inventory() == nil {
			break
		}
		if err := s.disable(t.Context(), o); err != nil {
			t.Fatalf("disable after line %d: %v", line, err)
		}
	}
	if left := s.left(known); len(left) > 0 || s.inventory() != nil {
		t.Errorf("after line %d, disable left %v", line, left)
	}
	return ended
}
