// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// runAdmission runs the admission of a fixture until the test ends.
func (f *fixture) runAdmission(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- f.admission.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// admit creates a session through admission, whose grant is recorded when the project has the session.
func (f *fixture) admit(t *testing.T, key *ecdsa.PrivateKey) *v1alpha.InstanceSession {
	t.Helper()
	session, grant := f.create(t, key)
	if err := f.server.options.Grants.remove(t.Context(), grant.UID); err != nil {
		t.Fatal(err)
	}
	if err := f.admission.Grant(t.Context(), grant); err != nil {
		t.Fatal(err)
	}
	return session
}

// neverStored is a session of a user that no project stores.
func neverStored(like *Grant, n int, user string) *Grant {
	grant := *like
	grant.UID, grant.User.Username = types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)), user
	grant.Name = fmt.Sprintf("never-%d", n)
	return &grant
}

// TestRefusedCreations: a creation that is refused after the webhook leaves no grant, and counts against neither the project nor, after
// some seconds, its user.
func TestRefusedCreations(t *testing.T) {
	t.Parallel()
	now := testingclock.NewFakeClock(time.Now())
	f := newFixture(t, endless)
	grants := f.server.options.Grants
	f.admission.clock, grants.Limits = now, Limits{PerUser: 4, PerProject: 6}
	f.runAdmission(t)
	_, like := f.create(t, newKey(t))
	for n := range 12 {
		if err := f.admission.Grant(t.Context(), neverStored(like, n, []string{"mallory", "other", "third"}[n/4])); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.admission.Grant(t.Context(), neverStored(like, 20, "mallory")); !errors.Is(err, ErrTooMany) {
		t.Errorf("the memory for the sessions of a user has no bound: %v", err)
	}
	f.await(t, f.admit(t, newKey(t)), v1alpha.ReasonSessionReady)
	now.Step(storesSoon)
	for n := range 4 {
		if err := f.admission.Grant(t.Context(), neverStored(like, 30+n, "mallory")); err != nil {
			t.Errorf("after some seconds: %v", err)
		}
	}
	now.Step(storeWithin)
	f.eventually(t, "no session is expected any more", func() bool {
		f.admission.mu.Lock()
		defer f.admission.mu.Unlock()
		return len(f.admission.admitted) == 0
	})
	if left, err := grants.list(t.Context()); err != nil || len(left) != 2 {
		t.Errorf("of two sessions there are the grants %v, %v", left, err)
	}
}

// TestAdmissionAtALimit: a session beyond a limit that was reached since its admission does not stay.
func TestAdmissionAtALimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, endless)
	key := newKey(t)
	second := f.admit(t, key)
	f.create(t, key)
	f.server.options.Grants.Limits.PerUser = 1
	f.runAdmission(t)
	f.eventually(t, "the session is deleted", func() bool {
		err := f.Client.Get(t.Context(), client.ObjectKeyFromObject(second), &v1alpha.InstanceSession{})
		return err != nil && client.IgnoreNotFound(err) == nil
	})
	if left, err := f.server.options.Grants.list(t.Context()); err != nil || left[second.UID] != "" {
		t.Errorf("the grants are %v, %v", left, err)
	}
}

// TestAnotherSpec: a grant whose session was stored with another spec, or was granted before, changes nothing.
func TestAnotherSpec(t *testing.T) {
	t.Parallel()
	f := newFixture(t, endless)
	_, grant := f.create(t, newKey(t))
	forged := *grant
	forged.User.Username = "admin"
	if err := f.admission.record(t.Context(), &forged); err != nil {
		t.Error(err)
	}
	if stored, err := f.server.options.Grants.get(t.Context(), grant.UID); err != nil || stored.User.Username != "consumer" {
		t.Errorf("stored is %+v, %v", stored, err)
	}
	forged.Spec.PublicKey = "another"
	if err := f.admission.record(t.Context(), &forged); err == nil || errors.Is(err, errUnknown) {
		t.Errorf("another spec: %v", err)
	}
}

// TestAdmissionEnds: a replica that ends records the grants of sessions that are stored soon, and admits no other.
func TestAdmissionEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t, endless)
	session := f.admit(t, newKey(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.admission.Run(ctx); err != nil {
		t.Fatal(err)
	}
	grant, err := f.server.options.Grants.get(t.Context(), session.UID)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.admission.Grant(t.Context(), neverStored(grant, 1, "consumer")); !errors.Is(err, errEnding) {
		t.Errorf("a replica that has ended: %v", err)
	}
}
