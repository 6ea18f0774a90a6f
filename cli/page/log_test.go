// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// partsOf decodes the parts of a log.
func partsOf(t *testing.T, body io.Reader) (parts []logPart) {
	t.Helper()
	for decoder := json.NewDecoder(body); ; {
		var part logPart
		if err := decoder.Decode(&part); errors.Is(err, io.EOF) {
			return parts
		} else if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
}

// linesOf joins the lines of a log, and returns why it ended.
func linesOf(t *testing.T, parts []logPart) (lines, end string) {
	t.Helper()
	var all strings.Builder
	for _, part := range parts {
		if part.Line != nil {
			all.WriteString(*part.Line + "\n")
		}
	}
	last := parts[len(parts)-1]
	if last.End == nil {
		t.Fatalf("the log has no end: %.1000s", all.String())
	}
	return all.String(), *last.End
}

// logging returns a source whose log is a text, and then an error.
func logging(text string, end error) *source {
	s := newSource()
	s.follow = func(_ context.Context, out io.Writer) error {
		_, err := io.Copy(out, strings.NewReader(text))
		return errors.Join(err, end)
	}
	return s
}

// TestLog: a log is sent line by line, with the containers before it and the reason of its end after it.
func TestLog(t *testing.T) {
	answer := get(t, newPage(logging("one\ntwo\nthree", errors.New("SessionExpired"))), below+"/log?instance=web-0&container=sidecar", nil)
	parts := partsOf(t, answer.Body)
	if parts[0].Container != "sidecar" || len(parts[0].Containers) != 2 {
		t.Errorf("got %+v", parts[0])
	}
	if lines, end := linesOf(t, parts); lines != "one\ntwo\nthree\n" || end != "SessionExpired" {
		t.Errorf("got %q, %q", lines, end)
	}
	answer = get(t, newPage(newSource()), below+"/log?instance=none", nil)
	if _, end := linesOf(t, partsOf(t, answer.Body)); end != "Instance none not found" {
		t.Errorf("got %q", end)
	}
}

// TestHostileLog: whatever a container writes is text of bounded lines, and the whole is bounded.
func TestHostileLog(t *testing.T) {
	markup := "</script><img src=x>\x00\x1b[31m\xff\xfe\n"
	answer := get(t, newPage(logging(markup, nil)), below+"/log?instance=web-0", nil)
	if body := answer.Body.String(); strings.Contains(body, "<") || answer.Header().Get("Content-Type") != typeLog {
		t.Errorf("%s: %s", answer.Header().Get("Content-Type"), body)
	}
	answer = get(t, newPage(logging(strings.Repeat("a", 1<<20), nil)), below+"/log?instance=web-0", nil)
	for _, part := range partsOf(t, answer.Body) {
		if part.Line != nil && len(*part.Line) > 64<<10 {
			t.Fatalf("a line has %d bytes", len(*part.Line))
		}
	}
	endless := newSource()
	endless.follow = func(_ context.Context, out io.Writer) error {
		for {
			if _, err := out.Write(bytes.Repeat([]byte(strings.Repeat("a", 4095)+"\n"), 8)); err != nil {
				return err
			}
		}
	}
	answer = get(t, newPage(endless), below+"/log?instance=web-0", nil)
	lines, end := linesOf(t, partsOf(t, answer.Body))
	if len(lines) > MostLogBytes || !strings.Contains(end, "kubectl compute logs web-0 -f -c web") {
		t.Errorf("%d bytes, and then %q", len(lines), end)
	}
}

// TestLogsAreBounded: a few logs are followed at once, and one that the browser leaves gives way to another.
func TestLogsAreBounded(t *testing.T) {
	s, ended := newSource(), make(chan struct{}, MostLogs+1)
	s.follow = func(ctx context.Context, out io.Writer) error {
		_, err := out.Write([]byte("begins\n"))
		<-ctx.Done()
		ended <- struct{}{}
		return errors.Join(err, ctx.Err())
	}
	server := httptest.NewUnstartedServer(nil)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// As the command: an answer has a deadline, which each part of a log extends.
	server.Config.Handler = New(Options{Open: s.open, Token: token, Port: port, Wait: time.Second})
	server.Config.WriteTimeout = time.Millisecond
	server.Start()
	t.Cleanup(server.Close) // after the logs
	follow := func() (first string, leave context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+below+"/log?instance=web-0", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		first, _ = bufio.NewReader(answer.Body).ReadString('\n')
		return first, cancel
	}
	var leave context.CancelFunc
	for range MostLogs {
		var first string
		if first, leave = follow(); !strings.Contains(first, `"container":"web"`) {
			t.Fatalf("got %q", first)
		}
		t.Cleanup(leave)
	}
	if refused, _ := follow(); !strings.Contains(refused, "close one of them") {
		t.Errorf("one log too many: %q", refused)
	}
	leave()
	<-ended
	late := time.Now().Add(time.Minute)
	for first := ""; !strings.Contains(first, `"container":"web"`); {
		if time.Now().After(late) {
			t.Fatalf("no log after another was left: %q", first)
		}
		var cancel context.CancelFunc
		first, cancel = follow()
		t.Cleanup(cancel)
	}
}
