// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// flood are the largest objects that other parties can write, by their kind in the cache of the hub.
var flood = map[string][]client.Object{
	"*v1alpha1.Work": {
		&workv1alpha1.Work{ObjectMeta: testenv.Stranger(v1alpha.LabelInventory), Spec: carrying(900 << 10)},
		&workv1alpha1.Work{ObjectMeta: testenv.Stranger(v1alpha.LabelHubNamespace), Spec: carrying(900 << 10)},
		&workv1alpha1.Work{ObjectMeta: testenv.Stranger(), Spec: carrying(900 << 10)},
		&workv1alpha1.Work{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha.LabelInventory: v1alpha.InventoryCell}}, Status: reporting(900 << 10),
		},
	},
	"*v1alpha1.Cluster": {&clusterv1alpha1.Cluster{
		ObjectMeta: testenv.Stranger(v1alpha.LabelTopologyCity),
		Spec:       clusterv1alpha1.ClusterSpec{APIEndpoint: strings.Repeat("e", 900<<10), ProxyURL: strings.Repeat("p", 90<<10)},
		Status: clusterv1alpha1.ClusterStatus{Conditions: []metav1.Condition{
			{Type: clusterv1alpha1.ClusterConditionReady, Message: strings.Repeat("m", 32<<10)},
			{Type: "Other", Message: strings.Repeat("m", 32<<10)},
		}},
	}},
	"*v1alpha2.ResourceBinding": {&workv1alpha2.ResourceBinding{ObjectMeta: testenv.Stranger(), Spec: workv1alpha2.ResourceBindingSpec{
		Resource: workv1alpha2.ObjectReference{APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkloadDeployment},
		Clusters: []workv1alpha2.TargetCluster{{Name: strings.Repeat("c", 900<<10)}},
	}}},
	"*v1alpha2.ClusterResourceBinding": {&workv1alpha2.ClusterResourceBinding{
		ObjectMeta: testenv.Stranger(),
		Spec:       workv1alpha2.ResourceBindingSpec{Clusters: []workv1alpha2.TargetCluster{{Name: strings.Repeat("c", 900<<10)}}},
	}},
	"*v1alpha1.PropagationPolicy": {&policyv1alpha1.PropagationPolicy{
		ObjectMeta: testenv.Stranger(v1alpha.LabelTopologyCity),
		Spec: policyv1alpha1.PropagationSpec{
			Association: true, ResourceSelectors: []policyv1alpha1.ResourceSelector{{Name: strings.Repeat("s", 900<<10)}},
		},
	}},
	"*v1alpha.WorkloadDeployment": {&v1alpha.WorkloadDeployment{
		ObjectMeta: testenv.Stranger(v1alpha.LabelProject), Spec: v1alpha.WorkloadDeploymentSpec{CityCode: strings.Repeat("c", 900<<10)},
	}},
	"*v1alpha.InstanceSlice": {&v1alpha.InstanceSlice{ObjectMeta: testenv.Stranger(v1alpha.LabelProject)}},
	"*v1.Namespace":          {&corev1.Namespace{ObjectMeta: testenv.Stranger(v1alpha.LabelProject)}},
	"*v1.RoleBinding": {&rbacv1.RoleBinding{
		ObjectMeta: testenv.Stranger(), Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: strings.Repeat("s", 900<<10)}},
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
		testenv.CheckTrims(t, transform, flood[name]...)
	}
	for name := range flood {
		if !cached[name] {
			t.Errorf("%s is not cached", name)
		}
	}
}

var makesCache = regexp.MustCompile(`\b(cache|cluster)\.New\(|NewInformerWithOptions\(|NewSharedIndexInformer\(`)

// TestEveryCacheIsBounded: a package of this process that makes a cache has a test that tries to fill it.
func TestEveryCacheIsBounded(t *testing.T) {
	makes, checks := map[string]bool{}, map[string]bool{}
	for _, root := range []string{".", "../milo", "../namespaces", "../webhook", "../internal", "../cmd/karmada-compute"} {
		if err := filepath.WalkDir(root, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") {
				return err
			}
			content, err := os.ReadFile(file)
			if strings.HasSuffix(file, "_test.go") {
				checks[filepath.Dir(file)] = checks[filepath.Dir(file)] || strings.Contains(string(content), "testenv.CheckTrims(")
			} else if makesCache.Match(content) {
				makes[filepath.Dir(file)] = true
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(makes) < 5 {
		t.Errorf("only %v make caches: the pattern does not fit", makes)
	}
	for folder := range makes {
		if !checks[folder] {
			t.Errorf("%s makes a cache, and nobody has tried to fill it", folder)
		}
	}
}
