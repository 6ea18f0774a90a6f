// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxStamp is the length of the longest time at the beginning of a line.
const maxStamp = 40

// seam writes the lines of a log that is read several times, each line once. All lines begin with their times. It keeps
// no line.
type seam struct {
	out io.Writer
	// stamps is true if the times are written, too.
	stamps bool
	// written counts bytes, and failed is the error of out.
	written int64
	failed  error

	// Of the last written line: its time, how many lines with this time were written, including itself, how many bytes of
	// it follow the time, and whether it has ended.
	at    time.Time
	count int
	bytes int64
	ended bool

	// Of the line that is being read: the beginning until its time is known, whether the time is known, whether the line
	// is skipped, and how many of its bytes are skipped.
	begin   []byte
	known   bool
	leftOut bool
	omit    int64

	// looking is true while already written lines are read again; before is the position at which they end, and met counts
	// the lines with its time.
	looking bool
	before  position
	met     int
}

// position is a place in a log.
type position struct {
	at    time.Time
	count int
	bytes int64
	ended bool
}

// again prepares for another stream of the log, and returns the time from which to read; nil: no line was written yet.
func (s *seam) again() *metav1.Time {
	s.begin, s.known, s.leftOut, s.omit = nil, false, false, 0
	if s.at.IsZero() {
		return nil
	}
	s.looking, s.met, s.before = true, 0, position{s.at, s.count, s.bytes, s.ended}
	return sinceOf(s.at)
}

// Write takes the next bytes of the log.
func (s *seam) Write(p []byte) (int, error) {
	for tail := p; len(tail) > 0 && s.failed == nil; {
		if !s.known {
			tail = s.readStamp(tail)
			continue
		}
		end := bytes.IndexByte(tail, '\n') + 1
		if end == 0 {
			s.body(tail)
			break
		}
		s.body(tail[:end])
		tail = tail[end:]
		if !s.leftOut {
			s.ended = true
		}
		s.begin, s.known = s.begin[:0], false
	}
	return len(p), s.failed
}

// end writes the incomplete time at the end of the log.
func (s *seam) end() error {
	if !s.known && !s.looking {
		s.write(s.begin)
	}
	return s.failed
}

// readStamp reads the time at the beginning of a line, and returns the following bytes.
func (s *seam) readStamp(p []byte) []byte {
	for i, b := range p {
		if b == ' ' || b == '\n' || len(s.begin) == maxStamp {
			s.known = true
			if s.start() && b == ' ' {
				i++
			}
			return p[i:]
		}
		s.begin = append(s.begin, b)
	}
	return nil
}

// start decides whether to write a line whose beginning is known. It returns false if the line does not begin with a
// time.
func (s *seam) start() bool {
	at, err := time.Parse(time.RFC3339Nano, string(s.begin))
	s.leftOut, s.omit = false, 0
	if err != nil {
		// The line has no time: a kubelet did not write it.
		s.write(s.begin)
		return false
	}
	if s.looking && s.wasWritten(at) {
		return true
	}
	if at.Equal(s.at) {
		s.count++
	} else {
		s.at, s.count = at, 1
	}
	s.bytes, s.ended = 0, false
	if s.stamps {
		s.write(append(s.begin, ' '))
	}
	return true
}

// wasWritten reports whether the line at a time was written, or its beginning.
func (s *seam) wasWritten(at time.Time) bool {
	switch at.Compare(s.before.at) {
	case -1:
		s.leftOut = true
		return true
	case 1:
		s.looking = false
		return false
	}
	s.met++
	switch {
	case s.met < s.before.count || s.met == s.before.count && s.before.ended:
		s.leftOut = true
		return true
	case s.met == s.before.count:
		// The rest of it was not written.
		s.omit, s.looking = s.before.bytes, false
		return true
	}
	s.looking = false
	return false
}

// body writes bytes of a line.
func (s *seam) body(p []byte) {
	if s.leftOut {
		return
	}
	if s.omit > 0 {
		omitted := min(s.omit, int64(len(p)))
		s.omit, p = s.omit-omitted, p[omitted:]
	}
	s.write(p)
	s.bytes += int64(len(p))
}

func (s *seam) write(p []byte) {
	if len(p) == 0 || s.failed != nil {
		return
	}
	s.written += int64(len(p))
	_, s.failed = s.out.Write(p)
}
