// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/references/choice"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// rolling creates Workload web, whose template names these ConfigMaps and Secrets and makes them part of its revisions.
func (f *fixture) rolling(t *testing.T, configMaps, secrets []string) *v1alpha.Workload {
	t.Helper()
	w := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web"}}
	w.Spec.Template = templateNaming(configMaps, secrets)
	w.Spec.Placements = []v1alpha.WorkloadPlacement{{Name: "main", CityCodes: []string{"DFW"}}}
	w.Spec.Rollout = &v1alpha.WorkloadRollout{OnDataChange: &v1alpha.OnDataChange{Policy: v1alpha.DataRollout}}
	return planes.Create(t, f.Planes, w)
}

func (f *fixture) web(t *testing.T) *v1alpha.Workload {
	t.Helper()
	return planes.Get(t, f.Planes, f.Namespace.Name, "web", &v1alpha.Workload{})
}

// started plays hub/deployments and hub/propagation: the deployment gets the template with the data that the Workload has,
// on the hub as well, and the history has it. It returns the template's data.
func (f *fixture) started(t *testing.T) []v1alpha.DataVersion {
	t.Helper()
	w := f.web(t)
	template, unread := templates.StartedWith(w)
	if len(unread) > 0 {
		t.Fatalf("%v is not read: %+v", unread, w.Status.Conditions)
	}
	original := f.Deployment("web-main-dfw", "DFW")
	if planes.Exists(t, f.Planes, original) {
		change := func(d *v1alpha.WorkloadDeployment) { d.Spec.Template = *template }
		planes.Change(t, f.Planes, planes.Get(t, f.Planes, f.Namespace.Name, original.Name, &v1alpha.WorkloadDeployment{}), change)
		planes.Change(t, f.Planes, planes.Get(t, f.Planes, f.HubNamespace, original.Name, &v1alpha.WorkloadDeployment{}), change)
	} else {
		original.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace}
		original.Labels[v1alpha.LabelWorkloadUID] = string(w.UID)
		original.Spec.Template = *template
		planes.Create(t, f.Planes, original)
		f.propagate(t, original)
	}
	written, data := templates.WithoutSnapshots(template)
	f.revisions++
	planes.Create(t, f.Planes, &v1alpha.WorkloadRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.Namespace.Name, Name: "web-" + string(rune('a'+f.revisions)),
			Labels: map[string]string{v1alpha.LabelWorkloadUID: string(w.UID)},
		},
		Spec: v1alpha.WorkloadRevisionSpec{Revision: int64(f.revisions), Template: *written, Data: data},
	})
	return data
}

// writes changes the content of ConfigMap app.
func (f *fixture) writes(t *testing.T, colour string) {
	t.Helper()
	changed := planes.Change(t, f.Planes, planes.Get(t, f.Planes, f.Namespace.Name, "app", &corev1.ConfigMap{}),
		func(c *corev1.ConfigMap) { c.Data["colour"] = colour })
	f.await(t, changed)
}

// snapshots returns the contents of the snapshots of ConfigMap app on the hub.
func (f *fixture) snapshots(t *testing.T) []string {
	t.Helper()
	var list corev1.ConfigMapList
	if err := f.Hub.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	var colours []string
	for i := range list.Items {
		one := &list.Items[i]
		if one.Namespace == f.HubNamespace && strings.HasPrefix(one.Name, "app.snapshot-") && isImmutable(one) {
			colours = append(colours, one.Data["colour"])
		}
	}
	slices.Sort(colours)
	return colours
}

func (f *fixture) wantCurrent(t *testing.T, reason, message string) {
	t.Helper()
	got := meta.FindStatusCondition(f.web(t).Status.Conditions, v1alpha.ConditionDataCurrent)
	if got == nil || got.Reason != reason || (got.Status == metav1.ConditionTrue) != (reason == v1alpha.ReasonNewestData) ||
		!strings.Contains(got.Message, message) {
		t.Errorf("DataCurrent is %+v, want %s with %q", got, reason, message)
	}
}

// runs returns a Workload that runs with content blue of ConfigMap app.
func runs(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.app())
	f.rolling(t, []string{"app"}, nil)
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonNewestData, "")
	f.started(t)
	return f.settled(t)
}

// TestSnapshots: a deployment gets an immutable snapshot instead of a copy. A changed content is on the hub before the
// Workload names it, and the earlier one stays while the history has it.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	f := runs(t)
	if f.isOnHub(t, f.app()) || !slices.Equal(f.snapshots(t), []string{"blue"}) {
		t.Fatalf("on the hub are %v, and the object itself: %t", f.snapshots(t), f.isOnHub(t, f.app()))
	}
	before := f.web(t).Status.Data.Objects
	f.writes(t, "red")
	f.Project.Before(func(call planes.Call) error {
		if call.Kind == "Workload" && call.Verb != "get" && call.Verb != "list" && !slices.Contains(f.snapshots(t), "red") {
			t.Errorf("%s %s before the snapshot is written", call.Verb, call.Kind)
		}
		return nil
	})
	f.mustReconcile(t)
	f.Project.Before(nil)
	if after := f.web(t).Status.Data.Objects; slices.Equal(before, after) || !slices.Equal(f.snapshots(t), []string{"blue", "red"}) {
		t.Errorf("it is started with %v, on the hub are %v", after, f.snapshots(t))
	}
	f.started(t)
	f.settled(t)
	if !slices.Equal(f.snapshots(t), []string{"blue", "red"}) {
		t.Errorf("with both in the history, on the hub are %v", f.snapshots(t))
	}
	f.forget(t, 1)
	f.mustReconcile(t)
	if !slices.Equal(f.snapshots(t), []string{"red"}) {
		t.Errorf("without the first revision, on the hub are %v", f.snapshots(t))
	}
}

// forget deletes a revision from the history.
func (f *fixture) forget(t *testing.T, number int) {
	t.Helper()
	planes.Delete(t, f.Planes, planes.Get(t, f.Planes, f.Namespace.Name, "web-"+string(rune('a'+number)), &v1alpha.WorkloadRevision{}))
}

// TestAnUndoHoldsData: an undo brings the earlier content back, a condition keeps telling that the project has another one,
// and a corrected object ends that. Undo to a content that is gone changes nothing.
func TestAnUndoHoldsData(t *testing.T) {
	t.Parallel()
	f := runs(t)
	blue := f.web(t).Status.Data.Objects[0]
	f.writes(t, "red")
	f.mustReconcile(t)
	red := f.started(t)[0]
	f.settled(t)
	hold := func(held string) {
		t.Helper()
		planes.Change(t, f.Planes, f.web(t), func(w *v1alpha.Workload) {
			w.Annotations = map[string]string{v1alpha.AnnotationRolloutData: templates.FormatHolds(map[templates.DataObject]templates.Hold{
				{Kind: "ConfigMap", Name: "app"}: {Held: held, Newest: red.Hash},
			})}
		})
		f.mustReconcile(t)
	}
	hold("0000000000000red")
	if got := f.web(t).Status.Data.Objects[0]; got != red {
		t.Errorf("without a snapshot it is started with %v", got)
	}
	f.wantCurrent(t, v1alpha.ReasonSnapshotGone, "content 0000000000000red of ConfigMap app is no longer kept, and nothing was changed")
	hold(blue.Hash)
	if got := f.web(t).Status.Data.Objects[0]; got != blue {
		t.Errorf("undone, it is started with %v", got)
	}
	f.wantCurrent(t, v1alpha.ReasonDataHeld, "an undo holds ConfigMap app at "+blue.Hash+", and the content in the project is "+red.Hash)
	f.started(t)
	f.settled(t)
	f.clock.SetTime(f.clock.Now().Add(time.Hour))
	f.writes(t, "green")
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonNewestData, "")
	if got := f.web(t).Status.Data.Objects[0]; got == blue || got == red {
		t.Errorf("corrected, it is started with %v", got)
	}
}

// TestDataThatChangesOften: the first change rolls out at once, then the newest one after an interval that doubles while
// rollouts are interrupted.
func TestDataThatChangesOften(t *testing.T) {
	t.Parallel()
	f := runs(t)
	f.writes(t, "one")
	f.mustReconcile(t)
	first := f.started(t)
	f.settled(t)
	for _, colour := range []string{"two", "three"} {
		f.writes(t, colour)
		if result, err := f.reconcile(t); err != nil || result.RequeueAfter != 30*time.Second {
			t.Errorf("it is requeued after %s, %v", result.RequeueAfter, err)
		}
	}
	if got := f.web(t).Status.Data.Objects; !slices.Equal(got, first) {
		t.Errorf("within the interval it is started with %v", got)
	}
	f.wantCurrent(t, v1alpha.ReasonDataWaits,
		"ConfigMap app changed again within 30 s: the newest content rolls out from 2026-01-01T00:00:30Z on")
	if slices.Contains(f.snapshots(t), "two") {
		t.Error("there is a snapshot of a content that was never taken")
	}
	planes.ChangeStatus(t, f.Planes, f.web(t), func(w *v1alpha.Workload) {
		w.Status.Rollout = &v1alpha.WorkloadRolloutStatus{Phase: v1alpha.RolloutProgressing}
	})
	f.clock.SetTime(f.clock.Now().Add(30 * time.Second))
	f.mustReconcile(t)
	data := f.web(t).Status.Data
	if !slices.Contains(f.snapshots(t), "three") || data.IntervalSeconds != 60 || slices.Equal(data.Objects, first) {
		t.Errorf("after the interval on the hub are %v, and the data is %+v", f.snapshots(t), data)
	}
	f.wantCurrent(t, v1alpha.ReasonNewestData, "")
}

// TestDataThatCannotRollOut: a Workload keeps what it is started with, and a condition names the object and the remedy. An
// optional object that does not exist has a content of its own.
func TestDataThatCannotRollOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	w := f.rolling(t, []string{"app", "spare"}, nil)
	planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) {
		for i := range w.Spec.Template.Spec.Volumes {
			if source := w.Spec.Template.Spec.Volumes[i].ConfigMap; source != nil && source.Name == "spare" {
				source.Optional = new(true)
			}
		}
	})
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonSourceNotFound, "ConfigMap app does not exist in namespace "+f.Namespace.Name)
	if got := f.web(t).Status.Data.Objects; len(got) != 1 || got[0].Name != "spare" || got[0].Hash != templates.AbsentData {
		t.Errorf("it is started with %v", got)
	}
	source := planes.Create(t, f.Planes, f.app())
	f.sync(t)
	f.await(t, source)
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonNewestData, "")
	before := f.started(t)
	f.mustReconcile(t)
	planes.Change(t, f.Planes, source, func(c *corev1.ConfigMap) { c.BinaryData = map[string][]byte{"x": make([]byte, maxObject)} })
	f.await(t, source)
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonSourceTooLarge, "make it smaller or split it")
	planes.Delete(t, f.Planes, source)
	f.await(t, source)
	f.mustReconcile(t)
	f.wantCurrent(t, v1alpha.ReasonSourceNotFound, "ConfigMap app")
	if got := f.web(t).Status.Data.Objects; !slices.Equal(got, before) || !slices.Equal(f.snapshots(t), []string{"blue"}) {
		t.Errorf("it is started with %v, on the hub are %v", got, f.snapshots(t))
	}
	spare := f.app()
	spare.Name = "spare"
	planes.Create(t, f.Planes, spare)
	f.await(t, spare)
	f.mustReconcile(t)
	if got := f.web(t).Status.Data.Objects; len(got) != 2 || got[1].Hash == templates.AbsentData {
		t.Errorf("with the optional object it is started with %v", got)
	}
}

// TestABoundOfTheHistory: the snapshots that only the history needs have a bound: here, 16 of 256 KiB. The last complete
// revision keeps its own.
func TestABoundOfTheHistory(t *testing.T) {
	t.Parallel()
	kept := func(complete string) string {
		s := &facts{hubNamespaces: map[string]bool{"ns": true}, objects: map[item]*object{}, copies: map[item]*metav1.PartialObjectMetadata{}}
		var history []choice.Revision
		for i, letter := range "abcdefghijklmnopqr" {
			data := v1alpha.DataVersion{Kind: "ConfigMap", Name: "app", Hash: strings.Repeat(string(letter), 16)}
			s.copies[snapshotItem("ns", data)] = &metav1.PartialObjectMetadata{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha.LabelSnapshot: "2000000"}},
			}
			history = append(history, choice.Revision{
				Workload: "web", Number: int64(i), Complete: string(letter) == complete, Data: []v1alpha.DataVersion{data},
			})
		}
		s.keep(history, s.unneeded())
		letters := ""
		for _, i := range slices.SortedFunc(maps.Keys(s.objects), func(a, b item) int { return strings.Compare(a.Name, b.Name) }) {
			letters += i.Name[len(i.Name)-1:]
		}
		return letters
	}
	if got := kept(""); got != "cdefghijklmnopqr" {
		t.Errorf("kept are %s", got)
	}
	if got := kept("a"); got != "adefghijklmnopqr" {
		t.Errorf("with the first one complete, kept are %s", got)
	}
}

// TestSecretsAsSnapshots: the snapshot of a Secret has its type and data.
func TestSecretsAsSnapshots(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.database())
	f.rolling(t, nil, []string{"database"})
	f.mustReconcile(t)
	data := f.started(t)
	f.settled(t)
	copied := planes.Get(t, f.Planes, f.HubNamespace, templates.SnapshotName("database", data[0].Hash), &corev1.Secret{})
	if string(copied.Data["password"]) != "hidden" || copied.Type != corev1.SecretTypeOpaque || !isImmutable(copied) {
		t.Errorf("it is %+v", copied)
	}
}

// TestASnapshotOfOthers: an object that has the name of a snapshot and is not one is not taken for it.
func TestASnapshotOfOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.app())
	f.rolling(t, []string{"app"}, nil)
	f.mustReconcile(t)
	theirs := f.app()
	theirs.Namespace, theirs.Name = f.HubNamespace, templates.SnapshotName("app", f.web(t).Status.Data.Objects[0].Hash)
	planes.Create(t, f.Planes, theirs)
	f.started(t)
	f.mustReconcile(t)
	f.wantReason(t, "web-main-dfw", v1alpha.ReasonSourceRefused)
}

// TestInPlaceAgain: without the policy, the status of the Workload loses the data and its condition.
func TestInPlaceAgain(t *testing.T) {
	t.Parallel()
	f := runs(t)
	planes.Change(t, f.Planes, f.web(t), func(w *v1alpha.Workload) { w.Spec.Rollout = nil })
	f.mustReconcile(t)
	status := f.web(t).Status
	if status.Data != nil || meta.FindStatusCondition(status.Conditions, v1alpha.ConditionDataCurrent) != nil {
		t.Errorf("status is %+v", status)
	}
	f.settled(t)
}

// TestWhoOwnsASnapshot: every deployment of the Workload on the hub, so that the history outlives a city.
func TestWhoOwnsASnapshot(t *testing.T) {
	t.Parallel()
	f := runs(t)
	f.writes(t, "red")
	f.mustReconcile(t)
	f.started(t)
	second := f.Deployment("web-main-ord", "ORD")
	second.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace}
	second.Labels[v1alpha.LabelWorkloadUID] = string(f.web(t).UID)
	second.Spec.Template = planes.Template("registry.example/app:1")
	planes.Create(t, f.Planes, second)
	f.propagate(t, second)
	f.settled(t)
	var list corev1.ConfigMapList
	if err := f.Hub.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	found := 0
	for i := range list.Items {
		if one := &list.Items[i]; one.Namespace == f.HubNamespace && one.Labels[v1alpha.LabelSnapshot] != "" {
			if found++; len(one.OwnerReferences) != 2 {
				t.Errorf("%s is owned by %v", one.Name, one.OwnerReferences)
			}
		}
	}
	if found != 2 {
		t.Errorf("there are %d snapshots", found)
	}
}

// TestConcernsRevisions: Workloads without the policy cost no reconcile.
func TestConcernsRevisions(t *testing.T) {
	plain, rolling, was := &v1alpha.Workload{}, &v1alpha.Workload{}, &v1alpha.Workload{}
	rolling.Spec.Rollout = &v1alpha.WorkloadRollout{OnDataChange: &v1alpha.OnDataChange{Policy: v1alpha.DataRollout}}
	was.Status.Data = &v1alpha.WorkloadDataStatus{}
	for _, test := range []struct {
		of   *v1alpha.Workload
		want bool
	}{{plain, false}, {rolling, true}, {was, true}} {
		if got := rollsData(test.of); got != test.want {
			t.Errorf("%+v: %t", test.of, got)
		}
	}
}
