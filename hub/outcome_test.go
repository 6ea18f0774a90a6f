// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

func requestFor(project multicluster.ClusterName) mcreconcile.Request {
	return mcreconcile.Request{ClusterName: project}
}

func TestErrors(t *testing.T) {
	failed := errors.New("connection refused")
	tests := map[string]struct {
		err       error
		wantErr   error
		wantAfter time.Duration
	}{
		"none":       {nil, nil, time.Minute},
		"an error":   {failed, failed, time.Minute},
		"a conflict": {apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "database", failed), nil, conflictRetry},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			limited := withoutConflicts(func(context.Context, mcreconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{RequeueAfter: time.Minute}, test.err
			}, nil)
			got, err := limited(t.Context(), requestFor("north"))
			if !errors.Is(err, test.wantErr) || got.RequeueAfter != test.wantAfter {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// TestASuspendedProjectRefusesWrites: the refusal is no error, and the object is requeued.
func TestASuspendedProjectRefusesWrites(t *testing.T) {
	for cause, want := range map[metav1.CauseType]bool{"ProjectSuspended": true, "Other": false} {
		limited := withoutConflicts(func(context.Context, mcreconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, refusedBy(cause)
		}, nil)
		if got, err := limited(t.Context(), requestFor("north")); (err == nil) != want || (got.RequeueAfter == suspendedRetry) != want {
			t.Errorf("after a refusal with cause %s: %+v, %v", cause, got, err)
		}
	}
}
