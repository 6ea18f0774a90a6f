// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// Refusals are the projects that refuse writes because they are suspended. The status in such a project dates from
// before the suspension, so the refusals are reported elsewhere: in a metric and, once for each suspension, in an Event
// about the Project at Milo's root. The methods of nil Refusals do nothing. It is safe for concurrent use.
type Refusals struct {
	engaged    projects.Engaged
	suspension projects.Suspension
	root       projects.Root

	mu sync.Mutex
	of map[multicluster.ClusterName]bool
}

// RefusalsOptions are the dependencies of Refusals.
type RefusalsOptions struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Suspension reports which projects are suspended.
	Suspension projects.Suspension
	// Root receives the Events.
	Root projects.Root
	// Registerer registers the metric.
	Registerer prometheus.Registerer
}

// NewRefusals returns Refusals, and registers their metric.
func NewRefusals(o RefusalsOptions) *Refusals {
	r := &Refusals{engaged: o.Projects, suspension: o.Suspension, root: o.Root, of: map[multicluster.ClusterName]bool{}}
	refusing := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "karmada_compute_projects_refusing_status",
		Help: "Suspended projects of this replica that refuse status updates and therefore show the state before the suspension.",
	}, func() float64 { return float64(r.count()) })
	o.Registerer.MustRegister(refusing)
	o.Suspension.OnSuspension(r.changed)
	return r
}

// observe reports whether err is the refusal of a write in a suspended project, and remembers it.
func (r *Refusals) observe(project multicluster.ClusterName, err error) bool {
	if !apierrors.HasStatusCause(err, causeSuspended) {
		return false
	}
	if r == nil {
		return true
	}
	r.mu.Lock()
	told := r.of[project]
	r.of[project] = true
	r.mu.Unlock()
	if !told {
		r.root.Warn(project.String(), v1alpha.ReasonProjectSuspended,
			"The project is suspended and refuses status updates: kubectl get shows its Workloads and Instances as they were before. "+
				"kubectl compute tree and explain show the suspension; the add-on updates the status when the project is resumed.")
	}
	return true
}

// changed forgets a project that was resumed, or suspended again.
func (r *Refusals) changed(project string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, multicluster.ClusterName(project))
}

// count returns the number of refusing projects that this replica still has engaged.
func (r *Refusals) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for project := range r.of {
		switch _, err := r.engaged.Get(context.Background(), project); {
		case errors.Is(err, multicluster.ErrClusterNotFound):
			delete(r.of, project)
		case r.suspension.IsSuspended(project.String()):
			count++
		}
	}
	return count
}
