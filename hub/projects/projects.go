// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Engaged are the projects that this replica has engaged. Both methods return multicluster.ErrClusterNotFound for any
// other project, and are safe for concurrent use.
type Engaged interface {
	// Get returns a project's cluster, with synced caches.
	Get(ctx context.Context, name multicluster.ClusterName) (cluster.Cluster, error)
	// UID returns the UID of a project: a project that is recreated under the same name has another.
	UID(name multicluster.ClusterName) (types.UID, error)
}

// Existence says which projects exist, and which projects and cells this replica owns, for controllers that remove what
// an earlier project left behind. Both methods are safe for concurrent use.
type Existence interface {
	// Owns reports whether this replica owns the shard of a key now, whether the project or the cell exists or not.
	Owns(key naming.ShardKey) bool
	// Lookup asks Milo's root now, past every cache. found is false only if Milo has answered that there is no such
	// project; an error is no answer.
	Lookup(ctx context.Context, name string) (uid types.UID, found bool, err error)
}

// Roster is Existence with a watch of the Projects, so that Milo need not be asked about projects that exist.
type Roster interface {
	Existence
	// Knows reports whether the watch has seen the project of that name and UID, and no deletion of it. False proves
	// nothing.
	Knows(name string, uid types.UID) bool
	// OnChange registers f, which is called with the name of a project that is gone or was recreated, and with "" when
	// this replica has acquired projects. f must return at once.
	OnChange(f func(project string))
}

// Brake holds deletions that follow from Milo not having a project, while Milo itself is in doubt.
type Brake interface {
	// Held returns why deletions for projects that Milo does not have are held now; "": they are not. An error is no
	// answer, and holds them as well.
	Held(ctx context.Context) (reason string, err error)
}

// Waker engages projects.
type Waker interface {
	// Wake engages a project that exists and is in a shard of this replica, until it has been idle for a while. It
	// returns at once.
	Wake(project string)
}

// Visits are visits to the projects that no replica has engaged, since they have no Workloads: each is visited at long
// intervals, and soon after its creation. Its methods are safe for concurrent use.
type Visits interface {
	// OnVisit registers f, which is called at each visit, with a client that has no cache. OnVisit must be called
	// before the visits start.
	OnVisit(f func(ctx context.Context, project string, c client.Client) error)
	// VisitAll requests a visit to every such project soon.
	VisitAll()
}

// Suspension reports which projects are suspended. Both methods are safe for concurrent use.
type Suspension interface {
	// IsSuspended reports whether a project is suspended. The answer is known for every project that this replica has
	// engaged.
	IsSuspended(project string) bool
	// OnSuspension registers f, which is called with the name of a project that was suspended or resumed. f must return
	// at once.
	OnSuspension(f func(project string))
}

// Root receives messages that cannot be written in a project. It is safe for concurrent use.
type Root interface {
	// Warn writes an Event about a Project at Milo's root. It returns at once: the Event is written later, or not at
	// all.
	Warn(project, reason, message string)
}

// Locations reports which locations a project has.
type Locations interface {
	// Object is the kind in the project whose changes change the answer of List.
	Object() client.Object
	// List returns the locations of the project, available or not. The error is v1alpha.ErrLocationsNotServed while
	// Milo does not serve the kind because no project has a location: that does not limit where Workloads may run.
	List(ctx context.Context, project client.Reader) ([]cities.Location, error)
}

// Project is a project that this replica has engaged.
type Project struct {
	// Cluster is the project's control plane.
	cluster.Cluster
	// Name of the project.
	Name string
	// UID is the UID of the project.
	UID types.UID
}

// Origin returns the origin of objects on the hub that belong to a namespace of the project.
func (p Project) Origin(namespace string) Origin {
	return Origin{Project: p.Name, ProjectUID: p.UID, Namespace: namespace}
}

// AdoptedWorkload returns the UID under which the cells know the Instances of a Workload, if an operator has let the project take
// over what an earlier hub ran; "": its own. Only a project that is a namespace takes over.
func (p Project) AdoptedWorkload(ctx context.Context, name string) (types.UID, error) {
	adopting, isNamespace := p.Cluster.(interface {
		AdoptedWorkload(ctx context.Context, name string) (types.UID, error)
	})
	if !isNamespace {
		return "", nil
	}
	return adopting.AdoptedWorkload(ctx, name)
}

// CacheNamespaces returns the namespaces that a cache of a project must be limited to. Nil: it is not limited. A
// project that is a namespace shares its API server with others.
func CacheNamespaces(project cluster.Cluster) map[string]cache.Config {
	limited, isNamespace := project.(interface{ OnlyNamespace() string })
	if !isNamespace {
		return nil
	}
	return map[string]cache.Config{limited.OnlyNamespace(): {}}
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

// Recorder returns the recorder of a component's Events about objects of the project. They are core v1 Events: Milo
// does not serve events.k8s.io.
func (p Project) Recorder(name string) record.EventRecorder {
	return p.GetEventRecorderFor(name) //nolint:staticcheck // The recorder that is not deprecated writes events.k8s.io.
}

// Metering reports which projects need quota for their Instances. Its methods are safe for concurrent use.
type Metering interface {
	// Metered reports whether the Instances of a project need quota. It returns an error while that is unknown.
	Metered(project string) (bool, error)
	// OnChange registers f, which is called with the name of a project when the answer of Metered changes or becomes
	// known. f must return at once.
	OnChange(f func(project string))
}
