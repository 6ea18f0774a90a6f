// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestDataInHistoryAndUndo: the history lists which data changed, and an undo holds the earlier content against the content
// that the project has: by the status of the Workload, by an undo before, or by the history.
func TestDataInHistoryAndUndo(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	volume := func(name string) v1alpha.InstanceVolume {
		return v1alpha.InstanceVolume{Name: name, InstanceVolumeSource: v1alpha.InstanceVolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		}}
	}
	const first, second, third = "1111111111111111", "2222222222222222", "3333333333333333"
	app := func(hash string) v1alpha.DataVersion {
		return v1alpha.DataVersion{Kind: "ConfigMap", Name: "app", Hash: hash}
	}
	former := func(hash string) v1alpha.DataVersion {
		return v1alpha.DataVersion{Kind: "ConfigMap", Name: "former", Hash: hash}
	}
	for number, data := range [][]v1alpha.DataVersion{{app(first), former(first)}, {app(second), former(second)}, {app(third)}} {
		revision := &v1alpha.WorkloadRevision{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: w.Namespace, Name: "web-" + data[0].Hash, Labels: map[string]string{v1alpha.LabelWorkloadUID: string(w.UID)},
			},
			Spec: v1alpha.WorkloadRevisionSpec{Revision: int64(number + 1), Template: template(), Data: data},
		}
		for _, one := range data {
			revision.Spec.Template.Spec.Volumes = append(revision.Spec.Template.Spec.Volumes, volume(one.Name))
		}
		f.create(revision)
	}
	w.Spec.Template.Spec.Volumes = []v1alpha.InstanceVolume{volume("app")}
	w.Spec.Rollout = &v1alpha.WorkloadRollout{OnDataChange: &v1alpha.OnDataChange{Policy: v1alpha.DataRollout}}
	if err := f.Client.Update(f.Context(), w); err != nil {
		t.Fatal(err)
	}
	runs := func(hash string) {
		t.Helper()
		f.get(w)
		w.Status.Data = &v1alpha.WorkloadDataStatus{Objects: []v1alpha.DataVersion{app(hash)}}
		f.update(w)
	}
	consumer := f.user(may([]string{"patch", "get"}, "workloads"), may(read, "workloadrevisions"))
	f.want(f.kubectl(consumer, "rollout", "history", "web"), 0, "REVISION AGE IMAGES CHANGE-CAUSE", "ConfigMap/app="+second)
	f.want(f.kubectl(consumer, "rollout", "history", "web", "-o", "jsonpath={.revisions[1].data[0].hash} {.revisions[2].changedData[0]}"), 0,
		second+" ConfigMap/app="+third)

	for _, undo := range []struct{ revision, runs, want string }{
		{"2", third, "ConfigMap/app:" + second + ":" + third},
		{"1", second, "ConfigMap/app:" + first + ":" + third + ",ConfigMap/former:" + first + ":" + second},
		{"3", first, ""},
	} {
		runs(undo.runs)
		f.want(f.kubectl(consumer, "rollout", "undo", "web", "--to-revision", undo.revision), 0, "web rolled back")
		if f.get(w); w.Annotations[v1alpha.AnnotationRolloutData] != undo.want {
			t.Errorf("after the undo to %s it holds %q", undo.revision, w.Annotations[v1alpha.AnnotationRolloutData])
		}
	}
}
