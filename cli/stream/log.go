// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// continueWithin is how long the command tries to continue an interrupted log, and continueEvery the interval between
	// attempts.
	continueWithin, continueEvery = 12 * time.Second, time.Second
)

// openLog opens a session for a log.
type openLog func(ctx context.Context, options *v1alpha.SessionLogOptions) (*Session, error)

// copyLog copies a log to out until it ends. A log that is followed and was cut off, because its replica was stopped or
// a connection was lost, is continued by another session without a lost or repeated line. A limit of bytes cannot be
// continued.
func copyLog(ctx context.Context, open openLog, options *v1alpha.SessionLogOptions, out io.Writer) error {
	if !options.Follow || options.LimitBytes != nil {
		return logOnce(ctx, open, options, out)
	}
	asked := *options
	asked.Timestamps = true
	target := &seam{out: out, stamps: options.Timestamps}
	err := logOnce(ctx, open, &asked, target)
	for isCut(err) {
		err = continued(ctx, open, &asked, target)
	}
	return errors.Join(err, target.end())
}

// logOnce copies one stream of a log.
func logOnce(ctx context.Context, open openLog, options *v1alpha.SessionLogOptions, out io.Writer) error {
	session, err := open(ctx, options)
	if err != nil {
		return err
	}
	defer session.Close()
	return session.Logs(ctx, out)
}

// continued continues an interrupted log. If attempts bring no line for some time, it returns the last error.
func continued(ctx context.Context, open openLog, options *v1alpha.SessionLogOptions, target *seam) error {
	ticker := time.NewTicker(continueEvery)
	defer ticker.Stop()
	for began := time.Now(); ; {
		if since := target.again(); since != nil {
			options.SinceTime, options.SinceSeconds, options.TailLines = since, nil, nil
		}
		written := target.written
		err := logOnce(ctx, open, options, target)
		switch {
		case err == nil || ctx.Err() != nil || target.written > written || target.failed != nil:
			return err
		case time.Since(began) > continueWithin:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// isCut reports whether a log may be continued.
func isCut(err error) bool {
	var cut *cutError
	if !errors.As(err, &cut) {
		return false
	}
	switch cut.reason {
	case "", v1alpha.ReasonSessionReplicaStopped, v1alpha.ReasonSessionUnreachable:
		return true
	}
	return false
}

// sinceOf returns the time that selects a line and all following ones. An API has times with a resolution of one
// second.
func sinceOf(at time.Time) *metav1.Time { return new(metav1.NewTime(at.Truncate(time.Second))) }

// maxLine is the longest part of a line that is kept until its end arrives.
const maxLine = 64 << 10

// Lines writes whole lines of several streams to one writer, each with the prefix of its stream.
type Lines struct {
	// Out gets the lines.
	Out io.Writer

	mu sync.Mutex
}

// With returns a writer for one stream. Flush it at the end of the stream.
func (l *Lines) With(prefix string) *Prefixed { return &Prefixed{lines: l, prefix: prefix} }

// Prefixed is the writer of one stream.
type Prefixed struct {
	lines  *Lines
	prefix string
	tail   []byte
}

// Write writes the lines that are complete. A part of a line that is too long to keep is written as a line.
func (p *Prefixed) Write(content []byte) (int, error) {
	p.tail = append(p.tail, content...)
	for {
		end := bytes.IndexByte(p.tail, '\n')
		if end < 0 && len(p.tail) <= maxLine {
			return len(content), nil
		}
		if end < 0 {
			end = maxLine - 1
		}
		if err := p.line(bytes.TrimSuffix(p.tail[:end+1], []byte("\n"))); err != nil {
			return 0, err
		}
		p.tail = p.tail[end+1:]
	}
}

// Flush writes what is left without an end of line.
func (p *Prefixed) Flush() error {
	if len(p.tail) == 0 {
		return nil
	}
	defer func() { p.tail = nil }()
	return p.line(p.tail)
}

func (p *Prefixed) line(content []byte) error {
	p.lines.mu.Lock()
	defer p.lines.mu.Unlock()
	_, err := p.lines.Out.Write(append(append([]byte(p.prefix), content...), '\n'))
	return err
}

func decodeStatus(body []byte, status *metav1.Status) bool {
	return json.Unmarshal(body, status) == nil && status.Kind == "Status"
}
