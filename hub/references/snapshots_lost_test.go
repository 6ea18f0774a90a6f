// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// restart plays another replica, which knows nothing of what this one has read and written.
func (f *fixture) restart(t *testing.T) {
	t.Helper()
	owners := f.reconciler.Owners
	f.reconciler = &Reconciler{
		Projects: f.Planes, Hub: f.Hub, APIReader: f.HubAPI, Clock: f.clock, Grants: projects.NewGrants(f.Hub), Namespace: f.HubNamespace,
	}
	f.reconciler.sources.New = newSources
	f.reconciler.Owners = owners
	f.engage(t)
}

// TestASecretOfTheLargestSize: a Secret of 256 KiB is part of a revision, and its bytes arrive.
func TestASecretOfTheLargestSize(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	source := f.database()
	source.Data = map[string][]byte{"key": bytes.Repeat([]byte{7}, maxObject-len("key"))}
	planes.Create(t, f.Planes, source)
	f.rolling(t, nil, []string{"database"})
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonNewestData, "")
	data := f.started(t)
	f.settled(t)
	copied := planes.Get(t, f.Planes, f.HubNamespace, templates.SnapshotName("database", data[0].Hash), &corev1.Secret{})
	if !bytes.Equal(copied.Data["key"], source.Data["key"]) {
		t.Errorf("%d of %d bytes are on the hub", len(copied.Data["key"]), len(source.Data["key"]))
	}
}

// TestTenRevisions: the data of ten revisions is kept, and an undo to the first one finds it.
func TestTenRevisions(t *testing.T) {
	t.Parallel()
	f := runs(t)
	first := f.web(t).Status.Data.Objects[0]
	for number := 2; number <= 10; number++ {
		f.clock.SetTime(f.clock.Now().Add(time.Hour))
		f.writes(t, fmt.Sprintf("colour-%02d", number))
		f.mustReconcile(t)
		f.started(t)
		f.mustReconcile(t)
	}
	if kept := f.snapshots(t); len(kept) != 10 || kept[0] != "blue" || kept[9] != "colour-10" {
		t.Fatalf("kept are %v", kept)
	}
	newest := f.web(t).Status.Data.Objects[0]
	planes.Change(t, f.Planes, f.web(t), func(w *v1alpha.Workload) {
		w.Annotations = map[string]string{v1alpha.AnnotationRolloutData: templates.FormatHolds(map[templates.DataObject]templates.Hold{
			{Kind: "ConfigMap", Name: "app"}: {Held: first.Hash, Newest: newest.Hash},
		})}
	})
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonDataHeld, first.Hash)
	if got := f.web(t).Status.Data.Objects[0]; got != first {
		t.Errorf("undone to the first revision, it is started with %v", got)
	}
}

// TestAHeldContentIsLost: an undo that holds a content that is kept nowhere says that the content must be written again.
func TestAHeldContentIsLost(t *testing.T) {
	t.Parallel()
	f := runs(t)
	blue := f.web(t).Status.Data.Objects[0]
	f.clock.SetTime(f.clock.Now().Add(time.Hour))
	f.writes(t, "red")
	f.mustReconcile(t)
	f.started(t)
	f.mustReconcile(t)
	red := f.web(t).Status.Data.Objects[0]
	planes.Change(t, f.Planes, f.web(t), func(w *v1alpha.Workload) {
		w.Annotations = map[string]string{v1alpha.AnnotationRolloutData: templates.FormatHolds(map[templates.DataObject]templates.Hold{
			{Kind: "ConfigMap", Name: "app"}: {Held: blue.Hash, Newest: red.Hash},
		})}
	})
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonDataHeld, blue.Hash)
	lost := &corev1.ConfigMap{}
	lost = planes.Get(t, f.Planes, f.HubNamespace, templates.SnapshotName("app", blue.Hash), lost)
	lost.Finalizers = nil
	planes.Delete(t, f.Planes, lost)
	if _, err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	f.wantCurrent(t, v1alpha.ReasonSnapshotGone, "content "+blue.Hash+" of ConfigMap app is no longer kept")
	if got := f.web(t).Status.Data.Objects[0]; got != blue {
		t.Errorf("it is started with %v", got)
	}
}

// TestAReplicaIsKilledBeforeTheStatus: the replica that follows takes the content that the project has then. The
// snapshot that the first one has written, and that nothing names, is deleted.
func TestAReplicaIsKilledBeforeTheStatus(t *testing.T) {
	t.Parallel()
	f := runs(t)
	f.writes(t, "red")
	killed := errors.New("the replica is killed")
	f.Project.Before(func(call planes.Call) error {
		if call.Kind == "Workload" && call.Verb != "get" && call.Verb != "list" {
			return killed
		}
		return nil
	})
	if _, err := f.reconcile(t); !errors.Is(err, killed) {
		t.Fatalf("it is killed: %v", err)
	}
	f.Project.Before(nil)
	if got := f.snapshots(t); !slices.Equal(got, []string{"blue", "red"}) {
		t.Fatalf("when it is killed, on the hub are %v", got)
	}
	planes.Change(t, f.Planes, planes.Get(t, f.Planes, f.Namespace.Name, "app", &corev1.ConfigMap{}),
		func(c *corev1.ConfigMap) { c.Data["colour"] = "green" })
	f.restart(t)
	f.mustReconcile(t)
	f.sync(t)
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonNewestData, "")
	f.started(t)
	f.settled(t)
	if got := f.snapshots(t); !slices.Equal(got, []string{"blue", "green"}) {
		t.Errorf("after the other replica, on the hub are %v", got)
	}
}

// TestARestoredHub: a backup of the hub may lack snapshots. The one that the project still has the content of is
// written again. Of another one, the condition names the content and the remedy, and the next content ends that.
func TestARestoredHub(t *testing.T) {
	t.Parallel()
	f := runs(t)
	lose := func() {
		t.Helper()
		var list corev1.ConfigMapList
		if err := f.Hub.List(t.Context(), &list); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if one := &list.Items[i]; one.Namespace == f.HubNamespace && one.Labels[v1alpha.LabelSnapshot] != "" {
				planes.Delete(t, f.Planes, one)
			}
		}
		f.restart(t)
		f.mustReconcile(t)
		f.sync(t)
	}
	running := f.web(t).Status.Data.Objects[0]
	lose()
	f.settled(t)
	if got := f.snapshots(t); !slices.Equal(got, []string{"blue"}) {
		t.Errorf("with its content in the project, on the hub are %v", got)
	}

	// The content changes while no replica runs.
	planes.Change(t, f.Planes, planes.Get(t, f.Planes, f.Namespace.Name, "app", &corev1.ConfigMap{}),
		func(c *corev1.ConfigMap) { c.Data["colour"] = "red" })
	lose()
	f.mustReconcile(t)
	f.wantReason(t, "web-main-dfw", v1alpha.ReasonSnapshotGone)
	if got := f.web(t).Status.Data.Objects[0]; got == running {
		t.Errorf("it does not take the content of the project: %v", got)
	}
	f.started(t)
	f.settled(t)
	if got := f.snapshots(t); !slices.Equal(got, []string{"red"}) {
		t.Errorf("with the next content, on the hub are %v", got)
	}
	if got := f.condition(t, "web-main-dfw"); meta.IsStatusConditionFalse(f.web(t).Status.Conditions, v1alpha.ConditionDataCurrent) ||
		got.Reason == v1alpha.ReasonSnapshotGone {
		t.Errorf("with the next content, the conditions are %+v and %+v", got, f.web(t).Status.Conditions)
	}
}

// TestAnotherReplicaHasChosen: a replica whose cache has an earlier choice deletes no snapshot that the Workload names by
// now. The earlier content is in no deployment, and not in the history yet.
func TestAnotherReplicaHasChosen(t *testing.T) {
	t.Parallel()
	f := runs(t)
	f.writes(t, "one")
	late, queue := f.reconciler, f.queue
	// The Workloads have been listed by now.
	f.Project.Once("list", "WorkloadDeploymentList", func() error {
		f.restart(t)
		f.mustReconcile(t)
		f.reconciler, f.queue = late, queue
		f.writes(t, "two")
		return nil
	})
	if _, err := late.Reconcile(t.Context(), request(planes.ProjectName, f.Namespace.Name)); err == nil {
		t.Error("the choice of the other replica is overwritten")
	}
	if kept := f.snapshots(t); !slices.Contains(kept, "one") || f.web(t).Status.Data.Objects[0].Hash == "" {
		t.Errorf("on the hub are %v, and the Workload is started with %v", kept, f.web(t).Status.Data.Objects)
	}
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonDataWaits, "ConfigMap app")
	if kept := f.snapshots(t); !slices.Contains(kept, "one") {
		t.Errorf("while the next content waits, on the hub are %v", kept)
	}
}
