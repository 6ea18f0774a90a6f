// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

const (
	// conflictRetry is the delay before an object is requeued that was changed while it was reconciled.
	conflictRetry = 50 * time.Millisecond
	// suspendedRetry is the delay before an object is requeued whose project refuses writes because it is suspended.
	// When the project is resumed, the cells' reports requeue the object earlier.
	suspendedRetry = time.Minute

	// causeSuspended is the cause that Milo gives when it refuses a write in a suspended project. No retry helps until it
	// is resumed.
	causeSuspended metav1.CauseType = "ProjectSuspended"
)

// withoutConflicts runs f, and requeues an object after a conflict instead of counting and logging an error: another
// writer came first, and the cache has not received its change yet. It also requeues after the refusal of a write in a
// suspended project: no retry helps until the project is resumed.
func withoutConflicts(f mcreconcile.Func, refusals *Refusals) mcreconcile.Func {
	return func(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
		result, err := f(ctx, request)
		switch {
		case apierrors.IsConflict(err):
			return reconcile.Result{RequeueAfter: conflictRetry}, nil
		case refusals.observe(request.ClusterName, err):
			log.FromContext(ctx).V(1).Info("The project refuses the write, since it is suspended", "after", suspendedRetry, "refusal", err.Error())
			return reconcile.Result{RequeueAfter: suspendedRetry}, nil
		}
		return result, err
	}
}

// Refusals are the projects that refuse writes because they are suspended. The status in such a project dates from
// before the suspension, so the refusals are reported elsewhere: in a metric and, once for each suspension, in an Event
// about the Project at Milo's root. The methods of nil Refusals do nothing. It is safe for concurrent use.
type Refusals struct {
	projects Suspendable

	mu      sync.Mutex
	refused map[multicluster.ClusterName]bool
}

// Suspendable are projects that may be suspended, with the root that receives Events about them.
type Suspendable interface {
	projects.Engaged
	projects.Suspension
	projects.Root
}

// NewRefusals returns Refusals, and registers their metric.
func NewRefusals(suspendable Suspendable, registerer prometheus.Registerer) *Refusals {
	r := &Refusals{projects: suspendable, refused: map[multicluster.ClusterName]bool{}}
	refusing := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "karmada_compute_projects_refusing_status",
		Help: "Suspended projects of this replica that refuse status updates and therefore show the state before the suspension.",
	}, func() float64 { return float64(r.count()) })
	registerer.MustRegister(refusing)
	suspendable.OnSuspension(r.changed)
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
	told := r.refused[project]
	r.refused[project] = true
	r.mu.Unlock()
	if !told {
		r.projects.Warn(project.String(), v1alpha.ReasonProjectSuspended,
			"The project is suspended and refuses status updates: kubectl get shows its Workloads and Instances as they were before. "+
				"kubectl compute tree and explain show the suspension; the add-on updates the status when the project is resumed.")
	}
	return true
}

// changed forgets a project that was resumed, or suspended again.
func (r *Refusals) changed(project string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.refused, multicluster.ClusterName(project))
}

// count returns the number of refusing projects that this replica still has engaged.
func (r *Refusals) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for project := range r.refused {
		switch _, err := r.projects.Get(context.Background(), project); {
		case errors.Is(err, multicluster.ErrClusterNotFound):
			delete(r.refused, project)
		case r.projects.IsSuspended(project.String()):
			count++
		}
	}
	return count
}
