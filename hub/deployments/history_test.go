// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// TestTheFirstRevision: the deployments of a new Workload do not wait for its history, which is recorded before the
// status that has its number. A template that is replaced before that is recorded as well.
func TestTheFirstRevision(t *testing.T) {
	t.Parallel()
	for name, wanted := range map[string][]int64{
		"one template": {1}, "another template before the status": {1, 2}, "another template and city before the status": {1, 2},
	} {
		f := newFixture(t, "DFW ORD")
		f.reconciler.Passing = pace.NewWrites[mcreconcile.Request](f.clock)
		f.requeues = true
		f.workload(t, "main DFW")
		f.Project.Calls()
		f.mustReconcileKeepingCalls(t)
		for _, call := range f.Project.Calls() {
			if strings.HasPrefix(call.Kind, "WorkloadRevision") {
				t.Errorf("%s: before the status, it requests %+v", name, call)
			}
		}
		if len(wanted) > 1 {
			planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) {
				w.Spec.Template = planes.Template("registry.example/app:2")
				if strings.Contains(name, "city") {
					w.Spec.Placements[0].CityCodes = []string{"ORD"}
				}
			})
			f.mustReconcile(t)
		}
		f.clock.SetTime(f.clock.Now().Add(pace.Limit))
		f.mustReconcile(t)
		status := f.readWorkload(t).Status.Rollout
		if got := f.revisions(t); !slices.Equal(got, wanted) || status == nil || status.Revision != int64(len(wanted)) {
			t.Errorf("%s: the revisions are %v, the status is %+v", name, got, status)
		}
	}
}

// revisions returns the numbers of the recorded templates.
func (f *fixture) revisions(t *testing.T) []int64 {
	t.Helper()
	var list v1alpha.WorkloadRevisionList
	if err := f.Client.List(t.Context(), &list, client.InNamespace(f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	var numbers []int64
	for i := range list.Items {
		numbers = append(numbers, list.Items[i].Spec.Revision)
	}
	slices.Sort(numbers)
	return numbers
}

// TestTheCauseOfAChange: a revision keeps the annotation that tells the cause of the change.
func TestTheCauseOfAChange(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) {
		w.Annotations = map[string]string{v1alpha.AnnotationChangeCause: strings.Repeat("because ", 1000)}
		w.Spec.Template = planes.Template("registry.example/app:cause")
	})
	c.settle(t)
	var list v1alpha.WorkloadRevisionList
	if err := f.Client.List(t.Context(), &list, client.InNamespace(f.Namespace.Name)); err != nil || len(list.Items) != 2 {
		t.Fatalf("%d revisions, %v", len(list.Items), err)
	}
	for _, revision := range list.Items {
		cause := revision.Annotations[v1alpha.AnnotationChangeCause]
		if has := strings.HasPrefix(cause, "because because"); has != (revision.Spec.Revision == 2) || len(cause) > maxCause {
			t.Errorf("revision %d has a cause of %d bytes", revision.Spec.Revision, len(cause))
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.RevisionHistoryLimit = new(int32(2)) })
	for version := range 5 {
		f.image(t, fmt.Sprintf("registry.example/app:v%d", version))
		c.settle(t)
	}
	if got := f.revisions(t); !slices.Equal(got, []int64{4, 5, 6}) {
		t.Errorf("the revisions are %v", got)
	}
	// An earlier template returns as the newest revision.
	f.image(t, "registry.example/app:v3")
	c.settle(t)
	if got := f.revisions(t); !slices.Equal(got, []int64{4, 6, 7}) {
		t.Errorf("with an earlier template the revisions are %v", got)
	}
}

// TestAHistoryThatIsNotServed: a project that does not serve the history of a Workload for a moment has not said that a revision is
// gone, so that no template is taken for the last complete one or is left out of the history. A project without a history
// has none.
func TestAHistoryThatIsNotServed(t *testing.T) {
	t.Parallel()
	t.Run("for a moment", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, "DFW")
		f.requeues = true
		f.workload(t, "main DFW")
		f.mustReconcile(t)
		first := f.readDeployment(t, "web-main-dfw").Spec.Template
		f.image(t, "registry.example/app:2")
		f.Project.Unserve("WorkloadRevision")
		if err := f.reconcile(t); err == nil || !apierrors.IsNotFound(err) {
			t.Errorf("the second template is rolled out without a record: %v", err)
		}
		if got := f.readDeployment(t, "web-main-dfw").Spec.Template; simulated.Hash(t, &got) != simulated.Hash(t, &first) {
			t.Errorf("the deployment has %v", got.Spec.Runtime)
		}
		project, err := projects.Find(t.Context(), f.Planes, f.request().ClusterName)
		if err != nil {
			t.Fatal(err)
		}
		s := f.reconciler.scope(f.request(), project, f.readWorkload(t))
		if template, err := s.history.withHash(t.Context(), simulated.Hash(t, &first)); err == nil {
			t.Errorf("the first revision is %v", template)
		}
		f.Project.Unserve("")
		if template, err := s.history.withHash(t.Context(), "lost"); template != nil || err != nil {
			t.Errorf("a revision that is gone is %v, %v", template, err)
		}
		wanted := simulated.Hash(t, &first)
		if template, err := s.history.withHash(t.Context(), wanted); err != nil || template == nil || simulated.Hash(t, template) != wanted {
			t.Errorf("a revision that is there is %v, %v", template, err)
		}
		f.mustReconcile(t)
		if got := f.revisions(t); !slices.Equal(got, []int64{1, 2}) {
			t.Errorf("the revisions are %v", got)
		}
	})
	t.Run("ever", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, "DFW")
		f.requeues = true
		f.Project.Unserve("WorkloadRevision")
		f.workload(t, "main DFW")
		f.mustReconcile(t)
		second := f.image(t, "registry.example/app:2")
		f.mustReconcile(t)
		f.mustReconcile(t)
		if got := f.readDeployment(t, "web-main-dfw").Spec.Template; simulated.Hash(t, &got) != second {
			t.Errorf("the deployment has %v", got.Spec.Runtime)
		}
	})
}
