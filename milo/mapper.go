// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// clusterScoped are the kinds that have no namespace.
var clusterScoped = map[string]bool{
	"Project": true, "LocationBinding": true, "Namespace": true, "SubjectAccessReview": true,
}

// staticMapper maps the scheme's kinds to resources without asking a server: discovery for each of thousands of
// projects would cost Milo more than the work itself.
func staticMapper(scheme *runtime.Scheme) (meta.RESTMapper, error) {
	mapper := meta.NewDefaultRESTMapper(scheme.PreferredVersionAllGroups())
	for kind := range scheme.AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal || strings.HasSuffix(kind.Kind, "List") {
			continue
		}
		var scope meta.RESTScope = meta.RESTScopeNamespace
		if clusterScoped[kind.Kind] {
			scope = meta.RESTScopeRoot
		}
		mapper.Add(kind, scope)
	}
	if _, err := mapper.RESTMapping(schema.GroupKind{Group: ResourceManagerGroupVersion.Group, Kind: "Project"}); err != nil {
		return nil, fmt.Errorf("the scheme lacks Milo's types, add them with milo.AddToScheme: %w", err)
	}
	return mapper, nil
}

func mapperProvider(mapper meta.RESTMapper) func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	return func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil }
}
