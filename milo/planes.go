// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/clusters"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo/networking"
)

// Planes are the control planes of projects. By default, a Lookup and a Provider use Milo's. Methods that return a
// client or a request send no request. All methods are safe for concurrent use.
type Planes interface {
	// Name is the API server that has the Projects, in errors.
	Name() string
	// Root is a client for that API server, without a cache, which gets Projects.
	Root() client.Client
	// Client creates a client for a project, without a cache.
	Client(project string) (client.Client, error)
	// List creates a request for the objects of a resource of the add-on in a project.
	List(project, resource string) (*rest.Request, error)
	// Cluster creates the cluster of a project, whose cache has these indexes.
	Cluster(project string, indexes []clusters.Index) (cluster.Cluster, error)
	// Identity is constant as long as the API server that has the Projects keeps its storage. It is read bypassing all
	// caches.
	Identity(ctx context.Context) (types.UID, error)
	// Recorder creates a recorder of Events about Projects.
	Recorder() (record.EventRecorder, error)
	// Reference names a project in such an Event.
	Reference(project string, uid types.UID) *corev1.ObjectReference
}

// remote are the control planes of Milo.
type remote struct {
	config  *rest.Config
	options client.Options
	root    client.Client
	// patience and log are for clusters.
	patience *Patience
	log      logr.Logger
}

var _ Planes = &remote{}

// newRemote creates the control planes of Milo. It returns an error if the scheme lacks the types of this package.
func newRemote(config *rest.Config, scheme *runtime.Scheme) (*remote, error) {
	mapper, err := NewRESTMapper(scheme)
	if err != nil {
		return nil, err
	}
	r := &remote{config: config, options: client.Options{Scheme: scheme, Mapper: mapper}}
	if r.options.HTTPClient, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("make the transport to Milo: %w", err)
	}
	if r.root, err = client.New(config, r.options); err != nil {
		return nil, fmt.Errorf("make a client for Milo's root: %w", err)
	}
	return r, nil
}

// Name is Milo.
func (*remote) Name() string { return "Milo" }

// Root is a client for Milo's root.
func (r *remote) Root() client.Client { return r.root }

// Client creates a client for a project's control plane.
func (r *remote) Client(project string) (client.Client, error) {
	config, err := ProjectConfig(r.config, project)
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, r.options)
	if err != nil {
		return nil, fmt.Errorf("make a client for the project: %w", err)
	}
	return c, nil
}

// List creates a request for a list in a project's control plane.
func (r *remote) List(project, resource string) (*rest.Request, error) {
	config, err := ProjectConfig(r.config, project)
	if err != nil {
		return nil, err
	}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	reader, err := rest.UnversionedRESTClientForConfigAndClient(config, r.options.HTTPClient)
	if err != nil {
		return nil, fmt.Errorf("make a client for the project: %w", err)
	}
	return reader.Get().AbsPath("apis", v1alpha.GroupVersion.Group, v1alpha.GroupVersion.Version, resource), nil
}

// Cluster creates a cluster with a cache of its own.
func (r *remote) Cluster(project string, indexes []clusters.Index) (cluster.Cluster, error) {
	config, err := ProjectConfig(r.config, project)
	if err != nil {
		return nil, err
	}
	cl, err := cluster.New(config, func(o *cluster.Options) {
		o.Scheme = r.options.Scheme
		o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return r.options.Mapper, nil }
		o.Cache.DefaultTransform = TrimOriginal
		o.Cache.NewInformer = r.patience.NewInformer
		o.Logger = r.log.WithValues("project", project)
	})
	if err != nil {
		return nil, fmt.Errorf("create the project's cluster: %w", err)
	}
	for _, index := range indexes {
		// It does not wait for the API server, so that it needs no context.
		if err := cl.GetFieldIndexer().IndexField(context.Background(), index.Object, index.Field, index.Extractor); err != nil {
			return nil, fmt.Errorf("index %s in the project: %w", index.Field, err)
		}
	}
	return cl, nil
}

// Identity is the UID of namespace default at Milo's root. Milo creates the namespace with its storage and never
// deletes it.
func (r *remote) Identity(ctx context.Context) (types.UID, error) {
	namespace := &corev1.Namespace{}
	if err := r.root.Get(ctx, client.ObjectKey{Name: metav1.NamespaceDefault}, namespace); err != nil {
		return "", fmt.Errorf("get Milo's namespace %s, whose UID identifies Milo: %w", metav1.NamespaceDefault, err)
	}
	return namespace.UID, nil
}

// Recorder creates a recorder of core v1 Events at Milo's root.
func (r *remote) Recorder() (record.EventRecorder, error) { return newRecorder(r.config) }

// Reference names a Project.
func (*remote) Reference(project string, uid types.UID) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: ResourceManagerGroupVersion.String(), Kind: "Project", Name: project, UID: uid}
}

// scopes lists every kind that is read or written at Milo's root or in a project. There is no default: requests for a
// cluster-scoped kind that is mapped as namespaced would use a wrong path.
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

// mapper maps kinds to resources without discovery, which in each of thousands of projects would cost Milo more than
// the requests themselves. A kind that is not in scopes is an error.
type mapper struct{ meta.RESTMapper }

// NewRESTMapper maps, without discovery, the kinds in the scheme that the add-on uses at Milo. It returns an error if
// the scheme lacks the types of this package. The mapper returns an error for any other kind.
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

// unlisted replaces the error for an unlisted kind. It does not wrap it, because it reads as if the server lacked the
// kind.
func unlisted(kind schema.GroupKind, err error) error {
	if !meta.IsNoMatchError(err) {
		return err
	}
	return fmt.Errorf("the scope of kind %s is not known: list it in milo/planes.go, and add its types to the scheme", kind)
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
