// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// feedBuffer is large enough for most events: with a thousand Instances an event has about 1 MiB.
const feedBuffer = 1 << 20

// Every line of a watch is one event, with these bytes around the object. Only new versions of objects are counted: objects
// that exist when the watch begins are of type ADDED.
var (
	modified = []byte(`{"type":"MODIFIED","object":`)
	eventEnd = []byte("}\n")
)

// written is the number of versions of objects that were written, and their size in JSON.
type written struct{ writes, bytes int64 }

func (w written) minus(before written) written {
	return written{writes: w.writes - before.writes, bytes: w.bytes - before.bytes}
}

// ledger sums up the events of watches. It is safe for concurrent use.
type ledger struct {
	mu   sync.Mutex
	sum  written
	last time.Time
}

// note adds an event of a watch.
func (l *ledger) note(event []byte) {
	object, ok := bytes.CutPrefix(event, modified)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum.writes++
	l.sum.bytes += int64(len(bytes.TrimSuffix(object, eventEnd)))
	l.last = time.Now()
}

// read returns the sum, and the time of the last event.
func (l *ledger) read() (written, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum, l.last
}

// arrivals records when updates arrive. It is safe for concurrent use.
type arrivals struct {
	mu      sync.Mutex
	pending map[int64]arrival
}

type arrival struct {
	mark []byte
	at   chan time.Time
}

// expect returns a channel for the time at which an event has a mark. Call forget when it is not read any more.
func (a *arrivals) expect(update int64, mark []byte) <-chan time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending == nil {
		a.pending = map[int64]arrival{}
	}
	at := make(chan time.Time, 1)
	a.pending[update] = arrival{mark: mark, at: at}
	return at
}

func (a *arrivals) forget(update int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pending, update)
}

// note searches an event for marks. It does not decode the event: decoding a thousand Instances each time would take CPU time
// from what is measured.
func (a *arrivals) note(event []byte) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for update, expected := range a.pending {
		if bytes.Contains(event, expected.mark) {
			expected.at <- now
			delete(a.pending, update)
		}
	}
}

// watchPath is the path of a watch for a resource in a namespace.
func watchPath(resource schema.GroupVersionResource, namespace string) string {
	return fmt.Sprintf("/apis/%s/%s/namespaces/%s/%s?watch=true", resource.Group, resource.Version, namespace, resource.Resource)
}

// watch passes every event of a watch to note until ctx ends. It returns when the watch is open. It calls failed if the watch
// ends before, since events would be missed.
func watch(ctx context.Context, config *rest.Config, path string, note func(event []byte), failed context.CancelCauseFunc) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(config.Host, "/")+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request) //nolint:bodyclose // Closed by the goroutine below.
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("watch %s: %s", path, response.Status), response.Body.Close())
	}
	go func() {
		err := errors.Join(readEvents(response.Body, note), response.Body.Close())
		failed(fmt.Errorf("the watch of %s ended: %w", path, err))
	}()
	return nil
}

// readEvents passes each line to note. It always returns an error, io.EOF at the end.
func readEvents(from io.Reader, note func(event []byte)) error {
	reader := bufio.NewReaderSize(from, feedBuffer)
	for {
		event, err := reader.ReadBytes('\n')
		if err != nil {
			return err
		}
		note(event)
	}
}
