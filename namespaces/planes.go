// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/go-logr/logr"
	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/clusters"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo"
)

// component is the name of the add-on in Events.
const component = "karmada-compute"

// Options configure Planes.
type Options struct {
	// Hub is the configuration for the hub.
	Hub *rest.Config
	// Scheme has every type that controllers read or write in a project, the types of package milo, and Karmada's Cluster.
	Scheme *runtime.Scheme
	// Log is for the cache.
	Log logr.Logger
}

// Planes are the control planes of projects that are namespaces of the hub. A project costs only its objects: all
// projects share a client and a cache.
type Planes struct {
	// shared has the cache of all originals.
	shared cluster.Cluster
	// live is a client for the hub without a cache, and within the same for kinds with namespaces. raw is another one, for
	// lists that are not decoded.
	live, within client.Client
	raw          rest.Interface
	// kinds are the kinds that controllers watch in a project. places is the kind that they watch for locations.
	kinds  map[string]*kind
	places *kind

	mu sync.Mutex
	// indexed are the indexes that the cache has.
	indexed map[string]bool
}

var _ milo.Planes = &Planes{}

// New creates Planes. It sends no request.
func New(o Options) (*Planes, error) {
	mapper, err := newMapper(o.Scheme)
	if err != nil {
		return nil, err
	}
	cached, err := cacheOptions()
	if err != nil {
		return nil, err
	}
	p := &Planes{indexed: map[string]bool{}}
	if p.shared, err = cluster.New(o.Hub, func(options *cluster.Options) {
		options.Scheme, options.Cache, options.Logger = o.Scheme, cached, o.Log
		options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil }
	}); err != nil {
		return nil, fmt.Errorf("make the cache of all projects: %w", err)
	}
	transport := p.shared.GetHTTPClient()
	if p.live, err = client.New(o.Hub, client.Options{HTTPClient: transport, Scheme: o.Scheme, Mapper: mapper}); err != nil {
		return nil, fmt.Errorf("make a client for the hub: %w", err)
	}
	if p.within, err = client.New(o.Hub, client.Options{HTTPClient: transport, Scheme: o.Scheme, Mapper: onlyNamespaced{mapper}}); err != nil {
		return nil, fmt.Errorf("make a client for the namespaces of the hub: %w", err)
	}
	config := rest.CopyConfig(o.Hub)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	if p.raw, err = rest.UnversionedRESTClientForConfigAndClient(config, transport); err != nil {
		return nil, fmt.Errorf("make a client for lists at the hub: %w", err)
	}
	return p, p.watchKinds(context.Background())
}

// newMapper maps kinds as at Milo, and the kinds of Karmada that are read on the hub.
func newMapper(scheme *runtime.Scheme) (meta.RESTMapper, error) {
	known, err := milo.NewRESTMapper(scheme)
	if err != nil {
		return nil, err
	}
	cells := meta.NewDefaultRESTMapper(nil)
	cells.Add(schema.GroupVersionKind{
		Group: clusterv1alpha1.GroupName, Version: clusterv1alpha1.GroupVersion.Version, Kind: "Cluster",
	}, meta.RESTScopeRoot)
	policies := schema.GroupVersion(policyv1alpha1.GroupVersion)
	for _, kind := range []schema.GroupVersionKind{
		policies.WithKind("PropagationPolicy"), policies.WithKind("OverridePolicy"),
		schema.GroupVersion(workv1alpha2.GroupVersion).WithKind("ResourceBinding"),
		schema.GroupVersion(workv1alpha1.GroupVersion).WithKind("Work"),
	} {
		cells.Add(kind, meta.RESTScopeNamespace)
	}
	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{cells, known}}, nil
}

// cacheOptions limit the cache to originals: copies have the label of their project. Of Clusters the city is kept.
func cacheOptions() (cache.Options, error) {
	isOriginal, err := labels.NewRequirement(v1alpha.LabelProject, selection.DoesNotExist, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select objects without label %s: %w", v1alpha.LabelProject, err)
	}
	return cache.Options{
		DefaultTransform: milo.TrimOriginal,
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha.WorkloadDeployment{}: {Label: labels.NewSelector().Add(*isOriginal)},
			&clusterv1alpha1.Cluster{}:    {Transform: onlyCity},
			&corev1.Namespace{}:           {Transform: trimNamespace},
		},
	}, nil
}

// Name is the hub.
func (*Planes) Name() string { return "The hub" }

// Root is a client for the hub, which gets namespaces as Projects.
func (p *Planes) Root() client.Client { return root{p.live} }

// Client creates a client for a project.
func (p *Planes) Client(project string) (client.Client, error) {
	if !Eligible(project) {
		return nil, fmt.Errorf("namespace %s of the hub cannot be a project", project)
	}
	return p.scope(project), nil
}

// List creates a request for a list in the namespace.
func (p *Planes) List(project, resource string) (*rest.Request, error) {
	if !Eligible(project) {
		return nil, fmt.Errorf("namespace %s of the hub cannot be a project", project)
	}
	return p.raw.Get().AbsPath("apis", v1alpha.GroupVersion.Group, v1alpha.GroupVersion.Version, "namespaces", project, resource), nil
}

// Cluster creates the view of a project.
func (p *Planes) Cluster(project string, indexes []clusters.Index) (cluster.Cluster, error) {
	if !Eligible(project) {
		return nil, fmt.Errorf("namespace %s of the hub cannot be a project", project)
	}
	if err := p.index(indexes); err != nil {
		return nil, err
	}
	return newPlane(p, project), nil
}

// index adds to the cache the indexes that it lacks.
func (p *Planes) index(indexes []clusters.Index) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, index := range indexes {
		key := fmt.Sprintf("%T/%s", index.Object, index.Field)
		if p.indexed[key] {
			continue
		}
		if err := p.shared.GetFieldIndexer().IndexField(context.Background(), index.Object, index.Field, index.Extractor); err != nil {
			return fmt.Errorf("index %s of all projects: %w", index.Field, err)
		}
		p.indexed[key] = true
	}
	return nil
}

// Identity is the UID of namespace kube-system of the hub, which lives as long as the hub's storage.
func (p *Planes) Identity(ctx context.Context) (types.UID, error) {
	namespace := &corev1.Namespace{}
	if err := p.live.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace); err != nil {
		return "", fmt.Errorf("get the hub's namespace %s, whose UID identifies the hub: %w", metav1.NamespaceSystem, err)
	}
	return namespace.UID, nil
}

// Recorder records Events at the hub.
func (p *Planes) Recorder() (record.EventRecorder, error) {
	return p.shared.GetEventRecorderFor(component), nil //nolint:staticcheck // as in a project of Milo, whose Events are of core v1.
}

// Reference names a namespace, in whose own Events it is.
func (*Planes) Reference(project string, uid types.UID) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Namespace: project, Name: project, UID: uid}
}

// root gets Projects.
type root struct{ client.Client }

// Get gets a namespace as a Project, and any other object unchanged. A namespace without the label is a Project that is
// not Ready: it exists, so its leftover objects on the hub still have an owner.
func (r root) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	project, isProject := obj.(*milo.Project)
	if !isProject {
		return r.Client.Get(ctx, key, obj, opts...)
	}
	namespace := &corev1.Namespace{}
	if err := r.Client.Get(ctx, key, namespace, opts...); err != nil {
		return err
	}
	if !Eligible(key.Name) {
		return errNotFound(key.Name)
	}
	*project = *projectOf(namespace, isLabelled(namespace))
	return nil
}

// start runs the cache until ctx ends. Watch starts it.
func (p *Planes) start(ctx context.Context) error {
	if err := p.shared.Start(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("run the cache of all projects: %w", err)
	}
	return nil
}
