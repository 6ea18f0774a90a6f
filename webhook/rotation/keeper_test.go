// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var (
	secretName  = types.NamespacedName{Namespace: "system", Name: "words"}
	annotations = Annotations{CurrentSince: "current-since", NextSince: "next-since", RegisteredSince: "registered-since"}
)

// replica is a Keeper of words, which are all registered at once.
func replica(t *testing.T, hub client.Client, clock *testclock.FakeClock, registry prometheus.Registerer) *Keeper[string] {
	t.Helper()
	store := Store{Client: hub, Secret: secretName, Clock: clock, Registerer: registry}
	if err := store.Complete("words"); err != nil {
		t.Fatal(err)
	}
	k, err := New(Options[string]{
		Store: store, Policy: wordPolicy(false), Annotations: annotations, What: "Words", Item: "word",
		Registered: func(context.Context, State[string]) (bool, error) { return true, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func ensure(t *testing.T, replicas ...*Keeper[string]) {
	t.Helper()
	for _, k := range replicas {
		if err := k.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func stored(t *testing.T, hub client.Client) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := hub.Get(t.Context(), secretName, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// rotations are the rotations of all replicas, by cause.
func rotations(t *testing.T, registries ...*prometheus.Registry) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for _, registry := range registries {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				found[metric.GetLabel()[0].GetValue()] += metric.GetCounter().GetValue()
			}
		}
	}
	return found
}

func TestSecretRoundTrip(t *testing.T) {
	f := format[string]{kind: words{}, names: annotations, item: "word"}
	for name, s := range map[string]State[string]{
		"alone":    {Current: a, CurrentSince: epoch},
		"learning": {Current: a, CurrentSince: epoch, Next: b, NextSince: epoch.Add(time.Minute)},
		"retiring": {Current: a, CurrentSince: epoch, Previous: b, RegisteredSince: epoch.Add(time.Hour), Exposed: "left"},
	} {
		t.Run(name, func(t *testing.T) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"mine": "x", AnnotationRotate: "now"}}}
			secret.Data = map[string][]byte{"next": []byte("old"), "previous": []byte("old"), "more": []byte("x")}
			if err := f.encode(s, secret); err != nil {
				t.Fatal(err)
			}
			if secret.Annotations["mine"] != "x" || string(secret.Data["more"]) != "x" {
				t.Errorf("the content of others is gone: %v", secret)
			}
			if read, err := f.decode(secret); err != nil || contentOf(read) != contentOf(s) {
				t.Errorf("%+v, %v", contentOf(read), err)
			}
		})
	}
}

// TestLostTimes count as lost.
func TestLostTimes(t *testing.T) {
	f := format[string]{kind: words{}, names: annotations, item: "word"}
	secret := &corev1.Secret{Data: map[string][]byte{"current": []byte("a")}}
	secret.Annotations = map[string]string{"current-since": "last Tuesday", AnnotationRotate: ""}
	if s, err := f.decode(secret); err != nil || !s.CurrentSince.IsZero() || s.Request != CauseRequested {
		t.Errorf("got %+v, %v", contentOf(s), err)
	}
}

func TestCorruptSecret(t *testing.T) {
	f := format[string]{kind: words{}, names: annotations, item: "word"}
	for name, data := range map[string]map[string][]byte{"unreadable": {"current": {}}, "no current one": {"previous": []byte("a")}} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "words"}, Data: data}
		if _, err := f.decode(secret); err == nil || !strings.Contains(err.Error(),
			"Secret system/words is corrupt, delete it so that another word") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestExposure: each of two replicas reports the same exposure, and more follow. There is one rotation, when the
// current item is old enough, and another one as long after that.
func TestExposure(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
	registries := []*prometheus.Registry{prometheus.NewRegistry(), prometheus.NewRegistry()}
	replicas := []*Keeper[string]{replica(t, hub, clock, registries[0]), replica(t, hub, clock, registries[1])}
	ensure(t, replicas...)
	expose := func(causes ...string) {
		for i, cause := range causes {
			replicas[i%2].Expose(cause)
		}
		ensure(t, replicas...)
	}
	expose("start")
	if secret := stored(t, hub); secret.Annotations[AnnotationExposed] != "start" || secret.Data["next"] != nil {
		t.Fatalf("the exposure is not noted for later: %v", secret.Annotations)
	}
	clock.Step(spacing - time.Second)
	version := stored(t, hub).ResourceVersion
	expose("left", "left", "handshake")
	if stored(t, hub).ResourceVersion != version {
		t.Error("an exposure that changes nothing was written")
	}
	clock.Step(time.Second)
	// Another replica than the one that was exposed begins.
	ensure(t, replicas[1])
	if secret := stored(t, hub); secret.Data["next"] == nil || secret.Annotations[AnnotationExposed] != "" {
		t.Fatalf("no rotation has begun: %v", secret.Annotations)
	}
	expose("left", "left")
	for range 100 {
		clock.Step(10 * time.Second)
		expose("left")
	}
	if got := rotations(t, registries...); !maps.Equal(got, map[string]float64{"start": 1}) {
		t.Errorf("rotations %v in %s", got, clock.Since(epoch))
	}
	for range 7 * 24 * 6 {
		clock.Step(10 * time.Second)
		expose("handshake", "left")
	}
	got := rotations(t, registries...)
	if total := got["start"] + got["left"] + got["handshake"]; total < 4 || total > 1+float64(clock.Since(epoch)/spacing) {
		t.Errorf("%v rotations in %s", got, clock.Since(epoch))
	}
}

// TestExposureEndsThePause of Start.
func TestExposureEndsThePause(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
	k := replica(t, hub, clock, nil)
	ensure(t, k)
	clock.Step(spacing)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Start(ctx) }()
	k.Expose("left")
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return k.State().Next != nil, nil
	}); err != nil {
		t.Fatal("no rotation has begun")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestExposureIsNotLost while the hub does not answer.
func TestExposureIsNotLost(t *testing.T) {
	var down atomic.Bool
	hub := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if down.Load() {
				return errors.New("connection refused")
			}
			return c.Update(ctx, o, opts...)
		},
	})
	clock := testclock.NewFakeClock(epoch)
	k := replica(t, hub, clock, nil)
	ensure(t, k)
	clock.Step(spacing)
	down.Store(true)
	k.Expose("left")
	if err := k.Ensure(t.Context()); err == nil {
		t.Fatal("the failure is not returned")
	}
	down.Store(false)
	ensure(t, k)
	if stored(t, hub).Data["next"] == nil {
		t.Error("no rotation has begun")
	}
}

// TestExposureOnEveryReplica at the same time begins one rotation.
func TestExposureOnEveryReplica(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
	var replicas []*Keeper[string]
	var registries []*prometheus.Registry
	for range 4 {
		registries = append(registries, prometheus.NewRegistry())
		replicas = append(replicas, replica(t, hub, clock, registries[len(registries)-1]))
	}
	ensure(t, replicas...)
	clock.Step(spacing)
	var done sync.WaitGroup
	for _, k := range replicas {
		done.Go(func() {
			k.Expose("left")
			if err := k.Ensure(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if got := slices.Collect(maps.Values(rotations(t, registries...))); !slices.Equal(got, []float64{1}) {
		t.Errorf("%v rotations", got)
	}
}
