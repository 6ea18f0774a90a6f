// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/deployments"
	"github.com/karmada-compute/karmada-compute/cell/instances"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/cell/rollup"
	"github.com/karmada-compute/karmada-compute/cell/runtime"
	"github.com/karmada-compute/karmada-compute/transforms"
)

// Options configure the controllers.
type Options struct {
	// Concurrency is how many objects each controller reconciles at the same time.
	Concurrency int
	// Clock gives conditions their transition times and paces writes.
	Clock clock.PassiveClock
}

// reconcileTimeout is the longest that one reconcile may take. One whose API server does not answer fails then and is retried.
const reconcileTimeout = time.Minute

// CacheOptions limit the cache to what the controllers read: Pods of Instances, and ConfigMaps and Secrets that the hub has
// sent.
func CacheOptions() (cache.Options, error) {
	ofDeployment, err := labels.NewRequirement(v1alpha.LabelDeploymentName, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select the Pods of Instances: %w", err)
	}
	fromProject, err := labels.NewRequirement(v1alpha.LabelProject, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select what the hub has sent: %w", err)
	}
	sent := cache.ByObject{Label: labels.NewSelector().Add(*fromProject), Transform: transforms.StripAnnotations()}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {Label: labels.NewSelector().Add(*ofDeployment)},
			// Controllers cache only the metadata of these.
			&corev1.ConfigMap{}: sent,
			&corev1.Secret{}:    sent,
		},
	}, nil
}

// Setup adds every controller to a manager of the cell. Call it before the manager starts.
func Setup(mgr ctrl.Manager, o Options) error {
	if err := owned.Index(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	options := controller.Options{MaxConcurrentReconciles: o.Concurrency, ReconciliationTimeout: reconcileTimeout}
	recorder := mgr.GetEventRecorder("karmada-compute-cell")
	for _, controller := range []interface {
		Register(mgr ctrl.Manager, options controller.Options) error
	}{
		&deployments.Reconciler{Client: mgr.GetClient(), Recorder: recorder},
		&instances.Reconciler{Client: mgr.GetClient(), Clock: o.Clock},
		&runtime.Reconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: recorder, Clock: o.Clock},
		rollup.New(mgr.GetClient(), o.Clock),
	} {
		if err := controller.Register(mgr, options); err != nil {
			return fmt.Errorf("register a controller of the cell: %w", err)
		}
	}
	return nil
}
