// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// stranger is the metadata that any party may write: a quarter of a megabyte of annotations, and as much of labels.
func stranger(labels ...string) metav1.ObjectMeta {
	of := metav1.ObjectMeta{
		Namespace: "karmada-es-evil", Name: "x", Annotations: map[string]string{"a": strings.Repeat("a", 240<<10)}, Labels: map[string]string{},
	}
	for i := range 2000 {
		of.Labels[fmt.Sprintf("label-%d.example.com/%s", i, strings.Repeat("l", 40))] = strings.Repeat("v", 63)
	}
	for _, label := range labels {
		of.Labels[label] = "x"
	}
	return of
}

// flood are the largest objects that other parties can write, by their kind in the cache of the hub.
var flood = map[string][]client.Object{
	"*v1alpha1.Work": {
		&workv1alpha1.Work{ObjectMeta: stranger(v1alpha.LabelInventory), Spec: carrying(900 << 10)},
		&workv1alpha1.Work{ObjectMeta: stranger(v1alpha.LabelHubNamespace), Spec: carrying(900 << 10)},
		&workv1alpha1.Work{ObjectMeta: stranger(), Spec: carrying(900 << 10)},
		&workv1alpha1.Work{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha.LabelInventory: v1alpha.InventoryCell}}, Status: reporting(900 << 10),
		},
	},
	"*v1alpha1.Cluster": {&clusterv1alpha1.Cluster{
		ObjectMeta: stranger(v1alpha.LabelTopologyCity),
		Spec:       clusterv1alpha1.ClusterSpec{APIEndpoint: strings.Repeat("e", 900<<10), ProxyURL: strings.Repeat("p", 90<<10)},
		Status: clusterv1alpha1.ClusterStatus{Conditions: []metav1.Condition{
			{Type: clusterv1alpha1.ClusterConditionReady, Message: strings.Repeat("m", 32<<10)},
			{Type: "Other", Message: strings.Repeat("m", 32<<10)},
		}},
	}},
	"*v1alpha2.ResourceBinding": {&workv1alpha2.ResourceBinding{ObjectMeta: stranger(), Spec: workv1alpha2.ResourceBindingSpec{
		Resource: workv1alpha2.ObjectReference{APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkloadDeployment},
		Clusters: []workv1alpha2.TargetCluster{{Name: strings.Repeat("c", 900<<10)}},
	}}},
	"*v1alpha1.PropagationPolicy": {&policyv1alpha1.PropagationPolicy{
		ObjectMeta: stranger(v1alpha.LabelTopologyCity),
		Spec: policyv1alpha1.PropagationSpec{
			Association: true, ResourceSelectors: []policyv1alpha1.ResourceSelector{{Name: strings.Repeat("s", 900<<10)}},
		},
	}},
	"*v1alpha.WorkloadDeployment": {&v1alpha.WorkloadDeployment{
		ObjectMeta: stranger(v1alpha.LabelProject), Spec: v1alpha.WorkloadDeploymentSpec{CityCode: strings.Repeat("c", 900<<10)},
	}},
	"*v1alpha.InstanceSlice": {&v1alpha.InstanceSlice{ObjectMeta: stranger(v1alpha.LabelProject)}},
	"*v1.Namespace":          {&corev1.Namespace{ObjectMeta: stranger(v1alpha.LabelProject)}},
	"*v1.RoleBinding": {&rbacv1.RoleBinding{
		ObjectMeta: stranger(), Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: strings.Repeat("s", 900<<10)}},
	}},
}

func carrying(size int) workv1alpha1.WorkSpec {
	raw := []byte(`{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"` + strings.Repeat("a", size) + `"}}`)
	return workv1alpha1.WorkSpec{Workload: workv1alpha1.WorkloadTemplate{Manifests: []workv1alpha1.Manifest{
		{RawExtension: apiruntime.RawExtension{Raw: raw}},
	}}}
}

func reporting(size int) workv1alpha1.WorkStatus {
	raw := []byte(`{"a":"` + strings.Repeat("a", size) + `"}`)
	return workv1alpha1.WorkStatus{ManifestStatuses: []workv1alpha1.ManifestStatus{{Status: &apiruntime.RawExtension{Raw: raw}}}}
}

// TestNobodyFillsTheCache: of each cached kind, a hundred of the largest objects that other parties can write leave less than
// two megabytes in a replica. A kind that is cached without an entry here fails.
func TestNobodyFillsTheCache(t *testing.T) {
	options, err := hub.CacheOptions("hub")
	if err != nil {
		t.Fatal(err)
	}
	cached := map[string]bool{}
	for kind, by := range options.ByObject {
		name := fmt.Sprintf("%T", kind)
		cached[name] = true
		if len(flood[name]) == 0 {
			t.Errorf("%s is cached, and nobody has tried to fill the cache with it", name)
		}
		transform := by.Transform
		if transform == nil {
			transform = options.DefaultTransform
		}
		for i, object := range flood[name] {
			content, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			kept := make([]any, 0, 100)
			used := testenv.Heap(func() {
				for range 100 {
					read := newOf(t, object)
					if err := json.Unmarshal(content, read); err != nil {
						t.Fatal(err)
					}
					trimmed, err := transform(read)
					if err != nil {
						t.Fatal(err)
					}
					kept = append(kept, trimmed)
				}
			})
			runtime.KeepAlive(kept)
			if int64(used) > 2<<20 {
				t.Errorf("%s %d: of 100 objects of %d KiB, %d KiB stay in memory", name, i, len(content)>>10, used>>10)
			}
		}
	}
	for name := range flood {
		if !cached[name] {
			t.Errorf("%s is not cached", name)
		}
	}
}

func newOf(t *testing.T, object client.Object) client.Object {
	t.Helper()
	switch object.(type) {
	case *workv1alpha1.Work:
		return &workv1alpha1.Work{}
	case *clusterv1alpha1.Cluster:
		return &clusterv1alpha1.Cluster{}
	case *workv1alpha2.ResourceBinding:
		return &workv1alpha2.ResourceBinding{}
	case *policyv1alpha1.PropagationPolicy:
		return &policyv1alpha1.PropagationPolicy{}
	case *v1alpha.WorkloadDeployment:
		return &v1alpha.WorkloadDeployment{}
	case *v1alpha.InstanceSlice:
		return &v1alpha.InstanceSlice{}
	case *corev1.Namespace:
		return &corev1.Namespace{}
	case *rbacv1.RoleBinding:
		return &rbacv1.RoleBinding{}
	}
	t.Fatalf("%T has no entry", object)
	return nil
}
