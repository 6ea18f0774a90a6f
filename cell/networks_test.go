// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestNetworkGate: Instances wait for their networks, the deployment names the awaited networks, and running Instances
// do not wait again.
func TestNetworkGate(t *testing.T) {
	f := newFixture(t)
	f.deployment(1, network(false))
	f.reconcile(f.deployments(), "web")
	f.reconcile(f.runtime(), "web-0")
	f.wantGates("web-0", v1alpha.GateNetwork)
	if f.storedPod("web-0") != nil {
		t.Error("it starts without its network")
	}
	f.rollUp()
	available := meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionAvailable)
	if available == nil || available.Reason != v1alpha.ReasonNetworkProvisioning ||
		!strings.Contains(available.Message, "network default is not there") {
		t.Errorf("Available is %+v", available)
	}

	f.changeDeployment(network(true))
	f.reconcile(f.runtime(), "web-0")
	f.wantGates("web-0")
	if f.storedPod("web-0") == nil {
		t.Error("it does not start")
	}
	f.changeDeployment(network(false))
	f.reconcile(f.deployments(), "web")
	f.reconcile(f.runtime(), "web-0")
	f.wantGates("web-0")

	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
		network(true)(d)
		d.Spec.ScaleSettings.MinReplicas = 2
		parallel(d)
	})
	f.reconcile(f.deployments(), "web")
	f.wantGates("web-1")
}
