// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/manager/coordinator/sharded/sharder"
	"sigs.k8s.io/multicluster-runtime/pkg/util/sanitize"
)

// leaveTimeout bounds the deregistration of a replica that stops.
const leaveTimeout = 5 * time.Second

// forgetAfter is how long the Lease of a killed replica is kept.
const forgetAfter = 10 * time.Minute

// peerLabels select the Leases of replicas. They are those of multicluster-runtime's registry, so that replicas of earlier versions
// and these know each other.
var peerLabels = client.MatchingLabels{"mcr.sigs.k8s.io/peer": "true", "mcr.sigs.k8s.io/prefix": peerLeasePrefix}

// membership is the registry of the replicas that run: each keeps a Lease and looks at those of the others. It is
// multicluster-runtime's registry with times that can be chosen: that one takes up to 40 s to notice that a replica was killed. A
// replica that stops removes its Lease, so that others take over at once.
type membership struct {
	client    client.Client
	namespace string
	self      sharder.PeerInfo
	timings   timings
	clock     clock.WithTicker
	log       logr.Logger

	mu    sync.Mutex
	peers map[string]sharder.PeerInfo // by ID; as last seen
}

func newPeers(options CoordinatorOptions) *membership {
	return &membership{
		client:    options.Client,
		namespace: options.Namespace,
		// The ID is part of the name of a Lease.
		self:    sharder.PeerInfo{ID: sanitize.DNS1123(options.Replica), Weight: 1},
		timings: timingsFor(options.LeaseDuration),
		clock:   options.Clock,
		log:     options.Log,
	}
}

// Self is this replica.
func (m *membership) Self() sharder.PeerInfo { return m.self }

// Snapshot returns the replicas that run, as last seen.
func (m *membership) Snapshot() []sharder.PeerInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.peers))
}

// Run keeps this replica registered and looks at the others until ctx ends. Errors are retried: while the hub does not answer,
// the replicas stay those that were last seen.
func (m *membership) Run(ctx context.Context) error {
	defer m.leave(ctx)
	renewal, look := m.clock.NewTicker(m.timings.peerRenewal), m.clock.NewTicker(m.timings.look)
	defer renewal.Stop()
	defer look.Stop()
	m.attempt(ctx, m.renew, m.look)
	if err := m.removeStale(ctx); err != nil {
		m.log.Error(err, "Leases of killed replicas are not removed; retrying at the next start")
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-renewal.C():
			m.attempt(ctx, m.renew)
		case <-look.C():
			m.attempt(ctx, m.look)
		}
	}
}

// attempt bounds each step: one that hangs must not delay the next renewal by much.
func (m *membership) attempt(ctx context.Context, steps ...func(context.Context) error) {
	for _, step := range steps {
		bounded, cancel := context.WithTimeout(ctx, m.timings.peerRenewal)
		if err := step(bounded); err != nil && ctx.Err() == nil {
			m.log.V(1).Info("Replicas are not known to each other; retrying", "error", err.Error())
		}
		cancel()
	}
}

func (m *membership) leaseName() string { return fmt.Sprintf("%s-%s", peerLeasePrefix, m.self.ID) }

// renew creates the Lease of this replica or takes over the one of an earlier process with its name.
func (m *membership) renew(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	err := m.client.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: m.leaseName()}, lease)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Lease %s: %w", m.leaseName(), err)
	}
	lease.Namespace, lease.Name, lease.Labels = m.namespace, m.leaseName(), map[string]string{}
	maps.Copy(lease.Labels, peerLabels)
	lease.Spec.HolderIdentity = &m.self.ID
	lease.Spec.LeaseDurationSeconds = new(int32(m.timings.peer / time.Second)) //nolint:gosec // it is a few seconds
	lease.Spec.RenewTime = &metav1.MicroTime{Time: m.clock.Now()}
	if apierrors.IsNotFound(err) {
		err = m.client.Create(ctx, lease)
	} else {
		err = m.client.Update(ctx, lease)
	}
	if err != nil {
		return fmt.Errorf("write Lease %s: %w", m.leaseName(), err)
	}
	return nil
}

// look reads the Leases of all replicas. This one runs in any case.
func (m *membership) look(ctx context.Context) error {
	leases, err := m.list(ctx)
	if err != nil {
		return err
	}
	running := map[string]sharder.PeerInfo{m.self.ID: m.self}
	for i := range leases {
		spec := leases[i].Spec
		if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
			continue
		}
		if id := *spec.HolderIdentity; m.clock.Since(spec.RenewTime.Time) <= time.Duration(*spec.LeaseDurationSeconds)*time.Second {
			running[id] = sharder.PeerInfo{ID: id, Weight: 1}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.peers {
		if _, runs := running[id]; !runs {
			m.log.Info("Replica is gone", "replica", id)
		}
	}
	m.peers = running
	return nil
}

func (m *membership) list(ctx context.Context) ([]coordinationv1.Lease, error) {
	var leases coordinationv1.LeaseList
	if err := m.client.List(ctx, &leases, client.InNamespace(m.namespace), peerLabels); err != nil {
		return nil, fmt.Errorf("list the Leases of replicas: %w", err)
	}
	return leases.Items, nil
}

// leave removes the Lease of this replica.
func (m *membership) leave(ctx context.Context) {
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: m.leaseName()}}
	if err := client.IgnoreNotFound(m.client.Delete(leaving, lease)); err != nil {
		m.log.Error(err, "The Lease of this replica is not deleted; other replicas take over when it expires")
	}
}

// removeStale removes the Leases of replicas that were killed long ago.
func (m *membership) removeStale(ctx context.Context) error {
	leases, err := m.list(ctx)
	if err != nil {
		return err
	}
	for i := range leases {
		lease := &leases[i]
		if lease.Spec.RenewTime == nil || m.clock.Since(lease.Spec.RenewTime.Time) < forgetAfter {
			continue
		}
		unchanged := client.Preconditions{ResourceVersion: &lease.ResourceVersion}
		if err := client.IgnoreNotFound(m.client.Delete(ctx, lease, unchanged)); err != nil {
			return fmt.Errorf("delete Lease %s: %w", lease.Name, err)
		}
	}
	return nil
}
