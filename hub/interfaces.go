// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
)

// Projects finds the projects that this replica owns. It answers multicluster.ErrClusterNotFound for any other.
type Projects interface {
	// Get returns a project's cluster, with synced caches.
	Get(ctx context.Context, name multicluster.ClusterName) (cluster.Cluster, error)
	// UID returns the identity of a project: one that is recreated under the same name has another.
	UID(name multicluster.ClusterName) (types.UID, error)
}

// Locations says which cities a project may use.
type Locations interface {
	// Object is the kind in the project whose changes change the answer.
	Object() client.Object
	// CityCodes are the cities that the project may use now: upper case, sorted, each once.
	CityCodes(ctx context.Context, project client.Reader) ([]string, error)
}
