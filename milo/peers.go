// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/manager/coordinator/sharded/peers"
)

// leaveTimeout bounds the deregistration of a replica that stops.
const leaveTimeout = 5 * time.Second

// forgetAfter is how long the Lease of a killed replica is kept.
const forgetAfter = 10 * time.Minute

// membership is multicluster-runtime's registry of replicas. In addition it deregisters a replica that stops, so that others
// take over at once, and removes the Leases of replicas that were killed long ago.
type membership struct {
	peers.Registry
	client    client.Client
	namespace string
	log       logr.Logger
}

func newPeers(options CoordinatorOptions) peers.Registry {
	return &membership{
		Registry:  peers.NewLeaseRegistry(options.Client, options.Namespace, peerLeasePrefix, options.Replica, 1, options.Log),
		client:    options.Client,
		namespace: options.Namespace,
		log:       options.Log,
	}
}

// Run keeps this replica registered until ctx ends.
func (m *membership) Run(ctx context.Context) error {
	if err := m.removeStale(ctx); err != nil {
		m.log.Error(err, "Leases of killed replicas are not removed; retrying at the next start")
	}
	err := m.Registry.Run(ctx)
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: m.namespace, Name: fmt.Sprintf("%s-%s", peerLeasePrefix, m.Self().ID),
	}}
	if deleteErr := client.IgnoreNotFound(m.client.Delete(leaving, lease)); deleteErr != nil {
		m.log.Error(deleteErr, "The Lease of this replica is not deleted; other replicas take over when it expires")
	}
	return err
}

func (m *membership) removeStale(ctx context.Context) error {
	var leases coordinationv1.LeaseList
	if err := m.client.List(ctx, &leases, client.InNamespace(m.namespace),
		client.MatchingLabels{"mcr.sigs.k8s.io/peer": "true", "mcr.sigs.k8s.io/prefix": peerLeasePrefix}); err != nil {
		return fmt.Errorf("list the Leases of replicas: %w", err)
	}
	for i := range leases.Items {
		lease := &leases.Items[i]
		if lease.Spec.RenewTime == nil || time.Since(lease.Spec.RenewTime.Time) < forgetAfter {
			continue
		}
		unchanged := client.Preconditions{ResourceVersion: &lease.ResourceVersion}
		if err := client.IgnoreNotFound(m.client.Delete(ctx, lease, unchanged)); err != nil {
			return fmt.Errorf("delete Lease %s: %w", lease.Name, err)
		}
	}
	return nil
}
