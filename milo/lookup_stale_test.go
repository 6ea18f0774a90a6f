// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestStaleProjectWhileMiloErrs(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"Milo cannot be reached": badGateway,
		"Milo refuses":           forbidden,
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			lookup, fake := s.lookup(t)
			if _, err := lookup.Project(t.Context(), "north"); err != nil {
				t.Fatal(err)
			}
			s.on("north", handler)
			for age := 30 * time.Second; age <= 10*time.Minute; age += 30 * time.Second {
				fake.Step(30 * time.Second)
				s.requests()
				for range 10 {
					if p, err := lookup.Project(t.Context(), "north"); err != nil || p.UID != "1" {
						t.Fatalf("at the age of %v: %v, %v", age, p, err)
					}
				}
				if n := len(s.requests()); n != 1 {
					t.Errorf("Milo was asked %d times within a second", n)
				}
			}
			fake.Step(time.Second)
			if p, err := lookup.Project(t.Context(), "north"); err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("after ten minutes: %v, %v", p, err)
			}
			s.on("north", project("2"))
			fake.Step(time.Second)
			if p, err := lookup.Project(t.Context(), "north"); err != nil || p.UID != "2" {
				t.Errorf("once Milo is back: %v, %v", p, err)
			}
		})
	}
}

// TestStaleProjectWhileMiloHangs: the first caller waits for a second, and none for as long as Milo hangs.
func TestStaleProjectWhileMiloHangs(t *testing.T) {
	s := newServer(t)
	lookup, fake := s.lookup(t)
	if _, err := lookup.Project(t.Context(), "north"); err != nil {
		t.Fatal(err)
	}
	hanging := make(chan struct{})
	s.on("north", func(w http.ResponseWriter, r *http.Request) {
		close(hanging)
		hang(w, r)
	})
	fake.Step(30 * time.Second)
	serves := func() {
		if p, err := lookup.Project(t.Context(), "north"); err != nil || p.UID != "1" {
			t.Errorf("got %v, %v", p, err)
		}
	}
	var first sync.WaitGroup
	first.Go(serves)
	<-hanging
	if d := <-fake.Timers; d != time.Second {
		t.Errorf("the first waits %v", d)
	}
	fake.Step(time.Second)
	first.Wait()
	serves()
	if len(fake.Timers) > 0 {
		t.Error("the next waits, too")
	}
}
