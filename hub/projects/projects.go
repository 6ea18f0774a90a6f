// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package projects holds what the hub's controllers need of Milo: the projects that this replica has engaged, and the
// cities that a project may use.
package projects

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/hub/origin"
)

// Engaged are the projects that this replica has engaged. Both methods return multicluster.ErrClusterNotFound for any
// other project, and are safe for concurrent use.
type Engaged interface {
	// Get returns a project's cluster, with synced caches.
	Get(ctx context.Context, name multicluster.ClusterName) (cluster.Cluster, error)
	// UID returns the identity of a project: one that is recreated under the same name has another.
	UID(name multicluster.ClusterName) (types.UID, error)
}

// Locations says which cities a project may use.
type Locations interface {
	// Object is the kind in the project whose changes change the answer of CityCodes.
	Object() client.Object
	// CityCodes are the cities that the project may use now: upper case, sorted, each once.
	CityCodes(ctx context.Context, project client.Reader) ([]string, error)
}

// Project is a project that this replica has engaged.
type Project struct {
	// Cluster is the project's control plane.
	cluster.Cluster
	// Name of the project.
	Name string
	// UID is the identity of the project.
	UID types.UID
}

// Origin is what objects on the hub that come from a namespace of the project are marked with.
func (p Project) Origin(namespace string) origin.Origin {
	return origin.Origin{Project: p.Name, ProjectUID: p.UID, Namespace: namespace}
}

// Find returns an engaged project, or multicluster.ErrClusterNotFound.
func Find(ctx context.Context, engaged Engaged, name multicluster.ClusterName) (Project, error) {
	found, err := engaged.Get(ctx, name)
	if err != nil {
		return Project{}, err
	}
	uid, err := engaged.UID(name)
	if err != nil {
		return Project{}, err
	}
	return Project{Cluster: found, Name: name.String(), UID: uid}, nil
}
