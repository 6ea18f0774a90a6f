// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"fmt"
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestProjectsDoNotFillTheCache: of each kind that is watched on the hub, the metadata is bounded; admission bounds the specs.
func TestProjectsDoNotFillTheCache(t *testing.T) {
	options, err := cacheOptions()
	if err != nil {
		t.Fatal(err)
	}
	transforms := map[string]func(any) (any, error){}
	for kind, by := range options.ByObject {
		if by.Transform != nil {
			transforms[fmt.Sprintf("%T", kind)] = by.Transform
		}
	}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: testenv.Stranger(v1alpha.LabelNamespaceProject)},
		&clusterv1alpha1.Cluster{ObjectMeta: testenv.Stranger(v1alpha.LabelTopologyCity)},
		&v1alpha.Workload{ObjectMeta: testenv.Stranger()},
		&v1alpha.WorkloadDeployment{ObjectMeta: testenv.Stranger()},
		&v1alpha.Instance{ObjectMeta: testenv.Stranger()},
	} {
		transform := transforms[fmt.Sprintf("%T", object)]
		if transform == nil {
			transform = options.DefaultTransform
		}
		testenv.CheckTrims(t, transform, object)
	}
}
