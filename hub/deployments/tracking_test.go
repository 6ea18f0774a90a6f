// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestNoTrackingOfTheParent: tools find what they have applied by labels and annotations, and prune what Git does not
// have. Objects that are created for a Workload have none of its own.
func TestNoTrackingOfTheParent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	c := f.cell()
	workload := f.workload(t, "main DFW")
	tracking := map[string]string{
		"app.kubernetes.io/instance": "shop", "app.kubernetes.io/managed-by": "Helm", "argocd.argoproj.io/instance": "shop",
		"kustomize.toolkit.fluxcd.io/name": "shop", "helm.toolkit.fluxcd.io/name": "shop",
	}
	notes := map[string]string{
		"argocd.argoproj.io/tracking-id": "shop", "meta.helm.sh/release-name": "shop", "helm.sh/hook": "post-install",
		"kubectl.kubernetes.io/last-applied-configuration": "{}", "config.k8s.io/owning-inventory": "shop",
	}
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Labels, w.Annotations = tracking, notes })
	c.settle(t)
	deployment := f.readDeployment(t, "web-main-dfw")
	metadata := []map[string]string{
		deployment.Labels, deployment.Annotations, deployment.Spec.Template.Labels, deployment.Spec.Template.Annotations,
	}
	var list v1alpha.WorkloadRevisionList
	if err := f.Client.List(t.Context(), &list, client.InNamespace(f.Namespace.Name)); err != nil || len(list.Items) == 0 {
		t.Fatalf("%d revisions, %v", len(list.Items), err)
	}
	for i := range list.Items {
		metadata = append(metadata, list.Items[i].Labels, list.Items[i].Annotations)
	}
	for _, of := range metadata {
		for key := range of {
			if !strings.Contains(key, "compute.datumapis.com/") && !strings.Contains(key, "topology.datum.net/") {
				t.Errorf("an object that is made from the Workload has %s", key)
			}
		}
	}
}
