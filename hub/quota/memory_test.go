// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestWithheldInstances are counted by reason, from 0 on, and not while their project is suspended: for the alert,
// PendingEvaluation means that Milo does not answer.
func TestWithheldInstances(t *testing.T) {
	m := newMemory()
	request := mcreconcile.Request{ClusterName: "north"}
	pending := denial{v1alpha.ReasonPendingEvaluation, "Milo has not answered"}
	for _, c := range []struct {
		denials           map[int]denial
		pending, exceeded float64
	}{
		{nil, 0, 0},
		{map[int]denial{0: pending, 1: pending, 2: {v1alpha.ReasonQuotaExceeded, ""}}, 2, 1},
		{map[int]denial{0: ofSuspended, 1: ofSuspended}, 0, 0},
		{map[int]denial{1: pending}, 1, 0},
		{nil, 0, 0},
	} {
		m.remember(request, c.denials, true, time.Unix(1000, 0))
		gotPending := testutil.ToFloat64(m.withheld.WithLabelValues(v1alpha.ReasonPendingEvaluation))
		gotExceeded := testutil.ToFloat64(m.withheld.WithLabelValues(v1alpha.ReasonQuotaExceeded))
		if gotPending != c.pending || gotExceeded != c.exceeded {
			t.Errorf("of %v, %v are pending and %v have exceeded their quota", c.denials, gotPending, gotExceeded)
		}
	}
	if series := testutil.CollectAndCount(newMemory().withheld); series != 6 {
		t.Errorf("before anything is withheld, there are %d series", series)
	}
}

// TestDisengagedInTheMiddle: a project that is disengaged while one of its deployments is reconciled leaves nothing behind.
func TestDisengagedInTheMiddle(t *testing.T) {
	f := newFixture(t, 0, 1)
	f.allow(t, 1)
	f.becomes(t, []int{0}, v1alpha.ReasonQuotaExceeded, []int{1})
	engagement, disengage := context.WithCancel(t.Context())
	f.engageUntil(engagement, t)
	f.becomes(t, []int{0}, v1alpha.ReasonQuotaExceeded, []int{1})
	if len(f.reconciler.memory.deployments) != 1 {
		t.Fatalf("before, it remembers %v", f.reconciler.memory.deployments)
	}
	f.Project.Once("get", v1alpha.KindWorkloadDeployment, func() error {
		disengage()
		f.until(t, func() bool { _, engaged := f.reconciler.claims.Get(planes.ProjectName); return !engaged })
		return nil
	})
	if err := f.reconcile(t); err != nil {
		t.Logf("the reconcile ends with %v", err)
	}
	if left := f.reconciler.memory.deployments; len(left) != 0 {
		t.Errorf("it remembers %v", left)
	}
	if withheld := testutil.ToFloat64(f.reconciler.memory.withheld.WithLabelValues(v1alpha.ReasonQuotaExceeded)); withheld != 0 {
		t.Errorf("%g Instances count as withheld", withheld)
	}
}

// TestDenialsStayWithoutAnAnswer: a hub that does not answer has not said that the deployment has no copy any more.
func TestDenialsStayWithoutAnAnswer(t *testing.T) {
	f := newFixture(t, 0)
	f.becomes(t, nil, v1alpha.ReasonQuotaNoBudget, []int{0})
	f.Hub.Once("get", v1alpha.KindWorkloadDeployment, func() error { return apierrors.NewInternalError(errors.New("for a test")) })
	if err := f.reconcile(t); !apierrors.IsInternalError(err) {
		t.Errorf("the reconcile ends with %v", err)
	}
	if known := f.reconciler.memory.deployments; len(known) != 1 {
		t.Errorf("it remembers %v", known)
	}
}
