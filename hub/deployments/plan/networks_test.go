// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestMissingNetwork: no deployment is created for a network that does not exist, and running ones are not replaced for
// it; both follow when the network is created.
func TestMissingNetwork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	f.workload(t, "main DFW", "other ORD")
	expect := func(what, deployments, reason, message string) {
		t.Helper()
		f.mustReconcile(t)
		if got := f.names(t); got != deployments {
			t.Errorf("%s: deployments %q, want %q", what, got, deployments)
		}
		status := f.readWorkload(t).Status
		available := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionAvailable)
		if reason != "" && available.Reason != reason || !strings.Contains(available.Message, message) ||
			(reason == v1alpha.ReasonNetworkNotFound) != (available.Reason == v1alpha.ReasonNetworkNotFound) {
			t.Errorf("%s: Available is %+v", what, available)
		}
		if reason == v1alpha.ReasonNetworkNotFound && meta.IsStatusConditionFalse(status.Conditions, v1alpha.ConditionProgressing) {
			t.Errorf("%s: it is settled", what)
		}
		if writes := f.mustReconcile(t); len(writes) > 0 {
			t.Errorf("%s: it does not settle: %v", what, writes)
		}
	}
	f.networks.missing = []string{"default"}
	expect("nothing runs", "", v1alpha.ReasonNetworkNotFound,
		"placement other: the project has no network default in namespace "+namespace+"; create it")
	f.networks.missing = nil
	expect("the network appears", "web-main-dfw web-other-ord", "", "")

	for _, name := range []string{"web-main-dfw", "web-other-ord"} {
		f.report(t, name, report{reason: v1alpha.ReasonStableInstanceFound, ready: 2})
	}
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
		w.Spec.Template.Spec.NetworkInterfaces[0].Network = v1alpha.NetworkReference{Namespace: "shared", Name: "later"}
		w.Spec.Placements[0].ScaleSettings.MinReplicas = 3
	})
	f.networks.missing = []string{"later"}
	expect("another one is named", "web-main-dfw web-other-ord", v1alpha.ReasonAvailablePlacementFound, "no network later in namespace shared")
	deployment := f.readDeployment(t, "web-main-dfw")
	if name := deployment.Spec.Template.Spec.NetworkInterfaces[0].Network.Name; name != "default" ||
		deployment.Spec.ScaleSettings.MinReplicas != 3 {
		t.Errorf("the deployment has network %s and %d replicas", name, deployment.Spec.ScaleSettings.MinReplicas)
	}
	f.networks.missing = nil
	expect("that one appears", "web-main-dfw web-other-ord", "", "")
	if name := f.readDeployment(t, "web-main-dfw").Spec.Template.Spec.NetworkInterfaces[0].Network.Name; name != "later" {
		t.Errorf("the deployment has network %s", name)
	}
	if status := f.readWorkload(t).Status; !meta.IsStatusConditionPresentAndEqual(status.Conditions,
		v1alpha.ConditionAvailable, metav1.ConditionTrue) {
		t.Errorf("the status is %+v", status)
	}
}
