// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

const (
	clients  = 8
	replicas = 2
	tick     = 20 * time.Second // the interval of the replicas
)

// field is a webhook under load: replicas, the configuration that they write, and clients, which observe a change of
// the configuration some time later.
type field struct {
	*testing.T
	clock       *testclock.FakeClock
	authorities []*Authority
	addresses   []string
	propagation time.Duration

	configuration atomic.Pointer[[]byte] // the caBundle on the hub
	changedAt     time.Time
	pool          atomic.Pointer[x509.CertPool] // what the clients know
	known         []byte

	turn     atomic.Int64 // counts the steps of the clock
	finished [clients]atomic.Int64
	requests atomic.Int64
	failures chan error
}

func newField(t *testing.T, propagation, trustDelay time.Duration, honest bool) *field {
	f := &field{T: t, clock: testclock.NewFakeClock(epoch), propagation: propagation, failures: make(chan error, 1_000_000)}
	hub := fake.NewFakeClient()
	for range replicas {
		a := newAuthority(t, hub, f.clock, func(o *Options) {
			// The shortest lifetimes that are longer than steps of a day.
			o.CALifetime, o.LeafLifetime, o.Delay = 9*day, 3*day, trustDelay
			if honest {
				o.Trusted = func(_ context.Context, bundle []byte) (bool, error) {
					carried := f.configuration.Load()
					return carried != nil && bytes.Equal(*carried, bundle), nil
				}
			}
		})
		f.authorities = append(f.authorities, a)
		mustEnsure(t, a)
		f.addresses = append(f.addresses, serve(t, a))
	}
	f.register()
	f.clock.Step(propagation)
	f.propagate()
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for n := range clients {
		running.Go(func() {
			for ctx.Err() == nil {
				turn := f.turn.Load()
				if err := f.request(ctx, n); err != nil && ctx.Err() == nil {
					f.failures <- fmt.Errorf("at %s: %w", f.clock.Now(), err)
				}
				f.finished[n].Store(turn)
			}
		})
	}
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
	return f
}

// serve is a replica's listener. Each handshake calls GetCertificate.
func serve(t *testing.T, a *Authority) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }),
		TLSConfig:         &tls.Config{GetCertificate: a.GetCertificate, MinVersion: tls.VersionTLS13},
		ErrorLog:          log.New(io.Discard, "", 0), // clients that go away at the end
		ReadHeaderTimeout: time.Minute,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.ServeTLS(listener, "", "")
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return listener.Addr().String()
}

// request is one request on a new connection, so that each has a handshake.
func (f *field) request(ctx context.Context, n int) error {
	address := f.addresses[(int64(n)+f.requests.Add(1))%replicas]
	transport := &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{
			RootCAs: f.pool.Load(), ServerName: host, Time: f.clock.Now, MinVersion: tls.VersionTLS13,
			// The default key exchange takes most of the time under the race detector, and is not under test.
			CurvePreferences: []tls.CurveID{tls.CurveP256},
		},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return err
}

// register writes the configuration if a Bundle has changed.
func (f *field) register() {
	for _, a := range f.authorities {
		select {
		case <-a.Changed():
			bundle := a.Bundle()
			if before := f.configuration.Swap(&bundle); before == nil || !bytes.Equal(*before, bundle) {
				f.changedAt = f.clock.Now()
			}
		default:
		}
	}
}

// propagate passes the configuration to the clients when it is old enough.
func (f *field) propagate() {
	bundle := *f.configuration.Load()
	if bytes.Equal(bundle, f.known) || f.clock.Since(f.changedAt) < f.propagation {
		return
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(bundle)
	f.pool.Store(pool)
	f.known = bundle
}

// step moves the clock and calls Ensure on each replica. After each change it waits until every client has done a whole
// request.
func (f *field) step(d time.Duration) {
	f.Helper()
	f.clock.Step(d)
	f.propagate()
	for n, a := range f.authorities {
		before := a.State().Items()
		mustEnsure(f.T, a)
		if n == replicas-1 || !slices.EqualFunc(a.State().Items(), before, (*ca).equals) {
			f.settle()
		}
	}
	f.register()
}

func (f *field) settle() {
	f.Helper()
	turn := f.turn.Add(1)
	eventually(f.T, func() bool {
		for n := range f.finished {
			if f.finished[n].Load() < turn {
				return false
			}
		}
		return true
	})
}

// promote steps until another CA is current: by days until there is a next CA, then by intervals.
func (f *field) promote() {
	f.Helper()
	s := func() state { return f.authorities[0].State() }
	for days := 0; s().Next == nil; days++ {
		if days > 9 {
			f.Fatal("no next CA in a CA's lifetime")
		}
		f.step(day)
	}
	for ticks := 0; s().Next != nil; ticks++ {
		if ticks > 20 {
			f.Fatalf("not promoted after %d intervals", ticks)
		}
		f.step(tick)
	}
}

// finish steps until no client trusts the former CA.
func (f *field) finish() {
	f.Helper()
	s := func() state { return f.authorities[0].State() }
	for ticks := time.Duration(0); ticks <= f.propagation; ticks += tick {
		f.step(tick)
	}
	for days := 0; s().Previous != nil; days++ {
		if days > 4 {
			f.Fatal("the previous CA stayed")
		}
		f.step(day)
	}
	for ticks := time.Duration(0); ticks <= f.propagation; ticks += tick {
		f.step(tick)
	}
	if bytes.Count(*f.configuration.Load(), []byte("BEGIN")) != 1 || !bytes.Equal(f.known, *f.configuration.Load()) {
		f.Fatalf("the rotation did not end")
	}
}

func TestRotationUnderLoadLosesNothing(t *testing.T) {
	// The clients observe changes as late as Delay allows.
	f := newField(t, time.Minute, time.Minute, true)
	f.promote()
	f.finish()
	t.Logf("%d handshakes", f.requests.Load())
	for range min(len(f.failures), 5) {
		t.Error(<-f.failures)
	}
}

// TestImpatientRotationLosesRequests shows that the test above detects lost requests.
func TestImpatientRotationLosesRequests(t *testing.T) {
	f := newField(t, time.Minute, time.Nanosecond, false)
	f.promote()
	if len(f.failures) == 0 {
		t.Errorf("none of %d handshakes failed, although the rotation did not wait for the clients", f.requests.Load())
	}
}
