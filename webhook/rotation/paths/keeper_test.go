// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

// epoch is when the tests begin.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const plain = "/one"

var secretName = types.NamespacedName{Namespace: "system", Name: "paths"}

func newKeeper(t *testing.T, hub client.Client, clock *testclock.FakeClock, changes ...func(*Options)) *Keeper {
	t.Helper()
	options := Options{
		Store: rotation.Store{Client: hub, Secret: secretName, Clock: clock, Interval: 20 * time.Second}, Plain: []string{plain},
	}
	for _, change := range changes {
		change(&options)
	}
	k, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func ensure(t *testing.T, keepers ...*Keeper) {
	t.Helper()
	for _, k := range keepers {
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

// secretIn is the last segment of a path.
func secretIn(path string) string { return strings.TrimPrefix(path, plain+"/") }

func TestOptionsOfTheKeeper(t *testing.T) {
	hub := fake.NewFakeClient()
	for name, options := range map[string]Options{
		"no client":  {Store: rotation.Store{Secret: secretName}},
		"no Secret":  {Store: rotation.Store{Client: hub}},
		"negative":   {Store: rotation.Store{Client: hub, Secret: secretName, Interval: -1}},
		"no room":    {Store: rotation.Store{Client: hub, Secret: secretName}, Lifetime: 9 * time.Minute},
		"a lifetime": {Store: rotation.Store{Client: hub, Secret: secretName}, Lifetime: -1},
		"a spacing":  {Store: rotation.Store{Client: hub, Secret: secretName}, Spacing: -1},
	} {
		if _, err := New(options); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestFirstKey: replicas that start together have the same paths, and none before that.
func TestFirstKey(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
	one, two := newKeeper(t, hub, clock), newKeeper(t, hub, clock)
	if one.Ready() == nil || one.Path(plain) != "" || one.Accepts(plain, key(nil).secret(plain)) {
		t.Error("there is a path before the first Ensure")
	}
	ensure(t, one, two)
	secret := secretIn(one.Path(plain))
	if one.Ready() != nil || one.Path(plain) != two.Path(plain) || !one.Accepts(plain, secret) || !two.Accepts(plain, secret) {
		t.Error("the replicas do not have the same path")
	}
	if got := string(stored(t, hub).Data["one"]); got != secret {
		t.Error("the Secret has another secret for the path")
	}
	if one.Accepts("/two", secret) || one.Accepts(plain, secret+"0") || one.Accepts(plain, "") {
		t.Error("something else is accepted")
	}
}

// TestSettledWritesNothing: between rotations the Secret is only read.
func TestSettledWritesNothing(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
	k := newKeeper(t, hub, clock)
	ensure(t, k)
	before := stored(t, hub).ResourceVersion
	clock.Step(12 * time.Hour)
	ensure(t, k, k)
	if stored(t, hub).ResourceVersion != before {
		t.Error("the Secret was written")
	}
}

// TestRotation: two replicas that read the Secret at different times, registration that lags, and an API server that
// lags even more: at any time both replicas accept the path that the API server calls, whichever of them began the
// rotation, and for whatever cause.
func TestRotation(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, hub client.Client, clock *testclock.FakeClock){
		"due": func(_ *testing.T, _ client.Client, clock *testclock.FakeClock) { clock.Step(DefaultLifetime) },
		"requested": func(t *testing.T, hub client.Client, _ *testclock.FakeClock) {
			secret := stored(t, hub)
			secret.Annotations[rotation.AnnotationRotate] = "now"
			if err := hub.Update(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		},
		"deleted": func(t *testing.T, hub client.Client, _ *testclock.FakeClock) {
			if err := hub.Delete(t.Context(), stored(t, hub)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
			registered := ""
			carried := func(o *Options) {
				o.Carried = func(_ context.Context, path func(string) string) (bool, error) { return registered == path(plain), nil }
			}
			replicas := []*Keeper{newKeeper(t, hub, clock, carried), newKeeper(t, hub, clock, carried)}
			ensure(t, replicas...)
			first := replicas[0].Path(plain)
			registered = first
			// called is the path that the API server has observed: the path that was registered four minutes ago.
			const turn, lag = 20 * time.Second, 12
			history := []string{first}
			begin(t, hub, clock)
			for i := range 100 {
				replica := replicas[i%2] // each reads every other turn
				ensure(t, replica)
				if i%3 == 0 {
					registered = replica.Path(plain)
				}
				history = append(history, registered)
				called := history[max(0, len(history)-1-lag)]
				for n, k := range replicas {
					if !k.Accepts(plain, secretIn(called)) {
						t.Fatalf("turn %d: replica %d refuses the API server", i, n)
					}
				}
				clock.Step(turn)
			}
			ensure(t, replicas...)
			for n, k := range replicas {
				if k.Path(plain) == first || k.Accepts(plain, secretIn(first)) {
					t.Errorf("replica %d still accepts the first path", n)
				}
			}
			if data := stored(t, hub).Data; data["previous"] != nil || data["next"] != nil || string(data["one"]) != secretIn(registered) {
				t.Error("the rotation has not ended")
			}
		})
	}
}

// TestRegisteredByOthers: if the registered paths are unknown, a rotation happens on request only and keeps the
// previous path until it is removed by hand.
func TestRegisteredByOthers(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
	k := newKeeper(t, hub, clock)
	ensure(t, k)
	first := k.Path(plain)
	clock.Step(10 * DefaultLifetime)
	ensure(t, k)
	if stored(t, hub).Data["next"] != nil {
		t.Fatal("a rotation began by itself")
	}
	secret := stored(t, hub)
	secret.Annotations[rotation.AnnotationRotate] = ""
	if err := hub.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		ensure(t, k)
		clock.Step(DefaultLifetime)
	}
	if k.Path(plain) == first || !k.Accepts(plain, secretIn(first)) {
		t.Error("the previous path is not accepted beside the new one")
	}
	secret = stored(t, hub)
	delete(secret.Data, "previous")
	if err := hub.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	ensure(t, k)
	if k.Accepts(plain, secretIn(first)) {
		t.Error("the previous path is accepted after its removal")
	}
}

// TestOutage: while the hub does not answer, or has a corrupt Secret, the paths stay.
func TestOutage(t *testing.T) {
	var fail atomic.Bool
	hub := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, name client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if fail.Load() {
				return errors.New("the hub is down")
			}
			return c.Get(ctx, name, object, options...)
		},
	}).Build()
	k := newKeeper(t, hub, testclock.NewFakeClock(epoch))
	ensure(t, k)
	path := k.Path(plain)
	fail.Store(true)
	if err := k.Ensure(t.Context()); err == nil || k.Path(plain) != path || !k.Accepts(plain, secretIn(path)) {
		t.Errorf("error %v", err)
	}
	fail.Store(false)
	secret := stored(t, hub)
	secret.Data["current"] = []byte("x")
	if err := hub.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if err := k.Ensure(t.Context()); err == nil || k.Path(plain) != path || !k.Accepts(plain, secretIn(path)) {
		t.Errorf("error %v", err)
	}
}

// TestConflict: of two replicas that do a step at the same time one has its way, and both have the same paths.
func TestConflict(t *testing.T) {
	clock := testclock.NewFakeClock(epoch)
	var between func()
	hub := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if other := between; other != nil {
				between = nil
				other()
			}
			return c.Create(ctx, object, options...)
		},
	}).Build()
	one, two := newKeeper(t, hub, clock), newKeeper(t, hub, clock)
	between = func() { ensure(t, two) }
	ensure(t, one)
	if one.Path(plain) != two.Path(plain) {
		t.Error("the replicas have different paths")
	}
}

// TestNothingIsLogged: no secret is logged during a complete rotation.
func TestNothingIsLogged(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
	var log strings.Builder
	k := newKeeper(t, hub, clock, func(o *Options) {
		o.Log = funcr.New(func(prefix, args string) { log.WriteString(prefix + args) }, funcr.Options{Verbosity: 10})
		o.Carried = func(context.Context, func(string) string) (bool, error) { return true, nil }
	})
	seen := map[string]bool{}
	for range 2000 {
		ensure(t, k)
		for _, content := range stored(t, hub).Data {
			seen[string(content)] = true
		}
		clock.Step(time.Minute)
	}
	if len(seen) < 4 || !strings.Contains(log.String(), "deleted the previous") {
		t.Fatalf("there was no rotation: %d", len(seen))
	}
	for secret := range seen {
		if strings.Contains(log.String(), secret) {
			t.Error("a secret is in the log")
		}
	}
}

// TestStart reads at once and then each interval.
func TestStart(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
	k := newKeeper(t, hub, clock)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Start(ctx) }()
	// The pause after the first Ensure has begun.
	eventually(t, clock.HasWaiters)
	first := k.Path(plain)
	other := newKeeper(t, hub, clock)
	ensure(t, other)
	if other.Path(plain) != first {
		t.Error("the paths differ")
	}
	stop()
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
