// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
	rest   []byte
}

// Write writes the lines that are complete. A part of a line that is too long to keep is written as a line.
func (p *Prefixed) Write(content []byte) (int, error) {
	p.rest = append(p.rest, content...)
	for {
		end := bytes.IndexByte(p.rest, '\n')
		if end < 0 && len(p.rest) <= maxLine {
			return len(content), nil
		}
		if end < 0 {
			end = maxLine - 1
		}
		if err := p.line(bytes.TrimSuffix(p.rest[:end+1], []byte("\n"))); err != nil {
			return 0, err
		}
		p.rest = p.rest[end+1:]
	}
}

// Flush writes what is left without an end of line.
func (p *Prefixed) Flush() error {
	if len(p.rest) == 0 {
		return nil
	}
	defer func() { p.rest = nil }()
	return p.line(p.rest)
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
