// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestAProjectThatIsLost: names stay while Milo does not have the project, or does not serve its Workloads, and go when Milo
// has the project and answers that the Workload is gone.
func TestAProjectThatIsLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	const answer = "A 203.0.113.7"
	f.wantAnswer(t, f.byPattern("web"), answer)
	planes.Delete(t, f.Planes, w)
	for name, held := range map[string]string{"one project": "", "all projects": "Milo has lost its storage"} {
		if f.absent, f.held = true, held; len(f.reconcile(t, "web")) > 0 || f.again == 0 {
			t.Errorf("when Milo has lost %s, the names are written, or never again", name)
		}
		f.wantAnswer(t, f.byPattern("web"), answer)
	}
	f.absent, f.held = false, ""
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "")
}

// TestASilentCityStays: a city beyond the operator's share keeps its addresses in the name, and the condition reports it.
func TestASilentCityStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconciler.SilentShare = 40
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.serve(t, w, "ORD", "203.0.113.8")
	f.reconcile(t, "web")
	f.serve(t, w, "ORD", "")
	planes.ChangeStatus(t, f.Planes, planes.Get(t, f.Planes, f.Namespace.Name, "web-ord", &v1alpha.WorkloadDeployment{}),
		func(d *v1alpha.WorkloadDeployment) { d.Status.Endpoints[0].Reason = v1alpha.ReasonCellNotReady })
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.8")
	got := f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, f.byPattern("web"))
	if !strings.Contains(got.Message, "cells of ORD, and no more than 40%") {
		t.Errorf("the message is %q", got.Message)
	}
	if writes := f.reconcile(t, "web"); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
}

// TestAKindThatIsNotServed: that the project does not serve Workloads for a moment is no answer about one.
func TestAKindThatIsNotServed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	s := f.scope(t, "web", &v1alpha.Workload{})
	s.project.Cluster = unserved{s.project.Cluster}
	if err := s.release(t.Context()); err == nil {
		t.Error("it is taken for an answer")
	}
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
}

// unserved is a project that does not serve Workloads.
type unserved struct{ cluster.Cluster }

func (unserved) GetAPIReader() client.Reader { return notFound{} }

type notFound struct{ client.Reader }

func (notFound) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	// As an API server answers without the CRD.
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Reason: metav1.StatusReasonNotFound, Code: 404, Message: "the server could not find the requested resource",
		Details: &metav1.StatusDetails{},
	}}
}
