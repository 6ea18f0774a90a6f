// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// jitter spreads the audits of many cells.
const jitter = 0.3

// countInterval is the least time between two counts of empty namespaces, which are listed from the API server.
const countInterval = 3 * time.Minute

// batch is how many strays one pass handles at most.
const batch = 50

// AuditorOptions configure an Auditor.
type AuditorOptions struct {
	// Client reads from the cache.
	Client client.Reader
	// APIReader reads from the API server, bypassing the cache.
	APIReader client.Reader
	// Strays removes the strays that the audit finds.
	Strays *Keeper
	// Interval is the time between two audits without a finding.
	Interval time.Duration
	// Confirm is the minimum time for which an object must have been a stray before it is removed.
	Confirm time.Duration
	// Clock measures how long an object has been a stray.
	Clock clock.Clock
	// Registerer gets the metric.
	Registerer prometheus.Registerer
}

// Auditor finds strays. Create it with New.
type Auditor struct {
	AuditorOptions
	empty prometheus.Gauge
	// suspects are objects that looked like strays in the last pass, by UID, with the time of the first one. Pass alone
	// uses them.
	suspects map[types.UID]time.Time
	// counted is when the empty namespaces were counted last. Pass alone uses it.
	counted time.Time
}

// NewAuditor returns an Auditor and registers its metric.
func NewAuditor(o AuditorOptions) *Auditor {
	empty := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "karmada_compute_cell_empty_namespaces",
		Help: "Namespaces of projects in the cell that have no WorkloadDeployment and no Pod of the add-on.",
	})
	o.Registerer.MustRegister(empty)
	return &Auditor{AuditorOptions: o, empty: empty, suspects: map[types.UID]time.Time{}}
}

// Start audits until ctx ends. It turns the Auditor into a manager's Runnable, which only the leader runs.
func (a *Auditor) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("collector")
	for {
		next, err := a.Pass(log.IntoContext(ctx, logger))
		if err != nil && ctx.Err() == nil {
			logger.Error(err, "The cell could not be audited; trying again", "after", next)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.Clock.After(wait.Jitter(next, jitter)):
		}
	}
}

// Pass audits the cell once and returns the time until the next pass. It is used by one goroutine.
func (a *Auditor) Pass(ctx context.Context) (time.Duration, error) {
	found, err := a.find(ctx)
	if err != nil {
		return a.Interval, err
	}
	err = a.handle(ctx, found)
	if len(a.suspects) > 0 {
		return min(a.Confirm, a.Interval), err
	}
	return a.Interval, err
}

// find lists the objects in the cache that look like strays.
func (a *Auditor) find(ctx context.Context) ([]client.Object, error) {
	var (
		deployments v1alpha.WorkloadDeploymentList
		instances   v1alpha.InstanceList
		sliced      v1alpha.InstanceSliceList
		pods        corev1.PodList
	)
	for _, list := range []client.ObjectList{&deployments, &instances, &sliced, &pods} {
		// Nothing in the lists is changed.
		if err := a.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list %T of the cell: %w", list, err)
		}
	}
	owners, names := map[types.UID]bool{}, map[types.NamespacedName]bool{}
	for i := range deployments.Items {
		owners[deployments.Items[i].UID] = true
		names[client.ObjectKeyFromObject(&deployments.Items[i])] = true
	}
	for i := range instances.Items {
		owners[instances.Items[i].UID] = true
	}
	var found []client.Object
	for i := range instances.Items {
		if suspect(&instances.Items[i], v1alpha.KindWorkloadDeployment, owners) {
			found = append(found, &instances.Items[i])
		}
	}
	for i := range sliced.Items {
		slice := &sliced.Items[i]
		if slice.DeletionTimestamp.IsZero() && !names[types.NamespacedName{Namespace: slice.Namespace, Name: slice.Spec.Deployment}] {
			found = append(found, slice)
		}
	}
	for i := range pods.Items {
		if suspect(&pods.Items[i], v1alpha.KindInstance, owners) {
			found = append(found, &pods.Items[i])
		}
	}
	if now := a.Clock.Now(); now.Sub(a.counted) >= countInterval {
		a.counted = now
		return found, a.countEmpty(ctx, namespacesOf(&deployments, &pods))
	}
	return found, nil
}

// suspect reports whether an object that is not being deleted has a controller of a kind that does not exist, or none.
func suspect(obj client.Object, kind string, owners map[types.UID]bool) bool {
	controller, ok := ControllerName(obj, kind)
	return obj.GetDeletionTimestamp().IsZero() && (IsOrphan(obj) || ok && !owners[controller.UID])
}

// handle removes the suspects that have been ones for long enough, the oldest first. The API server has the last word
// on each: one that is no stray there, or cannot be removed, is a new suspect, so that it keeps no other one from its
// turn.
func (a *Auditor) handle(ctx context.Context, found []client.Object) error {
	now, suspects := a.Clock.Now(), map[types.UID]time.Time{}
	var confirmed []client.Object
	for _, obj := range found {
		since, known := a.suspects[obj.GetUID()]
		if !known {
			since = now
		}
		suspects[obj.GetUID()] = since
		if now.Sub(since) >= a.Confirm {
			confirmed = append(confirmed, obj)
		}
	}
	slices.SortStableFunc(confirmed, func(x, y client.Object) int { return suspects[x.GetUID()].Compare(suspects[y.GetUID()]) })
	var failed error
	for _, obj := range confirmed[:min(batch, len(confirmed))] {
		suspects[obj.GetUID()] = now
		if err := a.removeIfStray(ctx, obj); err != nil && failed == nil {
			failed = err
		}
	}
	a.suspects = suspects
	return failed
}

// removeIfStray reads a suspect from the API server and removes it if it is a stray there too.
func (a *Auditor) removeIfStray(ctx context.Context, obj client.Object) (err error) {
	switch obj.(type) {
	case *corev1.Pod:
		pod := &corev1.Pod{}
		if err = a.APIReader.Get(ctx, client.ObjectKeyFromObject(obj), pod); err == nil && pod.UID == obj.GetUID() {
			_, err = a.Strays.Pod(ctx, pod)
		}
	case *v1alpha.Instance:
		instance := &v1alpha.Instance{}
		if err = a.APIReader.Get(ctx, client.ObjectKeyFromObject(obj), instance); err == nil && instance.UID == obj.GetUID() {
			_, err = a.Strays.Instance(ctx, instance)
		}
	case *v1alpha.InstanceSlice:
		slice := &v1alpha.InstanceSlice{}
		if err = a.APIReader.Get(ctx, client.ObjectKeyFromObject(obj), slice); err == nil && slice.UID == obj.GetUID() {
			_, err = a.Strays.Slice(ctx, slice)
		}
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// Another writer came first.
		return nil
	}
	return err
}

// namespacesOf are the namespaces that contain objects of the add-on.
func namespacesOf(deployments *v1alpha.WorkloadDeploymentList, pods *corev1.PodList) map[string]bool {
	used := map[string]bool{}
	for i := range deployments.Items {
		used[deployments.Items[i].Namespace] = true
	}
	for i := range pods.Items {
		used[pods.Items[i].Namespace] = true
	}
	return used
}

// countEmpty counts the empty namespaces of projects. They are not deleted: only the hub knows which of them are
// needed.
func (a *Auditor) countEmpty(ctx context.Context, used map[string]bool) error {
	namespaces := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"}}
	if err := a.APIReader.List(ctx, namespaces, client.HasLabels{v1alpha.LabelProject}); err != nil {
		return fmt.Errorf("list the namespaces of projects: %w", err)
	}
	count := 0
	for i := range namespaces.Items {
		if !used[namespaces.Items[i].Name] {
			count++
		}
	}
	a.empty.Set(float64(count))
	return nil
}
