// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

// suspendedProjects are the projects of a replica, some of them suspended.
type suspendedProjects struct {
	engaged, suspended []string
	changed            func(string)
	warnings           []string
}

func (p *suspendedProjects) Get(_ context.Context, name multicluster.ClusterName) (cluster.Cluster, error) {
	if slices.Contains(p.engaged, name.String()) {
		return nil, nil
	}
	return nil, multicluster.ErrClusterNotFound
}

func (p *suspendedProjects) UID(multicluster.ClusterName) (types.UID, error) { return "", nil }

func (p *suspendedProjects) IsSuspended(project string) bool {
	return slices.Contains(p.suspended, project)
}

func (p *suspendedProjects) OnSuspension(f func(string)) { p.changed = f }

func (p *suspendedProjects) Warn(project, reason, _ string) {
	p.warnings = append(p.warnings, project+" "+reason)
}

func newRefusals(t *testing.T, p *suspendedProjects) (*Refusals, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	return NewRefusals(p, registry), registry
}

// refusedBy returns the answer of a project to a write.
func refusedBy(cause metav1.CauseType) error {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "instances"}, "web-0", errors.New("the project is suspended"))
	refused.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: cause}}
	return fmt.Errorf("apply the status: %w", refused)
}

// TestRefusalsAreTold: a project that refuses status updates because it is suspended is counted, and reported once for
// each suspension.
func TestRefusalsAreTold(t *testing.T) {
	p := &suspendedProjects{engaged: []string{"north", "south"}, suspended: []string{"north", "south"}}
	refusals, registry := newRefusals(t, p)
	var answer error
	limited := withoutConflicts(func(context.Context, mcreconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, answer
	}, refusals)
	expect := func(when string, count int, warnings ...string) {
		t.Helper()
		want := fmt.Sprintf("karmada_compute_projects_refusing_status %d\n", count)
		if err := testutil.GatherAndCompare(registry, strings.NewReader(
			"# HELP karmada_compute_projects_refusing_status Suspended projects of this replica that refuse status updates and "+
				"therefore show the state before the suspension.\n"+
				"# TYPE karmada_compute_projects_refusing_status gauge\n"+want)); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if !slices.Equal(p.warnings, warnings) {
			t.Errorf("%s: it warns %v, want %v", when, p.warnings, warnings)
		}
	}
	reconcileOnce := func(project multicluster.ClusterName, err error, want time.Duration) {
		t.Helper()
		answer = err
		if got, err := limited(t.Context(), requestFor(project)); err != nil || got.RequeueAfter != want {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	reconcileOnce("north", nil, 0)
	expect("before a write is refused", 0)
	for range 3 {
		reconcileOnce("north", refusedBy(causeSuspended), suspendedRetry)
	}
	reconcileOnce("south", refusedBy(causeSuspended), suspendedRetry)
	expect("when both refuse writes", 2, "north ProjectSuspended", "south ProjectSuspended")
	p.suspended = []string{"south"}
	p.changed("north")
	expect("when one is resumed", 1, "north ProjectSuspended", "south ProjectSuspended")
	p.engaged = []string{"north"}
	expect("when the other one has another replica", 0, "north ProjectSuspended", "south ProjectSuspended")
	p.suspended = []string{"north"}
	p.changed("north")
	reconcileOnce("north", refusedBy(causeSuspended), suspendedRetry)
	expect("when the first is suspended again", 1, "north ProjectSuspended", "south ProjectSuspended", "north ProjectSuspended")
}
