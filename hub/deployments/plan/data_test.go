// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

const (
	blue  = "0000000000000b10"
	red   = "0000000000000red"
	other = "0000000000000000"
)

// templateNaming returns a template that names ConfigMaps in volumes.
func templateNaming(names ...string) v1alpha.InstanceTemplateSpec {
	template := simulated.Template("registry.example/app:1")
	for _, name := range names {
		template.Spec.Volumes = append(template.Spec.Volumes, v1alpha.InstanceVolume{
			Name: name, InstanceVolumeSource: v1alpha.InstanceVolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
			},
		})
	}
	return template
}

// takes plays hub/references, which has read the content of the data.
func (f *fixture) takes(t *testing.T, contents ...string) {
	t.Helper()
	data := &v1alpha.WorkloadDataStatus{}
	for i := 0; i < len(contents); i += 2 {
		data.Objects = append(data.Objects, v1alpha.DataVersion{Kind: "ConfigMap", Name: contents[i], Hash: contents[i+1]})
	}
	changeStatus(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Status.Data = data })
}

// runsWithData returns a Workload in DFW and ORD that runs with ConfigMap app, whose content is part of its revisions.
func runsWithData(t *testing.T) (*fixture, *cell) {
	t.Helper()
	f := newFixture(t, "DFW ORD SEA")
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	workload.Spec.Template, workload.Spec.Placements = templateNaming("app"), placementsOf([]string{"main DFW ORD"})
	workload.Spec.Rollout = &v1alpha.WorkloadRollout{OnDataChange: &v1alpha.OnDataChange{Policy: v1alpha.DataRollout}}
	create(t, f, workload)
	f.mustReconcile(t)
	if names := f.names(t); names != "" {
		t.Fatalf("before the data is read there is %s", names)
	}
	available := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionAvailable)
	if available.Reason != v1alpha.ReasonReferencedDataNotReady || !strings.Contains(available.Message, "the content of ConfigMap app") {
		t.Errorf("before the data is read, Available is %+v", available)
	}
	f.takes(t, "app", blue)
	f.mustReconcile(t)
	c := f.cell()
	c.settle(t)
	if phase := f.phase(t); phase != v1alpha.RolloutComplete {
		t.Fatalf("after the creation the phase is %q", phase)
	}
	return f, c
}

// mounts returns the ConfigMaps that the newest template of a deployment names.
func (f *fixture) mounts(t *testing.T, deployment string) string {
	t.Helper()
	var names []string
	for _, volume := range f.readDeployment(t, deployment).Spec.Template.Spec.Volumes {
		names = append(names, volume.ConfigMap.Name)
	}
	return strings.Join(names, " ")
}

// TestDataRollsOutAsATemplate: Instances name the snapshot, a changed content goes from city to city, and the history has
// the template as written and the content.
func TestDataRollsOutAsATemplate(t *testing.T) {
	t.Parallel()
	f, c := runsWithData(t)
	if got := f.mounts(t, "web-main-dfw"); got != templates.SnapshotName("app", blue) {
		t.Errorf("Instances mount %s", got)
	}
	f.takes(t, "app", red)
	got := c.settle(t)
	if want := []string{"DFW 0/2 ORD 0/2", "DFW 1/2 ORD 0/2", "DFW 2/2 ORD 0/2", "DFW 2/2 ORD 2/2"}; !slices.Equal(got, want) {
		t.Errorf("it goes by %q", got)
	}
	status := f.readWorkload(t).Status
	if status.Rollout.Phase != v1alpha.RolloutComplete || status.Rollout.Revision != 2 || status.UpdatedReplicas != 4 {
		t.Errorf("status is %+v, %d updated", status.Rollout, status.UpdatedReplicas)
	}
	for number, hash := range map[int64]string{1: blue, 2: red} {
		revision := f.revision(t, number)
		if !slices.Equal(revision.Data, []v1alpha.DataVersion{{Kind: "ConfigMap", Name: "app", Hash: hash}}) ||
			revision.Template.Spec.Volumes[0].ConfigMap.Name != "app" {
			t.Errorf("revision %d is %+v, %v", number, revision.Template.Spec.Volumes, revision.Data)
		}
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
}

// revision returns a revision of Workload web.
func (f *fixture) revision(t *testing.T, number int64) *v1alpha.WorkloadRevisionSpec {
	t.Helper()
	for _, revision := range f.history {
		if revision.Revision == number {
			return revision
		}
	}
	t.Fatalf("there is no revision %d", number)
	return nil
}

// TestDataThatDoesNotExist: a rollout that waits for the content of a ConfigMap that does not exist writes nothing while it
// waits, and meets its deadline, so that kstatus and `rollout status` end. It continues when the content is there.
func TestDataThatDoesNotExist(t *testing.T) {
	t.Parallel()
	t.Run("a new Workload", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, "DFW ORD SEA")
		workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		workload.Spec.Template, workload.Spec.Placements = templateNaming("app", "missing"), placementsOf([]string{"main DFW ORD"})
		workload.Spec.Rollout = &v1alpha.WorkloadRollout{OnDataChange: &v1alpha.OnDataChange{Policy: v1alpha.DataRollout}}
		create(t, f, workload)
		f.waitsForData(t, f.cell())
	})
	t.Run("a change", func(t *testing.T) {
		t.Parallel()
		f, c := runsWithData(t)
		change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Template = templateNaming("app", "missing") })
		f.waitsForData(t, c)
	})
}

// waitsForData verifies how the rollout of a Workload waits for ConfigMap missing.
func (f *fixture) waitsForData(t *testing.T, c *cell) {
	t.Helper()
	f.requeues = true
	f.mustReconcile(t)
	first := *f.readWorkload(t).Status.LastProgressTime
	for range 3 {
		f.clock.SetTime(f.clock.Now().Add(time.Minute))
		if writes := f.mustReconcile(t); len(writes) > 0 {
			t.Errorf("while it waits it writes %v", writes)
		}
	}
	f.clock.SetTime(f.clock.Now().Add(10 * time.Minute))
	f.mustReconcile(t)
	workload := f.readWorkload(t)
	progressing := meta.FindStatusCondition(workload.Status.Conditions, v1alpha.ConditionProgressing)
	if progressing.Reason != v1alpha.ReasonProgressDeadlineExceeded || !strings.Contains(progressing.Message, "ConfigMap missing") ||
		!workload.Status.LastProgressTime.Equal(&first) || workload.Status.ObservedGeneration != workload.Generation ||
		!meta.IsStatusConditionTrue(workload.Status.Conditions, v1alpha.ConditionStalled) {
		t.Errorf("at the deadline: %+v, generation %d", workload.Status, workload.Generation)
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("after the deadline it writes %v", writes)
	}
	f.takes(t, "app", blue, "missing", red)
	c.settle(t)
	if phase := f.phase(t); phase != v1alpha.RolloutComplete {
		t.Errorf("with the data the phase is %q", phase)
	}
}

// TestBadDataIsUndone: a content with which no Instance becomes Available stops at one Instance of one city, and the undo
// brings the earlier content back although the project still has the bad one.
func TestBadDataIsUndone(t *testing.T) {
	t.Parallel()
	f, c := runsWithData(t)
	f.requeues = true
	f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.OnFailure = v1alpha.RolloutUndo })
	f.takes(t, "app", red)
	bad, _ := templates.StartedWith(f.readWorkload(t))
	c.Broken = []string{simulated.Hash(t, bad)}
	if got := c.settle(t); got[len(got)-1] != "DFW 1/2 ORD 0/2" {
		t.Errorf("it goes by %q", got)
	}
	changeStatus(t, f, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) {
		meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
			Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProgressDeadlineExceeded,
		})
	})
	if got := c.settle(t); got[len(got)-1] != "DFW 0/2 ORD 0/2" || f.phase(t) != v1alpha.RolloutUndone {
		t.Errorf("after the undo it is %q, %s", got, f.phase(t))
	}
	if got := f.mounts(t, "web-main-dfw"); got != templates.SnapshotName("app", blue) {
		t.Errorf("Instances mount %s", got)
	}
}

// TestATemplateWaitsForItsData: a template that names an object that is not read is no target yet. The earlier one is
// scaled and continues meanwhile, and tools see that the newest generation is not observed.
func TestATemplateWaitsForItsData(t *testing.T) {
	t.Parallel()
	f, c := runsWithData(t)
	f.requeues = true
	changed := change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
		w.Spec.Template, w.Spec.Placements[0].ScaleSettings.MinReplicas = templateNaming("app", "more"), 3
	})
	c.settle(t)
	if got := f.mounts(t, "web-main-dfw"); got != templates.SnapshotName("app", blue) {
		t.Errorf("Instances mount %s", got)
	}
	if replicas := f.readDeployment(t, "web-main-dfw").Spec.ScaleSettings.MinReplicas; replicas != 3 {
		t.Errorf("it has %d replicas", replicas)
	}
	status := f.readWorkload(t).Status
	progressing := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionProgressing)
	if status.ObservedGeneration >= changed.Generation || progressing.Reason != v1alpha.ReasonRollingOut ||
		!strings.Contains(progressing.Message, "ConfigMap more") || status.Rollout.Revision != 1 {
		t.Errorf("generation %d is observed, Progressing is %+v, revision %d", status.ObservedGeneration, progressing, status.Rollout.Revision)
	}
	f.takes(t, "app", blue, "more", other)
	c.settle(t)
	if got := f.mounts(t, "web-main-ord"); got != templates.SnapshotName("app", blue)+" "+templates.SnapshotName("more", other) {
		t.Errorf("Instances mount %s", got)
	}
	if status := f.readWorkload(t).Status; status.ObservedGeneration != changed.Generation || status.Rollout.Revision != 2 {
		t.Errorf("status is %+v", status.Rollout)
	}
}
