// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLedger(t *testing.T) {
	const events = `{"type":"ADDED","object":{"kind":"Thing"}}
{"type":"MODIFIED","object":{"a":1}}
{"type":"MODIFIED","object":{"a":12}}
{"type":"DELETED","object":{"a":12}}
{"type":"MODIFIED","object":{"ends":"early"`
	l := &ledger{}
	if err := readEvents(strings.NewReader(events), l.note); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	sum, last := l.read()
	if want := (written{writes: 2, bytes: int64(len(`{"a":1}`) + len(`{"a":12}`))}); sum != want {
		t.Errorf("got %+v, want %+v", sum, want)
	}
	if last.IsZero() {
		t.Error("it does not say when it grew")
	}
	if got, want := sum.minus(written{writes: 1, bytes: 7}), (written{writes: 1, bytes: 8}); got != want {
		t.Errorf("the difference is %+v, want %+v", got, want)
	}
}

func TestArrivals(t *testing.T) {
	a := &arrivals{}
	first, second, forgotten := a.expect(1, []byte(`update 1"`)), a.expect(12, []byte(`update 12"`)), a.expect(3, []byte(`update 3"`))
	a.forget(3)
	for _, event := range []string{`{"message":"update 12"}`, `{"message":"update 12"}`, `{"message":"update 3"}`} {
		a.note([]byte(event))
	}
	if len(second) != 1 {
		t.Error("update 12 did not arrive, once")
	}
	if len(first) != 0 {
		t.Error("update 1 arrived with update 12")
	}
	if len(forgotten) != 0 {
		t.Error("update 3 arrived, though it was forgotten")
	}
	a.note([]byte(`{"one":"update 1","other":"update 2"}`))
	if len(first) != 1 || len(a.pending) != 0 {
		t.Errorf("update 1 arrived %d times, %d are pending", len(first), len(a.pending))
	}
}
