// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestCopiesWithAFault: data is copied, changes and ends with its original, whichever write fails.
func TestCopiesWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t).engage(t)
		f.Project.Through(faults)
		f.Hub.Through(faults)
		settle := func() {
			t.Helper()
			for range 2 {
				faults.Reconcile(t, func() error { _, err := f.reconcile(t); return err })
				f.sync(t)
			}
		}
		app := planes.Create(t, f.Planes, f.app())
		planes.Create(t, f.Planes, f.database())
		f.deploy(t, "web", templateNaming([]string{"app"}, []string{"database"}))
		settle()
		if !f.isOnHub(t, f.app()) || !f.isOnHub(t, f.database()) {
			t.Fatal("the hub lacks the data")
		}
		f.await(t, app)
		planes.Change(t, f.Planes, app, func(m *corev1.ConfigMap) { m.Data["colour"] = "red" })
		f.await(t, app)
		settle()
		if got := f.appOnHub(t).Data["colour"]; got != "red" {
			t.Errorf("the copy has %s", got)
		}
		f.Hub.Calls()
		f.Project.Calls()
		settle()
		if writes := append(f.Hub.Writes(), f.Project.Writes()...); len(writes) > 0 {
			t.Errorf("when all is copied, it writes %v", writes)
		}
		planes.Delete(t, f.Planes, app)
		f.await(t, app)
		settle()
		if f.isOnHub(t, f.app()) || !f.isOnHub(t, f.database()) {
			t.Error("not exactly the copy without an original is deleted")
		}
	})
}

// TestSnapshotsWithAFault: a content is kept before the Workload names it, and replaced by the next one, whichever write
// fails.
func TestSnapshotsWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t).engage(t)
		settle := func(want ...string) {
			t.Helper()
			for range 2 {
				faults.Reconcile(t, func() error { _, err := f.reconcile(t); return err })
				f.sync(t)
			}
			if got := f.snapshots(t); !slices.Equal(got, want) {
				t.Fatalf("on the hub are %v, want %v", got, want)
			}
		}
		planes.Create(t, f.Planes, f.app())
		f.rolling(t, []string{"app"}, nil)
		f.Project.Through(faults)
		f.Hub.Through(faults)
		settle()
		f.started(t)
		settle("blue")
		before := f.web(t).Status.Data.Objects[0]
		f.writes(t, "red")
		settle("blue", "red")
		if after := f.web(t).Status.Data.Objects[0]; after == before {
			t.Errorf("the Workload is still started with %v", after)
		}
		f.started(t)
		settle("blue", "red")
		f.Hub.Calls()
		f.Project.Calls()
		settle("blue", "red")
		if writes := append(f.Hub.Writes(), f.Project.Writes()...); len(writes) > 0 {
			t.Errorf("when all is kept, it writes %v", writes)
		}
		f.forget(t, 1)
		settle("red")
	})
}

// TestASecretThatCannotBeRead: the API server of a project that cannot decrypt one Secret, which is part of the revisions of a
// Workload, costs the other deployments of the namespace nothing: their data is copied and deleted, and has its condition.
func TestASecretThatCannotBeRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	app := planes.Create(t, f.Planes, f.app())
	broken := f.database()
	broken.Name = "broken"
	planes.Create(t, f.Planes, broken)
	f.rolling(t, nil, []string{"broken"})
	f.deploy(t, "other", templateNaming([]string{"app"}, nil))
	f.Project.Before(func(call planes.Call) error {
		if call.Kind == "Secret" && call.Name == "broken" {
			return apierrors.NewInternalError(errors.New("cannot decrypt"))
		}
		return nil
	})
	reconcile := func() {
		t.Helper()
		if _, err := f.reconcile(t); !apierrors.IsInternalError(err) {
			t.Errorf("the failure is %v", err)
		}
		f.sync(t)
	}
	reconcile()
	reconcile()
	if !f.isOnHub(t, f.app()) {
		t.Error("the data of the other deployment is not copied")
	}
	f.wantReason(t, "other", v1alpha.ReasonAwaitingPropagation)
	planes.Delete(t, f.Planes, app)
	f.await(t, app)
	reconcile()
	if f.isOnHub(t, f.app()) {
		t.Error("the copy of an object that is deleted stays")
	}
	f.wantReason(t, "other", v1alpha.ReasonSourceNotFound)
	f.Project.Before(nil)
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonNewestData, "")
}

// TestCopiesThatCannotBeListed: a hub that cannot list the Secrets of a namespace costs its ConfigMaps nothing. The Secrets stay as
// they are, and no content is taken for lost.
func TestCopiesThatCannotBeListed(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.database())
	f.rolling(t, nil, []string{"database"})
	f.mustReconcile(t)
	f.started(t)
	f.settled(t)
	before := f.web(t).Status

	app := planes.Create(t, f.Planes, f.app())
	f.deploy(t, "other", templateNaming([]string{"app"}, nil))
	f.restart(t)
	f.HubAPI.Before(func(call planes.Call) error {
		if call.Verb == "list" && call.Kind == "SecretList" {
			return apierrors.NewInternalError(errors.New("cannot decrypt"))
		}
		return nil
	})
	reconcile := func() {
		t.Helper()
		if _, err := f.reconcile(t); !apierrors.IsInternalError(err) {
			t.Errorf("the failure is %v", err)
		}
		f.sync(t)
	}
	reconcile()
	reconcile()
	if !f.isOnHub(t, f.app()) {
		t.Error("a ConfigMap is not copied")
	}
	planes.Delete(t, f.Planes, app)
	f.await(t, app)
	reconcile()
	if f.isOnHub(t, f.app()) {
		t.Error("the copy of a ConfigMap that is deleted stays")
	}
	if after := f.web(t).Status; !equality.Semantic.DeepEqual(after, before) {
		t.Errorf("the data of the Workload was %+v, and is %+v", before, after)
	}
	f.HubAPI.Before(nil)
	f.mustReconcile(t)
	if after := f.web(t).Status; !equality.Semantic.DeepEqual(after, before) {
		t.Errorf("afterwards, the data of the Workload is %+v", after)
	}
}

// TestAContentThatIsKeptNowhere: a recorded content that no snapshot has does not wait for its interval: no Instance can start
// with it.
func TestAContentThatIsKeptNowhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.app())
	f.rolling(t, []string{"app"}, nil)
	f.mustReconcile(t)
	first := f.web(t).Status.Data.Objects[0]
	f.started(t)
	planes.ChangeStatus(t, f.Planes, f.web(t), func(w *v1alpha.Workload) { w.Status.Data.IntervalSeconds = 3600 })
	planes.ChangeStatus(t, f.Planes, f.web(t), func(w *v1alpha.Workload) {
		w.Status.Data.TakenTime = &metav1.Time{Time: f.clock.Now().Truncate(time.Second)}
	})
	// The content changes before its snapshot is written.
	f.writes(t, "red")
	f.mustReconcile(t)
	if got := f.web(t).Status.Data.Objects[0]; got == first {
		t.Errorf("it is still started with %v", got)
	}
	f.started(t)
	f.settled(t)
	second := f.web(t).Status.Data.Objects[0]
	f.writes(t, "green")
	f.mustReconcile(t)
	if got := f.web(t).Status.Data.Objects[0]; got != second {
		t.Errorf("a content that is kept does not wait: it is started with %v", got)
	}
	f.wantCurrent(t, v1alpha.ReasonDataWaits, "ConfigMap app")
}
