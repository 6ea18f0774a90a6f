// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/karmada-compute/karmada-compute/cli/stream"
)

// Bounds of the logs that the page follows.
const (
	// MostLogs is the number of logs that are followed at once. A browser has six connections for all its tabs.
	MostLogs = 3
	// MostLogBytes is the size of a log after which the page stops to follow it.
	MostLogBytes = 16 << 20
	// logWrite is how long a browser may take to accept a part of a log.
	logWrite = 30 * time.Second
	typeLog  = "application/x-ndjson"
)

// Log is a log that the page can follow.
type Log struct {
	// Containers are the containers of the Instance, and Container is the one whose log it is.
	Containers []string
	Container  string
	// Follow copies the log to out until it or ctx ends.
	Follow func(ctx context.Context, out io.Writer) error
}

// LogRequest selects a log.
type LogRequest struct {
	// Instance is the name of an Instance, and Container one of its containers; "": the default one.
	Instance, Container string
	// Previous selects the log before the last restart of the container.
	Previous bool
}

// errLogFull ends a log that is larger than the page shows.
var errLogFull = fmt.Errorf("the page shows %d MiB of a log", MostLogBytes>>20)

// logPart is a part of the answer, on a line of its own.
type logPart struct {
	Containers []string `json:"containers,omitempty"`
	Container  string   `json:"container,omitempty"`
	Line       *string  `json:"line,omitempty"`
	// End is why the log ended; "": its container has ended, or begins again.
	End *string `json:"end,omitempty"`
}

// log answers with a log, line by line, until the log ends or the browser leaves.
func (h *handler) log(w http.ResponseWriter, r *http.Request, source Source, asked LogRequest) {
	w.Header().Set("Content-Type", typeLog)
	out := &logWriter{w: w, control: http.NewResponseController(w), left: MostLogBytes}
	select {
	case h.logs <- struct{}{}:
		defer func() { <-h.logs }()
	default:
		out.end(fmt.Errorf("%d logs are followed, which is the maximum: close one of them", MostLogs))
		return
	}
	found, err := source.Log(r.Context(), asked)
	if err == nil {
		out.part(logPart{Containers: found.Containers, Container: found.Container})
		out.flush()
		err = out.follow(r.Context(), found)
	}
	if errors.Is(err, errLogFull) {
		err = fmt.Errorf("%w: kubectl compute logs %s -f -c %s prints all of it", errLogFull, asked.Instance, found.Container)
	}
	if r.Context().Err() == nil {
		out.end(err)
	}
}

// logWriter writes the parts of a log.
type logWriter struct {
	w       io.Writer
	control *http.ResponseController
	lines   *stream.Prefixed
	left    int
	failed  error
}

// follow writes the lines of a log.
func (o *logWriter) follow(ctx context.Context, found *Log) error {
	o.lines = (&stream.Lines{Out: lineWriter{o}}).With("")
	err := found.Follow(ctx, o)
	if errors.Is(err, errLogFull) || o.failed != nil {
		return err
	}
	return errors.Join(err, o.lines.Flush())
}

// Write writes the complete lines in p.
func (o *logWriter) Write(p []byte) (int, error) {
	if len(p) > o.left {
		return 0, errLogFull
	}
	o.left -= len(p)
	n, err := o.lines.Write(p)
	o.flush()
	return n, errors.Join(err, o.failed)
}

// lineWriter gets each line of a log.
type lineWriter struct{ log *logWriter }

// Write writes a line as a part. JSON replaces bytes that are not text.
func (l lineWriter) Write(line []byte) (int, error) {
	l.log.part(logPart{Line: new(string(line[:len(line)-1]))})
	return len(line), l.log.failed
}

func (o *logWriter) part(part logPart) {
	body, err := json.Marshal(part)
	if err == nil {
		_ = o.control.SetWriteDeadline(time.Now().Add(logWrite)) // where the connection has deadlines
		_, err = o.w.Write(append(body, '\n'))
	}
	o.failed = errors.Join(o.failed, err)
}

func (o *logWriter) flush() {
	o.failed = errors.Join(o.failed, o.control.Flush())
}

// end writes why a log has ended.
func (o *logWriter) end(err error) {
	why := ""
	if err != nil {
		why = err.Error()
	}
	o.part(logPart{End: &why})
}
