// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pace_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/internal/pace"
)

func TestRun(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	broken := errors.New("broken")
	tests := map[string]struct {
		// first is the error of the first of two steps.
		first      error
		after      []time.Duration
		wantSteps  []string
		wantResult reconcile.Result
		wantErr    error
	}{
		"nothing to wait for": {wantSteps: []string{"first", "second"}},
		"the shortest time counts": {
			after: []time.Duration{2, 1, 3}, wantSteps: []string{"first", "second"}, wantResult: reconcile.Result{RequeueAfter: 1},
		},
		"an error ends the reconcile": {first: broken, after: []time.Duration{1}, wantSteps: []string{"first"}, wantErr: broken},
		"an object that is gone ends it without an error": {
			first: fmt.Errorf("delete: %w", apierrors.NewNotFound(pods, "web")), wantSteps: []string{"first"},
		},
		"a conflict is tried again: no event may come of a change that the controller ignores": {
			first: apierrors.NewConflict(pods, "web", broken), wantSteps: []string{"first"}, wantResult: reconcile.Result{RequeueAfter: time.Second},
		},
		"an object that has changed ends it without an error": {
			first: fmt.Errorf("patch: %w", apierrors.NewConflict(pods, "web", broken)), after: []time.Duration{1},
			wantSteps: []string{"first"}, wantResult: reconcile.Result{RequeueAfter: 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var runner pace.Runner
			var ran []string
			result, err := runner.Run(t.Context(),
				func(context.Context) error {
					ran = append(ran, "first")
					for _, after := range test.after {
						runner.RequeueAfter.AtMost(after)
					}
					return test.first
				},
				func(context.Context) error {
					ran = append(ran, "second")
					return nil
				})
			if !slices.Equal(ran, test.wantSteps) || result != test.wantResult || !errors.Is(err, test.wantErr) {
				t.Errorf("ran %v with %v, %v", ran, result, err)
			}
		})
	}
}
