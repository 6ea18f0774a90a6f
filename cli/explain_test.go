// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestExplain(t *testing.T) {
	f := newFixture(t)
	w, d := f.scene()
	f.want(f.kubectl(f.Config(), "explain", "web"), exitNotReady,
		"Workload web: 1 of 2 Instances are Ready.",
		"Stopped at Instance web-texas-dfw-1 (project): QuotaExceeded, since 60s (2026-05-01T12:00:00Z)",
		"no vcpus are left", "-> consumer: Ask for fewer or smaller Instances")
	for _, name := range []string{"web-texas-dfw-1", "inst/web-texas-dfw-1"} {
		f.want(f.kubectl(f.Config(), "explain", name), exitNotReady,
			"project Workload web 1/2 Ready", "project WorkloadDeployment web-texas-dfw 0/2 Ready InstancesProvisioning 60s",
			"project Instance web-texas-dfw-1 not Ready QuotaExceeded 60s")
	}
	f.want(f.kubectl(f.Config(), "explain", "web-texas-dfw-0"), 0, "Instance web-texas-dfw-0 is Ready.")
	f.want(f.kubectl(f.Config(), "explain", "web", "-o", "jsonpath={.ready} {.verdicts[*].stop.finding.actor}"),
		exitNotReady, "false consumer")

	f.want(f.kubectl(f.Config(), "explain", "none"), 1, `workloads.compute.datumapis.com "none" not found`)
	f.want(f.kubectl(f.Config(), "explain", "inst/none"), 1, `instances.compute.datumapis.com "none" not found`)
	f.want(f.kubectl(f.Config(), "explain", "pod/web"), 1, "neither wl/NAME nor inst/NAME")
	f.want(f.kubectl(f.user(), "explain", "web"), 1, "you may not read")

	other := w.DeepCopy()
	other.ObjectMeta = metav1.ObjectMeta{Namespace: w.Namespace, Name: d.Name + "-1"}
	f.create(other)
	f.want(f.kubectl(f.Config(), "explain", other.Name), 1, "say wl/"+other.Name+" or inst/"+other.Name)
}

// TestExplainAllReady: scripts that wait use exit code 0.
func TestExplainAllReady(t *testing.T) {
	f := newFixture(t)
	d := f.deployment(f.workload(), "texas", "DFW", 1)
	f.instance(d, 0, ready)
	f.want(f.kubectl(f.Config(), "explain", "wl/web"), 0, "1 of 2 Instances are Ready")
}

// TestExplainOnHub: the path of an Instance leads from the hub into its cell, down to the Pod.
func TestExplainOnHub(t *testing.T) {
	f := newFixture(t)
	_, d := f.scene()
	onHub := f.copied(d)
	planes.SetReport(t, onHub, "cell-of-"+f.Namespace.Name, wire.Instance{Name: d.Name + "-0", Conditions: []metav1.Condition{
		is(v1alpha.ConditionReady, metav1.ConditionFalse, v1alpha.ReasonImageUnavailable, "no such image"),
	}})
	f.update(onHub)
	f.want(f.karmadactl("explain", d.Name+"-0", "--project", "north"), exitNotReady,
		"hub ResourceBinding web-texas-dfw-workloaddeployment missing NotBound", "Instance web-texas-dfw-0 not Ready ImageUnavailable")

	cell := "cell-of-" + f.Namespace.Name
	f.create(&clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cell}})
	binding := &workv1alpha2.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: names.GenerateBindingName(v1alpha.KindWorkloadDeployment, d.Name)},
		Spec:       workv1alpha2.ResourceBindingSpec{Clusters: []workv1alpha2.TargetCluster{{Name: cell}}},
	}
	f.create(binding)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: d.Name + "-0"}}
	pod.Spec.Containers = []corev1.Container{{Name: "web", Image: "nginx"}}
	f.create(pod)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "web", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "denied"}},
	}}
	f.update(pod)
	r := f.karmadactl("explain", d.Name+"-0", "--project", "north")
	f.want(r, exitNotReady,
		"hub ResourceBinding web-texas-dfw-workloaddeployment ok", "missing NotApplied", "hub Cluster "+cell+" ok",
		"cell "+cell+" Instance web-texas-dfw-0 missing", "cell "+cell+" Pod web-texas-dfw-0 not Ready ErrImagePull",
		"-> consumer: Correct the image of the container")
	if pod, last := strings.Index(r.out, "Pod web"), strings.Index(r.out, "ImageUnavailable"); pod > last {
		t.Errorf("the Instance of the project is not the end of the way:\n%s", r.out)
	}
	f.want(f.karmadactl("explain", "none", "--project", "north"), 1, "not found")
}
