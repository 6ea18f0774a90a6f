// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Names of the Leases, and their metadata.
const (
	// recordName is the record's name. Its annotation holds the shards of each replica.
	recordName         = v1alpha.LeaseShards
	annotationDivision = v1alpha.AnnotationShards

	// leasePrefix is the prefix of the names of the replicas' Leases. An annotation names the process that renews the Lease.
	leasePrefix       = v1alpha.LeaseReplicaPrefix
	annotationProcess = "compute.datumapis.com/process"
)

// labels select all of them.
var labels = client.MatchingLabels{annotationDivision: ""}

// errTaken is that another process runs with the name of this one.
var errTaken = errors.New("another process renews the Lease of this replica: give each its own --replica-name")

// ownLease is the Lease of this replica. It is not safe for concurrent use.
type ownLease struct {
	client          client.Client
	namespace, name string
	// holder is the replica, process one that runs under this name.
	holder, process string
	lasts           time.Duration

	// lease is the Lease as last read or written. Nil: it must be read.
	lease *coordinationv1.Lease
	// standing is the replica's Reach as its Lease reports it.
	standing string
	// joined reports that this process has written the Lease before.
	joined bool
	// endpoint is where this replica answers pings. Empty: nowhere.
	endpoint string
}

// renew writes the Lease. ended reports that the Lease on the hub no longer counts, whoever wrote it.
//
// A process takes over the Lease of an earlier one with its name when it starts: that one was killed. Later it does so
// only when the Lease has ended. askedBy is the replica that had asked for the renewal.
func (l *ownLease) renew(ctx context.Context, at time.Time, ended bool) (askedBy string, err error) {
	if err := l.read(ctx, ended); err != nil {
		return "", err
	}
	askedBy = l.lease.Annotations[annotationAskedBy]
	lease := l.lease.DeepCopy()
	lease.Labels = labels
	lease.Annotations = map[string]string{annotationProcess: l.process}
	if l.standing != "" {
		lease.Annotations[annotationReach] = l.standing
	}
	if l.endpoint != "" {
		lease.Annotations[annotationEndpoint] = l.endpoint
	}
	lease.Spec.HolderIdentity = &l.holder
	lease.Spec.LeaseDurationSeconds = new(int32(l.lasts / time.Second)) //nolint:gosec // it is a few seconds
	lease.Spec.RenewTime = &metav1.MicroTime{Time: at}
	write := func() error { return l.client.Update(ctx, lease) }
	if lease.ResourceVersion == "" {
		write = func() error { return l.client.Create(ctx, lease) }
	}
	if err := write(); err != nil {
		// An attempt that timed out may have arrived, or the Lease was deleted.
		l.lease = nil
		return "", fmt.Errorf("write Lease %s: %w", l.name, err)
	}
	l.lease, l.joined = lease, true
	return askedBy, nil
}

func (l *ownLease) read(ctx context.Context, ended bool) error {
	if l.lease != nil {
		return nil
	}
	lease := &coordinationv1.Lease{}
	err := l.client.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: l.name}, lease)
	if apierrors.IsNotFound(err) {
		l.lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: l.name}}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Lease %s: %w", l.name, err)
	}
	if l.joined && !ended && lease.Annotations[annotationProcess] != l.process {
		return errTaken
	}
	l.lease = lease
	return nil
}

// remove deletes the Lease, unless another process has written it.
func (l *ownLease) remove(ctx context.Context) error {
	if l.lease == nil || l.lease.ResourceVersion == "" {
		return nil
	}
	unchanged := client.Preconditions{UID: &l.lease.UID, ResourceVersion: &l.lease.ResourceVersion}
	if err := client.IgnoreNotFound(l.client.Delete(ctx, l.lease, unchanged)); err != nil {
		return fmt.Errorf("delete Lease %s: %w", l.name, err)
	}
	return nil
}
