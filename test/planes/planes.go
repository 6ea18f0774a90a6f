// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package planes has the clients of a federation that scenarios and the soak share, and the identities of projects.
package planes

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// Planes holds the clients of a federation, created once for each plane and user, and the kinds that each plane serves.
// A plane is "hub", "milo", "project/<name>" or "cell/<name>". It is safe for concurrent use.
type Planes struct {
	Federation *federation.Federation
	scheme     *runtime.Scheme

	mu      sync.Mutex // guards what follows
	clients map[access]client.WithWatch
	mappers map[string]*mapper
}

// access identifies a plane and a user.
type access struct{ plane, user string }

// emergencyGroup is the group whose requests the policy in the cells admits.
const emergencyGroup = "compute.datumapis.com:emergency"

// New returns the clients of a federation.
func New(fed *federation.Federation) (*Planes, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha.AddToScheme, clusterv1alpha1.Install, policyv1alpha1.Install,
		workv1alpha1.Install, workv1alpha2.Install, configv1alpha1.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	return &Planes{Federation: fed, scheme: scheme, clients: map[access]client.WithWatch{}, mappers: map[string]*mapper{}}, nil
}

// Client returns a client for a plane as a user. If the plane does not exist, the client's requests return the error.
func (p *Planes) Client(plane, user string) client.WithWatch {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.clients[access{plane, user}]
	if !ok {
		c = p.newClient(plane, user, func(*rest.Config) {})
		p.clients[access{plane, user}] = c
	}
	return c
}

// ChangedClient returns a separate client with a changed configuration.
func (p *Planes) ChangedClient(plane, user string, change func(*rest.Config)) client.WithWatch {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newClient(plane, user, change)
}

func (p *Planes) newClient(plane, user string, change func(*rest.Config)) client.WithWatch {
	served, err := p.mapperOf(plane)
	if err != nil {
		return unusable(err)
	}
	config, err := p.Federation.Config(plane, user)
	if err != nil {
		return unusable(err)
	}
	// Conditions are polled, and a client that waits for its own limit hides the last error.
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	if strings.HasPrefix(plane, "cell/") && user == federation.Admin {
		// Scenarios break cells on purpose, which the policy there would refuse.
		config.Impersonate = rest.ImpersonationConfig{UserName: federation.Admin, Groups: []string{"system:masters", emergencyGroup}}
	}
	change(config)
	c, err := client.NewWithWatch(config, client.Options{Scheme: p.scheme, Mapper: served})
	if err != nil {
		return unusable(fmt.Errorf("make a client for %s: %w", plane, err))
	}
	return c
}

// unusable returns a client whose every request fails.
func unusable(err error) client.WithWatch {
	// A client without a connection does not fail here.
	c, _ := client.NewWithWatch(&rest.Config{}, client.Options{HTTPClient: http.DefaultClient, Mapper: nowhere{err: err}})
	return c
}

// nowhere serves no kind, for a reason.
type nowhere struct {
	meta.RESTMapper
	err error
}

// RESTMapping fails.
func (n nowhere) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	return nil, n.err
}

// mapperOf returns the kinds that a plane serves. It asks as admin, who has all rights and is never throttled.
func (p *Planes) mapperOf(plane string) (*mapper, error) {
	if found, ok := p.mappers[plane]; ok {
		return found, nil
	}
	config, err := p.Federation.Config(plane, federation.Admin)
	if err != nil {
		return nil, err
	}
	asks, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", plane, err)
	}
	p.mappers[plane] = &mapper{restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(asks))}
	return p.mappers[plane], nil
}

// Forget drops the state of a deleted plane.
func (p *Planes) Forget(plane string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.mappers, plane)
	for known := range p.clients {
		if known.plane == plane {
			delete(p.clients, known)
		}
	}
}

// Kind finds a kind by the names that kubectl accepts: "pods", "pod", "leases.coordination.k8s.io".
func (p *Planes) Kind(plane, resource string) (schema.GroupVersionKind, error) {
	p.mu.Lock()
	served, err := p.mapperOf(plane)
	p.mu.Unlock()
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return served.KindFor(schema.ParseGroupResource(resource).WithVersion(""))
}

// mapper refreshes unknown kinds: a new project gets its kinds a moment later.
type mapper struct {
	*restmapper.DeferredDiscoveryRESTMapper
}

// KindFor finds a kind by its resource's name.
func (m *mapper) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	kind, err := m.DeferredDiscoveryRESTMapper.KindFor(resource)
	if meta.IsNoMatchError(err) {
		m.Reset()
		return m.DeferredDiscoveryRESTMapper.KindFor(resource)
	}
	return kind, err
}

// RESTMapping returns the resource of a kind.
func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	mapping, err := m.DeferredDiscoveryRESTMapper.RESTMapping(kind, versions...)
	if meta.IsNoMatchError(err) {
		m.Reset()
		return m.DeferredDiscoveryRESTMapper.RESTMapping(kind, versions...)
	}
	return mapping, err
}
