// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// Ready measures how long deployments take until they are available for the first time. Conditions do not distinguish
// the first time from a later one, so it follows each deployment from before its first status write: a deployment whose
// status another replica, or an earlier process, has written is not counted, and none is counted twice. It is safe for
// concurrent use.
type Ready struct {
	seconds *prometheus.HistogramVec

	mu sync.Mutex
	// followed are the deployments that are not available yet, by project. Events from before a project was engaged are
	// unknown.
	followed projects.Store[map[types.NamespacedName]followed]
}

type followed struct {
	uid types.UID
	// counted deployments remain until the cache has their new status.
	counted bool
}

// NewReady returns Ready and registers its metric.
func NewReady(registerer prometheus.Registerer) *Ready {
	r := &Ready{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "karmada_compute_workload_ready_seconds",
			Help: "Time from the creation of a WorkloadDeployment in its project until the WorkloadDeployment is available for " +
				"the first time, including the time that it waits for quota and data, by city. A WorkloadDeployment that another " +
				"replica began to project is not counted.",
			Buckets: []float64{1, 2, 3, 5, 7.5, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600},
		}, []string{"city"}),
		followed: projects.Store[map[types.NamespacedName]followed]{
			New: func(projects.Engagement) map[types.NamespacedName]followed {
				return map[types.NamespacedName]followed{}
			},
		},
	}
	registerer.MustRegister(r.seconds)
	return r
}

// observe is called when the status of s.deployment is written; read is this controller's part of the status that was
// read before.
func (r *Ready) observe(s *scope, read v1alpha.WorkloadDeploymentStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, fresh := s.request.NamespacedName, len(read.Conditions) == 0
	project := r.followed.Of(s.request.ClusterName)
	if len(project) == 0 && !fresh {
		return
	}
	known, ok := project[name]
	if !ok || known.uid != s.deployment.UID {
		known = followed{uid: s.deployment.UID, counted: !fresh}
	}
	if !known.counted && meta.IsStatusConditionTrue(s.deployment.Status.Conditions, v1alpha.ConditionAvailable) {
		known.counted = true
		// Two clocks: the project's may be ahead.
		r.seconds.WithLabelValues(s.deployment.Spec.CityCode).Observe(max(0, s.Clock.Now().Sub(s.deployment.CreationTimestamp.Time).Seconds()))
	}
	project[name] = known
	if known.counted && !fresh {
		delete(project, name)
	}
}

// forget drops a deployment that is no longer shown.
func (r *Ready) forget(project multicluster.ClusterName, name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.followed.Of(project), name)
}
