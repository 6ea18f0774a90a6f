// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"fmt"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// ProjectKinds returns the kinds that the controllers watch in a project.
func ProjectKinds(locations projects.Locations) []client.Object {
	return []client.Object{&v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}, &v1alpha.Instance{}, locations.Object()}
}

// UsingKinds returns the ProjectKinds whose objects show that a project is in use. Instances without a deployment are
// garbage.
func UsingKinds() []client.Object {
	return []client.Object{&v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}}
}

// CacheOptions limit the cache of the hub to Clusters, ResourceBindings and Works, and to the add-on's own objects. No
// label selects the Works of WorkloadDeployments; the cache transform strips all other Works.
func CacheOptions() (cache.Options, error) {
	selectors := map[string]labels.Selector{}
	for _, label := range []string{v1alpha.LabelProject, v1alpha.LabelTopologyCity} {
		exists, err := labels.NewRequirement(label, selection.Exists, nil)
		if err != nil {
			return cache.Options{}, fmt.Errorf("select objects with label %s: %w", label, err)
		}
		selectors[label] = labels.NewSelector().Add(*exists)
	}
	fromProject := cache.ByObject{Label: selectors[v1alpha.LabelProject]}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha.WorkloadDeployment{}:       fromProject,
			&v1alpha.InstanceSlice{}:            fromProject,
			&corev1.Namespace{}:                 fromProject,
			&workv1alpha1.Work{}:                {Transform: path.TrimWork},
			&policyv1alpha1.PropagationPolicy{}: {Label: selectors[v1alpha.LabelTopologyCity]},
			&clusterv1alpha1.Cluster{}:          {},
			&workv1alpha2.ResourceBinding{}:     {Transform: path.TrimBinding},
			// The role of the add-on covers the RoleBindings of this name alone. ConfigMaps and Secrets are in no cache.
			&rbacv1.RoleBinding{}: {Field: fields.OneTermEqualSelector(metav1.ObjectNameField, projects.GrantName)},
		},
	}, nil
}
