// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"
)

// slow is projects that review a permission when they are released.
type slow struct {
	Projects
	asked, released chan struct{}
	once            sync.Once
}

func (s *slow) Review(ctx context.Context, name string, uid types.UID, spec authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	s.once.Do(func() { close(s.asked) })
	<-s.released
	return s.Projects.Review(ctx, name, uid, spec)
}

// TestALookupThatEndsAfterTheShutdown: the client of a session that is looked up while the replica begins to end is told to
// connect again.
func TestALookupThatEndsAfterTheShutdown(t *testing.T) {
	t.Parallel()
	projects := &slow{asked: make(chan struct{}), released: make(chan struct{})}
	f := newFixture(t, endless, func(o *Options) {
		projects.Projects, o.Projects, o.Delay = o.Projects, projects, 10*time.Second
	})
	key := newKey(t)
	_, grant := f.create(t, key)
	answered := make(chan error, 1)
	go func() {
		response := f.get(t, f.addressOf(grant), key)
		text, err := io.ReadAll(response.Body)
		if response.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(text), "stopped") {
			err = errors.Join(err, fmt.Errorf("the answer is %d %s", response.StatusCode, text))
		}
		answered <- err
	}()
	<-projects.asked
	stopped := make(chan struct{})
	go func() { f.stop(); close(stopped) }()
	f.eventually(t, "the replica accepts nothing more", func() bool {
		f.server.mu.Lock()
		defer f.server.mu.Unlock()
		return f.server.ended != nil && f.server.ended(&stream{grant: grant, meter: newMeter(f.server.options.Clock, 0, false)})
	})
	close(projects.released)
	select {
	case err := <-answered:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(soon):
		t.Error("the client is told nothing")
	}
	select {
	case <-stopped:
	case <-time.After(soon):
		t.Error("the replica does not end")
	}
}

// TestStrangersRefuseNoHolder: when strangers with keys of their own have used all attempts, the client with the key of a
// session is served.
func TestStrangersRefuseNoHolder(t *testing.T) {
	t.Parallel()
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "line") }))
	key := newKey(t)
	_, grant := f.create(t, key)
	stranger := newKey(t)
	for n := range 60 {
		f.get(t, fmt.Sprintf("%s%snorth/default/logs/00000000-0000-4000-8000-%012d", f.url, PathPrefix, n), stranger)
	}
	if status := f.get(t, f.addressOf(grant), stranger).StatusCode; status != http.StatusServiceUnavailable {
		t.Errorf("a stranger without attempts gets %d", status)
	}
	for range 20 {
		f.server.rates = newRates()
		if status := f.get(t, f.addressOf(grant), key).StatusCode; status != http.StatusOK {
			t.Errorf("the client with the key gets %d", status)
		}
	}
}
