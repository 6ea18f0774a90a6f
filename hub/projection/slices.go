// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// registerSlices adds the controller that shows the Instances in slices, each slice on its own: a change of one
// Instance then costs no work for other slices. Its requests have the names of slices, in the namespaces of projects.
func (r *Reconciler) registerSlices(
	mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func,
) error {
	onHub := []mcbuilder.WatchesOption{mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false)}
	return mcbuilder.ControllerManagedBy(mgr).
		Named("projection-slices").
		Watches(&workv1alpha1.Work{}, projects.OnHubEvent(path.OfSliceWork(r.Hub)),
			append(onHub, mcbuilder.WithPredicates(path.SliceReportChanged()))...).
		Watches(&v1alpha.InstanceSlice{}, projects.OnHubEvent(projects.OfCopy), onHub...).
		// An Instance that was edited or deleted by hand is restored.
		Watches(&v1alpha.Instance{}, ofInstance(true)).
		WatchesRawSource(r.shared.source()).
		WithOptions(options).
		Complete(wrap(r.ReconcileSlice))
}

func requestFor(project multicluster.ClusterName, namespace, name string) mcreconcile.Request {
	return mcreconcile.Request{
		ClusterName: project, Request: reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}},
	}
}

// ReconcileSlice writes the cells' reports in a slice into its project.
func (r *Reconciler) ReconcileSlice(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	deployment, number, ok := naming.ParseSliceName(request.Name)
	if !ok {
		return reconcile.Result{}, nil
	}
	engaged, err := r.Projects.Get(ctx, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	s := scopeOf(r, requestFor(request.ClusterName, request.Namespace, deployment), engaged)
	if found, err := s.load(ctx); err != nil || !found {
		return reconcile.Result{}, err
	}
	var known bool
	if s.findings, known = r.shared.findings(s); !known {
		// The deployment requests its slices when it has been reconciled.
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, s.projectSlice(ctx, number)
}

// projectSlice shows the Instances of a slice. The Instances of a cell that has not reported in it remain as they are
// shown. A copy on which no cell has reported was just created, and does not know yet how many slices it needs.
func (s *scope) projectSlice(ctx context.Context, number int) error {
	reports, err := path.SliceReports(ctx, s.Hub, s.copied, number)
	if err != nil {
		return err
	}
	within := naming.SliceRange(number)
	s.reported = wire.InstancesIn(s.copied, reports, within)
	s.Ignored.count(s.copied, reports, within)
	if err := s.getInstances(ctx, within); err != nil {
		return err
	}
	if err := s.deleteOrphans(ctx); err != nil {
		return err
	}
	if err := s.applyReported(ctx); err != nil {
		return err
	}
	heard := map[string]bool{}
	for i := range reports {
		heard[reports[i].Cell] = true
	}
	needed := number < int(s.copied.Spec.Slices)
	return s.deleteUnreported(ctx, func(index int) bool { return s.hasReport() && (!needed || s.heardOf(heard, index)) })
}

// heardOf reports whether heard includes all cells that may have the Instance at an index.
func (s *facts) heardOf(heard map[string]bool, index int) bool {
	assignment := s.copied.Spec.Assignment
	if assignment == nil {
		return len(heard) > 0
	}
	if owner := assignment.Owner(index); owner != "" {
		return heard[owner]
	}
	for i := range assignment.Cells {
		if !heard[assignment.Cells[i].Name] {
			return false
		}
	}
	return true
}

// shared holds the state of deployments that their slices need, computed once for all slices. It is safe for concurrent
// use.
type shared struct {
	// projects holds the known state of deployments, by project.
	projects projects.Store[map[types.NamespacedName]known]

	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]
}

// known is the known state of a deployment.
type known struct {
	findings []path.Finding
	// state encodes the inputs, other than the slices, that projected Instances depend on. "": the deployment is not shown.
	state string
	// left is when Instances of an earlier deployment of the name were first found. Zero: none are left.
	left time.Time
}

func newShared() *shared {
	return &shared{projects: projects.Store[map[types.NamespacedName]known]{
		New: func(projects.Engagement) map[types.NamespacedName]known { return map[types.NamespacedName]known{} },
	}}
}

// source returns a source of requests for all slices of deployments whose known state changes.
func (d *shared) source() source.TypedSource[mcreconcile.Request] {
	return source.TypedFunc[mcreconcile.Request](func(_ context.Context,
		queue workqueue.TypedRateLimitingInterface[mcreconcile.Request],
	) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.queue = queue
		return nil
	})
}

// knownOf returns the known state of the deployment of s. d.mu is held.
func (d *shared) knownOf(s *scope) known {
	return d.projects.Of(s.request.ClusterName)[s.request.NamespacedName]
}

// findings returns the findings of a deployment. They are unknown before its first reconcile.
func (d *shared) findings(s *scope) (findings []path.Finding, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	state := d.knownOf(s)
	return state.findings, state.state != ""
}

// knows reports whether the present state of a deployment is known already.
func (d *shared) knows(s *scope) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.knownOf(s).state == s.state()
}

// learn replaces the known state of a deployment, and requests all of its slices if it changes.
func (d *shared) learn(s *scope) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.knownOf(s)
	now := known{findings: s.findings, state: s.state(), left: before.left}
	d.projects.Of(s.request.ClusterName)[s.request.NamespacedName] = now
	if before.state == now.state || d.queue == nil {
		return
	}
	for number := range int(s.copied.Spec.Slices) {
		d.queue.Add(requestFor(s.request.ClusterName, s.request.Namespace, naming.SliceName(s.request.Name, number)))
	}
}

// forget drops a deployment that is no longer shown.
func (d *shared) forget(request mcreconcile.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	memory := d.projects.Of(request.ClusterName)
	if left := memory[request.NamespacedName].left; !left.IsZero() {
		memory[request.NamespacedName] = known{left: left}
		return
	}
	delete(memory, request.NamespacedName)
}

// hasLeftovers reports whether Instances of an earlier deployment were left when the deployment was reconciled last.
func (d *shared) hasLeftovers(s *scope) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.knownOf(s).left.IsZero()
}

// leftSince notes whether Instances of an earlier deployment are left, and returns when the first was found.
func (d *shared) leftSince(s *scope, some bool, now time.Time) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	entry := d.knownOf(s)
	if !some {
		entry.left = time.Time{}
	} else if entry.left.IsZero() {
		entry.left = now
	}
	memory := d.projects.Of(s.request.ClusterName)
	if memory[s.request.NamespacedName] = entry; entry.state == "" && !some {
		delete(memory, s.request.NamespacedName)
	}
	return entry.left
}

// state encodes the inputs, other than the slices, that projected Instances depend on.
func (s *facts) state() string {
	type finding struct {
		Key     path.Key
		Message string
		Since   metav1.Time
	}
	var findings []finding
	for i := range s.findings {
		f := &s.findings[i]
		findings = append(findings, finding{f.Key(), f.Message, metav1.NewTime(f.Since)})
	}
	// These types always encode.
	encoded, _ := json.Marshal([]any{
		s.deployment.UID, s.deployment.Generation, s.deployment.Labels, s.copied.UID, s.copied.Spec.Assignment,
		s.copied.Spec.Slices, s.dropped, findings,
	})
	return string(encoded)
}
