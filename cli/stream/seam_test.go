// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stampedLog is a log as a kubelet writes it: several lines may have one time.
func stampedLog(random *rand.Rand, lines int) (log []string, without string) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var text strings.Builder
	for i := range lines {
		if random.IntN(3) > 0 {
			at = at.Add(time.Duration(random.IntN(700)) * time.Millisecond)
		}
		// Lines may be equal, empty, and have words that look like times.
		line := []string{fmt.Sprintf("line %d", i), "", "same", "2026-01-02T03:04:05.000000000Z x"}[random.IntN(4)] + "\n"
		log = append(log, at.Format("2006-01-02T15:04:05.000000000Z07:00")+" "+line)
		text.WriteString(line)
	}
	return log, text.String()
}

// since is the part of a log that a kubelet sends for sinceTime, which an API carries to the second.
func since(log []string, at *metav1.Time) string {
	var text strings.Builder
	for _, line := range log {
		if stamp, err := time.Parse(time.RFC3339Nano, strings.SplitN(line, " ", 2)[0]); at == nil || err == nil && !stamp.Before(at.Time) {
			text.WriteString(line)
		}
	}
	return text.String()
}

// TestSeam verifies that a log that is cut off at any byte, several times, is written without a lost or repeated byte.
func TestSeam(t *testing.T) {
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 1))
		log, want := stampedLog(random, 1+random.IntN(30))
		var out strings.Builder
		s := &seam{out: &out, stamps: seed%2 == 0}
		if s.stamps {
			want = strings.Join(log, "")
		}
		for cut := range 4 {
			text := since(log, s.again())
			if cut < 3 {
				text = text[:random.IntN(len(text)+1)]
			}
			for len(text) > 0 {
				n := 1 + random.IntN(len(text))
				if _, err := s.Write([]byte(text[:n])); err != nil {
					t.Fatal(err)
				}
				text = text[n:]
			}
		}
		if out.String() != want {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, out.String(), want)
		}
	}
}

// TestSeamKeepsNoLine verifies that memory does not grow with a line, nor with the begin of one that has no time.
func TestSeamKeepsNoLine(t *testing.T) {
	s := &seam{out: io.Discard}
	piece := []byte(strings.Repeat("a", 32<<10))
	if grown := testing.AllocsPerRun(100, func() {
		if _, err := s.Write(piece); err != nil {
			t.Fatal(err)
		}
	}); grown > 1 {
		t.Errorf("a piece of a line costs %v allocations", grown)
	}
	if len(s.begin) > maxStamp {
		t.Errorf("%d bytes are kept", len(s.begin))
	}
}

// TestSeamOfLostReader verifies that an output that fails ends the log.
func TestSeamOfLostReader(t *testing.T) {
	reader, writer := io.Pipe()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	s := &seam{out: writer}
	if _, err := s.Write([]byte("2026-01-02T03:04:05.000000000Z line\n")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the error is %v", err)
	}
}

// TestSeamWithoutTimes verifies that lines without times are written as they are.
func TestSeamWithoutTimes(t *testing.T) {
	const text = "some words\n\nword\n" + "a line that is longer than any time at the begin of a line, with words\nend"
	for piece := 1; piece < 50; piece += 7 {
		var out strings.Builder
		s := &seam{out: &out}
		for rest := text; len(rest) > 0; {
			n := min(piece, len(rest))
			if _, err := s.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := s.end(); err != nil || out.String() != text {
			t.Errorf("in pieces of %d: %q, %v", piece, out.String(), err)
		}
	}
}
