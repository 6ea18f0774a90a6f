// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo/networking"
)

// scopes lists every kind that is read or written at Milo's root or in a project. There is no default: requests for a cluster-scoped
// kind that is mapped as namespaced would use a wrong path.
var scopes = map[schema.GroupKind]meta.RESTScope{
	{Group: ResourceManagerGroupVersion.Group, Kind: "Project"}:                meta.RESTScopeRoot,
	{Group: NetworkingGroupVersion.Group, Kind: "LocationBinding"}:             meta.RESTScopeRoot,
	{Group: QuotaGroupVersion.Group, Kind: "ResourceGrant"}:                    meta.RESTScopeNamespace,
	{Group: QuotaGroupVersion.Group, Kind: "ResourceClaim"}:                    meta.RESTScopeNamespace,
	{Group: QuotaGroupVersion.Group, Kind: "AllowanceBucket"}:                  meta.RESTScopeNamespace,
	{Group: NetworkingGroupVersion.Group, Kind: networking.KindNetworkBinding}: meta.RESTScopeNamespace,
	{Group: v1alpha.GroupVersion.Group, Kind: "Workload"}:                      meta.RESTScopeNamespace,
	{Group: v1alpha.GroupVersion.Group, Kind: "WorkloadDeployment"}:            meta.RESTScopeNamespace,
	{Group: v1alpha.GroupVersion.Group, Kind: "Instance"}:                      meta.RESTScopeNamespace,
	{Group: v1alpha.GroupVersion.Group, Kind: "InstanceSession"}:               meta.RESTScopeNamespace,
	{Group: v1alpha.GroupVersion.Group, Kind: "InstanceType"}:                  meta.RESTScopeRoot,
	{Group: v1alpha.GroupVersion.Group, Kind: v1alpha.KindWorkloadRevision}:    meta.RESTScopeNamespace,
	{Group: authenticationv1.GroupName, Kind: "SelfSubjectReview"}:             meta.RESTScopeRoot,
	{Group: authorizationv1.GroupName, Kind: "SubjectAccessReview"}:            meta.RESTScopeRoot,
	{Group: corev1.GroupName, Kind: "Namespace"}:                               meta.RESTScopeRoot,
	{Group: corev1.GroupName, Kind: "ConfigMap"}:                               meta.RESTScopeNamespace,
	{Group: corev1.GroupName, Kind: "Secret"}:                                  meta.RESTScopeNamespace,
	{Group: corev1.GroupName, Kind: "Event"}:                                   meta.RESTScopeNamespace,
}

// mapper maps kinds to resources without discovery, which in each of thousands of projects would cost Milo more than the
// requests themselves. A kind that is not in scopes is an error.
type mapper struct{ meta.RESTMapper }

// NewRESTMapper maps, without discovery, the kinds in the scheme that the add-on uses at Milo. It returns an error if the scheme lacks
// the types of this package. The mapper returns an error for any other kind.
func NewRESTMapper(scheme *runtime.Scheme) (meta.RESTMapper, error) {
	listed := meta.NewDefaultRESTMapper(scheme.PreferredVersionAllGroups())
	for kind, scope := range scopes {
		for _, version := range scheme.VersionsForGroupKind(kind) {
			listed.Add(version.WithKind(kind.Kind), scope)
		}
	}
	// Only the metadata of these is read, so that the scheme has no type for them.
	listed.Add(NetworkingGroupVersion.WithKind(KindNetwork), meta.RESTScopeNamespace)
	if !scheme.Recognizes(ResourceManagerGroupVersion.WithKind("Project")) {
		return nil, errors.New("the scheme lacks Milo's types, add them with milo.AddToScheme")
	}
	return mapper{listed}, nil
}

// RESTMapping is the mapping of a kind. The error for an unlisted kind names it.
func (m mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	mapping, err := m.RESTMapper.RESTMapping(kind, versions...)
	return mapping, unlisted(kind, err)
}

// RESTMappings are the mappings of a kind. The error for an unlisted kind names it.
func (m mapper) RESTMappings(kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	mappings, err := m.RESTMapper.RESTMappings(kind, versions...)
	return mappings, unlisted(kind, err)
}

// unlisted replaces the error for an unlisted kind. It does not wrap it, because it reads as if the server lacked the kind.
func unlisted(kind schema.GroupKind, err error) error {
	if !meta.IsNoMatchError(err) {
		return err
	}
	return fmt.Errorf("the scope of kind %s is not known: list it in milo/mapper.go, and add its types to the scheme", kind)
}

// checkKinds returns an error if a kind cannot be mapped.
func checkKinds(mapper meta.RESTMapper, scheme *runtime.Scheme, kinds []client.Object) error {
	for _, object := range kinds {
		kind, err := apiutil.GVKForObject(object, scheme)
		if err != nil {
			return fmt.Errorf("find the kind of %T: %w", object, err)
		}
		if _, err := mapper.RESTMapping(kind.GroupKind(), kind.Version); err != nil {
			return err
		}
	}
	return nil
}
