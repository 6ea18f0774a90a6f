// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/networks"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// service is a network service with a fixed answer. calls are its other calls.
type service struct {
	answer v1alpha.WorkloadDeploymentNetworks
	err    error
	calls  []string
}

func (s *service) Bind(context.Context, projects.Project, *v1alpha.WorkloadDeployment) (*v1alpha.WorkloadDeploymentNetworks, error) {
	return s.answer.DeepCopy(), s.err
}

func (s *service) Trim(context.Context, projects.Project, *v1alpha.WorkloadDeployment) error {
	s.calls = append(s.calls, "trim")
	return nil
}

func (s *service) Release(context.Context, projects.Project, *v1alpha.WorkloadDeployment) error {
	s.calls = append(s.calls, "release")
	return nil
}

// TestNetworks: the copy reports whether its networks are Ready, and is requeued until they are. The consumer's own
// networks field is ignored.
func TestNetworks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Networks = &v1alpha.WorkloadDeploymentNetworks{Message: "forged"}
	})
	f.mustReconcile(t, "web")
	if got := read(t, f, f.copied()); got.Spec.Networks != nil {
		t.Errorf("where nobody waits for networks the copy has %+v", got.Spec.Networks)
	}
	known := &service{err: errors.New("no answer")}
	f.reconciler.Networks = known
	expect := func(ready, again bool) {
		t.Helper()
		result, err := f.reconcile(t)
		if err != nil {
			t.Fatal(err)
		}
		got := read(t, f, f.copied()).Spec.Networks
		if got == nil || got.Ready != ready || (got.Message == "") != ready {
			t.Errorf("the copy says %+v", got)
		}
		if (result.RequeueAfter == networks.BindingRetry) != again {
			t.Errorf("it looks again after %s", result.RequeueAfter)
		}
	}
	expect(false, true)
	known.answer, known.err = v1alpha.WorkloadDeploymentNetworks{Message: "not yet"}, nil
	expect(false, true)
	known.answer = v1alpha.WorkloadDeploymentNetworks{Ready: true}
	expect(true, false)
	known.err = errors.New("no answer")
	expect(true, true)
	known.err = nil
	if len(known.calls) > 0 {
		t.Errorf("before its Instances are of the template it calls %v", known.calls)
	}
	planes.ChangeStatus(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Status.ObservedGeneration = d.Generation })
	expect(true, false)
	planes.Delete(t, f.Planes, f.original)
	for range 2 {
		if _, err := f.reconcile(t); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(known.calls, []string{"trim", "release"}) {
		t.Errorf("it calls %v", known.calls)
	}
}
