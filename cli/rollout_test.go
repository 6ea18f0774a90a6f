// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestRolloutHistoryAndUndo(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	for number, image := range []string{"nginx:1", "nginx:2", "nginx"} {
		revision := &v1alpha.WorkloadRevision{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: w.Namespace, Name: fmt.Sprintf("web-%d", number+1), Labels: map[string]string{v1alpha.LabelWorkloadUID: string(w.UID)},
			},
			Spec: v1alpha.WorkloadRevisionSpec{Revision: int64(number + 1), Template: template()},
		}
		revision.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = image
		f.create(revision)
	}
	consumer := f.user(may([]string{"patch", "get"}, "workloads"), may(read, "workloadrevisions"))
	f.want(f.kubectl(consumer, "rollout", "history", "web"), 0, "REVISION AGE IMAGES CHANGE-CAUSE", "nginx:1", "nginx:2")
	f.want(f.kubectl(consumer, "rollout", "history", "workload/web", "-o", "jsonpath={.workload} {.revisions[*].revision}"), 0, "web 1 2 3")
	for _, undo := range []struct {
		args  []string
		code  int
		says  string
		image string
	}{
		{nil, 0, "web rolled back", "nginx:2"},
		{[]string{"--to-revision", "1"}, 0, "web rolled back", "nginx:1"},
		{[]string{"--to-revision", "1"}, 1, "has the template of revision 1 already", "nginx:1"},
		{[]string{"--to-revision", "7"}, 1, "unable to find specified revision 7", "nginx:1"},
	} {
		f.want(f.kubectl(consumer, append([]string{"rollout", "undo", "web"}, undo.args...)...), undo.code, undo.says)
		if f.get(w); w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image != undo.image {
			t.Errorf("undo %v: image %s, want %s", undo.args, w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image, undo.image)
		}
	}
	f.want(f.karmadactl("rollout", "history", "web", "--project", "north"), 1, "--milo-kubeconfig")
}
