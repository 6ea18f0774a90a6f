// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestWorstTakeover: the leader is killed just after it has renewed the Lease, another replica notices this renewal as
// late as possible, waits until the Lease has expired, and asks for it as late as possible.
func TestWorstTakeover(t *testing.T) {
	asks := time.Duration(float64(retryPeriod) * (1 + leaderelection.JitterFactor))
	if worst := asks + leaseDuration + asks; worst > 15*time.Second {
		t.Errorf("another replica leads after up to %s", worst)
	}
	if renewDeadline >= leaseDuration {
		t.Error("a leader that cannot renew its Lease goes on after another one has it")
	}
}

// TestSameIdentity: a process that was killed holds its Lease for the next one of the same identity, which does not
// wait, and for no other.
func TestSameIdentity(t *testing.T) {
	config := testenv.Config(t)
	cluster, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	const namespace = "election"
	_, err = cluster.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lock := func(identity string) resourcelock.Interface {
		lock, err := newLock(config, electionOptions{enabled: true, namespace: namespace, identity: identity})
		if err != nil {
			t.Fatal(err)
		}
		return lock
	}
	// The Lease of a process that was killed a moment ago. It would last an hour.
	now := metav1.Now()
	if err := lock("pod_1").Create(t.Context(), resourcelock.LeaderElectionRecord{
		HolderIdentity: "pod_1", LeaseDurationSeconds: 3600, AcquireTime: now, RenewTime: now,
	}); err != nil {
		t.Fatal(err)
	}
	leading := make(chan string)
	for _, identity := range []string{"pod_2", ""} {
		campaign(t, lock(identity), leading)
	}
	campaign(t, lock("pod_1"), leading)
	select {
	case who := <-leading:
		if who != "pod_1" {
			t.Errorf("%q leads", who)
		}
	case <-time.After(time.Minute):
		t.Error("it waits for its own Lease")
	}
}

// campaign runs leader election until the test ends, and sends the identity once it leads.
func campaign(t *testing.T, lock resourcelock.Interface, leading chan<- string) {
	t.Helper()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				select {
				case leading <- lock.Identity():
				case <-ctx.Done():
				}
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		elector.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}

// TestIdentities of two processes without --leader-elect-identity differ, though their host is the same.
func TestIdentities(t *testing.T) {
	config := testenv.Config(t)
	one, err := newLock(config, electionOptions{enabled: true, namespace: "a"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := newLock(config, electionOptions{enabled: true, namespace: "a"})
	if err != nil || one.Identity() == two.Identity() {
		t.Errorf("both are %s, %v", one.Identity(), err)
	}
	if off, err := newLock(config, electionOptions{}); off != nil || err != nil {
		t.Errorf("a lock without leader election: %v, %v", off, err)
	}
}
