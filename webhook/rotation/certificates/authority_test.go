// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

const host = "webhook.system.svc"

var secretName = types.NamespacedName{Namespace: "system", Name: "webhook-ca"}

func pemOf(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func newAuthority(t *testing.T, hub client.Client, clock *testclock.FakeClock, changes ...func(*Options)) *Authority {
	t.Helper()
	options := Options{
		Store: rotation.Store{Client: hub, Secret: secretName, Clock: clock}, Names: []string{host, "127.0.0.1"}, CALifetime: 60 * day,
	}
	for _, change := range changes {
		change(&options)
	}
	a, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustEnsure(t *testing.T, authorities ...*Authority) {
	t.Helper()
	for _, a := range authorities {
		if err := a.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// mustServe verifies an authority's leaf as a client that trusts bundle.
func mustServe(t *testing.T, a *Authority, bundle []byte) *x509.Certificate {
	t.Helper()
	cert, err := a.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(bundle)
	for _, name := range []string{host, "127.0.0.1"} {
		if _, err := cert.Leaf.Verify(x509.VerifyOptions{
			DNSName: name, Roots: pool, CurrentTime: a.options.Clock.Now(),
			KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return cert.Leaf
}

func stored(t *testing.T, hub client.Client) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := hub.Get(t.Context(), secretName, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// expiries reads the metric as Prometheus does.
func expiries(t *testing.T, registry *prometheus.Registry) map[string]time.Time {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]time.Time{}
	for _, family := range families {
		if family.GetName() == "karmada_compute_webhook_rotations_total" {
			continue
		}
		if family.GetName() != "karmada_compute_webhook_certificate_expiry_timestamp_seconds" {
			t.Errorf("unknown metric %s", family.GetName())
		}
		for _, metric := range family.GetMetric() {
			found[metric.GetLabel()[0].GetValue()] = time.Unix(int64(metric.GetGauge().GetValue()), 0)
		}
	}
	return found
}

func TestNothingIsServedBeforeTheFirstEnsure(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	a := newAuthority(t, fake.NewFakeClient(), testclock.NewFakeClock(epoch), func(o *Options) { o.Registerer = registry })
	if _, err := a.GetCertificate(nil); err == nil || a.Bundle() != nil {
		t.Errorf("got %v, %s", err, a.Bundle())
	}
	if got := expiries(t, registry); len(got) != 0 {
		t.Errorf("expiries of nothing: %v", got)
	}
}

func TestFirstEnsureCreatesTheSecret(t *testing.T) {
	hub, registry := fake.NewFakeClient(), prometheus.NewPedanticRegistry()
	a := newAuthority(t, hub, testclock.NewFakeClock(epoch), func(o *Options) { o.Registerer = registry })
	mustEnsure(t, a)
	leaf := mustServe(t, a, a.Bundle())
	if !leaf.NotAfter.Equal(epoch.Add(7*day)) || leaf.IsCA {
		t.Errorf("the leaf is valid until %s", leaf.NotAfter)
	}
	secret := stored(t, hub)
	if secret.Type != corev1.SecretTypeOpaque || len(secret.Data) != 2 || !bytes.Equal(secret.Data["current.crt"], a.Bundle()) {
		t.Errorf("Secret of type %s with %d entries", secret.Type, len(secret.Data))
	}
	select {
	case <-a.Changed():
	default:
		t.Error("the new bundle was not signalled")
	}
	mustEnsure(t, a)
	if again := stored(t, hub); again.ResourceVersion != secret.ResourceVersion || len(a.Changed()) != 0 {
		t.Error("Ensure wrote or signalled although nothing was due")
	}
	want := map[string]time.Time{"ca": epoch.Add(60 * day), "serving": epoch.Add(7 * day)}
	if got := expiries(t, registry); !maps.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("expiries: %v", got)
	}
}

func TestReplicasThatStartAtOnceAgree(t *testing.T) {
	for range 20 {
		const replicas = 4
		// All of them read that there is no Secret before any creates it.
		var seen sync.WaitGroup
		seen.Add(replicas)
		var reads atomic.Int32
		hub := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				err := c.Get(ctx, key, o, opts...)
				if reads.Add(1) <= replicas {
					seen.Done()
					seen.Wait()
				}
				return err
			},
		})
		clock := testclock.NewFakeClock(epoch)
		var authorities []*Authority
		var done sync.WaitGroup
		for range replicas {
			a := newAuthority(t, hub, clock)
			authorities = append(authorities, a)
			done.Go(func() {
				if err := a.Ensure(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
		for _, a := range authorities {
			if !bytes.Equal(a.Bundle(), authorities[0].Bundle()) {
				t.Fatal("the replicas trust different CAs")
			}
			mustServe(t, a, authorities[0].Bundle())
		}
	}
}

func TestTrustIsAskedOfWhatWasPublished(t *testing.T) {
	clock := testclock.NewFakeClock(epoch)
	var a *Authority
	answer := func() (bool, error) { return false, nil }
	asked := 0
	a = newAuthority(t, fake.NewFakeClient(), clock, func(o *Options) {
		o.Trusted = func(_ context.Context, bundle []byte) (bool, error) {
			asked++
			if !bytes.Equal(bundle, a.Bundle()) || bytes.Count(bundle, []byte("BEGIN")) != 2 {
				t.Errorf("asked about another bundle than the published one:\n%s", bundle)
			}
			return answer()
		}
	})
	mustEnsure(t, a, a)
	clock.Step(40 * day)
	mustEnsure(t, a)
	if asked != 0 {
		t.Error("asked when there was nothing to trust")
	}
	clock.Step(time.Hour)
	mustEnsure(t, a, a)
	if asked != 2 || !a.State().RegisteredSince.IsZero() {
		t.Errorf("asked %d times, trusted since %s", asked, a.State().RegisteredSince)
	}
	answer = func() (bool, error) { return true, nil }
	mustEnsure(t, a)
	clock.Step(time.Hour)
	answer = func() (bool, error) { return false, errors.New("forbidden") }
	if err := a.Ensure(t.Context()); err == nil || !strings.Contains(err.Error(), "forbidden") || a.State().Next == nil {
		t.Errorf("promoted without an answer: %v", err)
	}
	if a.State().RegisteredSince.IsZero() {
		t.Error("a failed question took back the last answer")
	}
}

func TestStartReadsEachIntervalAndEnds(t *testing.T) {
	var passes atomic.Int32
	var fail atomic.Bool
	hub := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			defer passes.Add(1)
			if fail.Load() {
				return errors.New("no hub")
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	clock := testclock.NewFakeClock(epoch)
	a := newAuthority(t, hub, clock)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Start(ctx) }()
	for n := range int32(4) {
		fail.Store(n%2 == 1)
		if n > 0 {
			eventually(t, clock.HasWaiters) // the pause has begun
			clock.Step(10 * time.Second)
		}
		eventually(t, func() bool { return passes.Load() == n+1 })
	}
	mustServe(t, a, a.Bundle())
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return condition(), nil }); err != nil {
		t.Fatal("waited in vain")
	}
}
