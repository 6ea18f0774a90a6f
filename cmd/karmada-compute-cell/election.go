// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Times of leader election, such that another replica leads at most 15 s after the leader was killed: see TestWorstTakeover.
const (
	leaseDuration = 10 * time.Second
	// renewDeadline is the time for which a leader that cannot renew its Lease continues.
	renewDeadline = 7 * time.Second
	// retryPeriod is the interval between renewals. Other candidates request the Lease after up to 2.2 times as long.
	retryPeriod = time.Second
)

// newLock creates the Lease of leader election. Its holder is --leader-elect-identity: a container that was killed and restarted has
// the Lease at once, because it still holds it.
func newLock(config *rest.Config, election electionOptions) (resourcelock.Interface, error) {
	if !election.enabled {
		return nil, nil
	}
	identity := election.identity
	if identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("read the host name, see --leader-elect-identity: %w", err)
		}
		// Processes on one host share its name.
		identity = host + "_" + string(uuid.NewUUID())
	}
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	// A request that hangs must not cost the leadership.
	config.Timeout = renewDeadline / 2
	leases, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the Lease of leader election: %w", err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: election.namespace, Name: name},
		Client:     leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}, nil
}
