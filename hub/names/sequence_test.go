// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/testenv/golden"
)

// TestSequences runs the files of testdata/sequences. Each begins with a sentence about the rule that it shows. A line with > is a
// command (commands has their meaning), and the lines below it are the answer that follows from it: the cities of the name, the verdict
// about each, and when to ask again. UPDATE=1 writes the files.
func TestSequences(t *testing.T) { golden.Sequences(t, play) }

// sequence is a name whose cities change.
type sequence struct {
	settings *Settings
	facts    []fact
	answer   []string
	passed   time.Duration
	text     strings.Builder
}

// defaults are the settings of an operator who sets none.
func defaults() *Settings {
	return &Settings{ReturnAfter: 30 * time.Second, SilentShare: 33, PanicThreshold: 50}
}

// play runs the commands of a file and returns the file as it should be.
func play(t *testing.T, file string) string {
	t.Helper()
	s := &sequence{settings: defaults()}
	for line := range strings.Lines(file) {
		switch line = strings.TrimRight(line, "\n"); {
		case strings.HasPrefix(line, "#"):
			fmt.Fprintln(&s.text, line)
		case strings.HasPrefix(line, "> "):
			fmt.Fprintf(&s.text, "\n%s\n", line)
			words := strings.Fields(line)[1:]
			command := commands[words[0]]
			if command == nil {
				t.Fatalf("there is no command %s", words[0])
			}
			command(t, s, words[1:])
			s.decide()
		}
	}
	return s.text.String()
}

// commands change one thing each.
var commands = map[string]func(t *testing.T, s *sequence, words []string){
	// serves DFW ORD: the cells of the cities say that they serve. All other sentences of cells are alike.
	"serves": says(saysServing),
	"down":   says(saysDown),
	"leaves": says(saysLeaving),
	"silent": says(saysNothing),
	// answers DFW: the addresses of the city answer, unreachable DFW: they do not, and unasked DFW: no party asks them.
	"answers":     shows(answers),
	"unreachable": shows(unreachable),
	"unasked":     shows(""),
	// asking DFW: a replica has begun to ask, and has no answer yet.
	"asking": shows(beingAsked),
	// removed DFW: the Workload does not have the city any more.
	"removed": func(_ *testing.T, s *sequence, words []string) {
		s.facts = slices.DeleteFunc(s.facts, func(f fact) bool { return slices.Contains(words, f.city) })
	},
	"wait": func(t *testing.T, s *sequence, words []string) {
		t.Helper()
		d, err := time.ParseDuration(words[0])
		if err != nil {
			t.Fatal(err)
		}
		s.passed += d
	},
}

func says(what said) func(*testing.T, *sequence, []string) {
	return func(_ *testing.T, s *sequence, words []string) { s.each(words, func(f *fact) { f.said = what }) }
}

func shows(what shown) func(*testing.T, *sequence, []string) {
	return func(_ *testing.T, s *sequence, words []string) { s.each(words, func(f *fact) { f.shown = what }) }
}

func (s *sequence) now() time.Time { return testBegin.Add(s.passed) }

// each changes cities. The time of one that begins to serve, or ceases to, is now.
func (s *sequence) each(cities []string, change func(f *fact)) {
	serves := func(f *fact) bool { return f.said == saysServing && f.shown != unreachable }
	for _, city := range cities {
		at := slices.IndexFunc(s.facts, func(f fact) bool { return f.city == city })
		if at < 0 {
			at = len(s.facts)
			s.facts = append(s.facts, fact{city: city, addressed: true, since: s.now()})
		}
		f := &s.facts[at]
		before := serves(f)
		if change(f); serves(f) != before {
			f.since = s.now()
		}
	}
}

// decide writes down what follows.
func (s *sequence) decide() {
	decided := s.settings.decide(s.facts, s.answer, s.now())
	if cities := decided.cities(); len(cities) > 0 {
		s.answer = cities
	}
	fmt.Fprintf(&s.text, "%-5s %s\n", s.passed, strings.Join(s.answer, " "))
	for _, v := range decided.verdicts {
		fmt.Fprintf(&s.text, "      %s %s: %s\n", v.city, v.place, v.why)
	}
	if decided.wait > 0 {
		fmt.Fprintf(&s.text, "      again after %s\n", decided.wait)
	}
}
