// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// Ready measures how long deployments take until they are available for the first time. Their conditions do not tell the first time
// from a later one, so it follows each deployment from before anything is written to its status: one that another replica, or an
// earlier process, has written to is not counted, and none is counted twice. It is safe for concurrent use.
type Ready struct {
	seconds *prometheus.HistogramVec

	mu sync.Mutex
	// followed are the deployments that are not available yet, by project.
	followed map[multicluster.ClusterName]*following
}

// following are the deployments of a project that this replica follows.
type following struct {
	// engaged is the project's cluster. When it is engaged anew, it has another one, and what happened between is not known.
	engaged     cluster.Cluster
	deployments map[types.NamespacedName]followed
}

type followed struct {
	uid types.UID
	// counted deployments are remembered until the cache has what was written to their status.
	counted bool
}

// NewReady registers the metric.
func NewReady(registerer prometheus.Registerer) (*Ready, error) {
	r := &Ready{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "karmada_compute_workload_ready_seconds",
			Help:    "From the creation of a WorkloadDeployment in its project until it is available for the first time, waiting for quota and data included, by city. One that another replica began to show is not counted.",
			Buckets: []float64{1, 2, 3, 5, 7.5, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600},
		}, []string{"city"}),
		followed: map[multicluster.ClusterName]*following{},
	}
	if err := registerer.Register(r.seconds); err != nil {
		return nil, fmt.Errorf("register the metric of the time until deployments are available: %w", err)
	}
	return r, nil
}

// observe is called when the status of s.deployment is written, with what of it this controller had written before.
func (r *Ready) observe(ctx context.Context, s *scope, read v1alpha.WorkloadDeploymentStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, fresh := s.request.NamespacedName, len(read.Conditions) == 0
	project := r.followed[s.request.ClusterName]
	if project != nil && project.engaged != s.cluster {
		delete(r.followed, s.request.ClusterName)
		project = nil
	}
	if project == nil {
		if !fresh {
			return
		}
		r.forgetDisengaged(ctx, s.Projects)
		project = &following{engaged: s.cluster, deployments: map[types.NamespacedName]followed{}}
		r.followed[s.request.ClusterName] = project
	}
	known, ok := project.deployments[name]
	if !ok || known.uid != s.deployment.UID {
		known = followed{uid: s.deployment.UID, counted: !fresh}
	}
	if !known.counted && meta.IsStatusConditionTrue(s.deployment.Status.Conditions, v1alpha.ConditionAvailable) {
		known.counted = true
		// Two clocks: the project's may be ahead.
		r.seconds.WithLabelValues(s.deployment.Spec.CityCode).Observe(max(0, s.Clock.Now().Sub(s.deployment.CreationTimestamp.Time).Seconds()))
	}
	project.deployments[name] = known
	if known.counted && !fresh {
		r.drop(s.request.ClusterName, name)
	}
}

// forget drops a deployment that is not shown any more.
func (r *Ready) forget(project multicluster.ClusterName, name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(project, name)
}

// drop removes a deployment. r.mu is held.
func (r *Ready) drop(project multicluster.ClusterName, name types.NamespacedName) {
	following := r.followed[project]
	if following == nil {
		return
	}
	delete(following.deployments, name)
	if len(following.deployments) == 0 {
		delete(r.followed, project)
	}
}

// forgetDisengaged drops the projects that this replica has not engaged any more. r.mu is held.
func (r *Ready) forgetDisengaged(ctx context.Context, engaged projects.Engaged) {
	for name, project := range r.followed {
		if found, err := engaged.Get(ctx, name); err != nil || found != project.engaged {
			delete(r.followed, name)
		}
	}
}
