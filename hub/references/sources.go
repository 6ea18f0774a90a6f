// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// projectSources are the ConfigMaps and Secrets of one engaged project. They are a source of events that watches
// nothing until a deployment of the project names an object.
type projectSources struct {
	projects.Engagement

	mu sync.Mutex
	// metadata is a cache separate from the project's, so that a kind that cannot be watched does not delay other
	// controllers; nil until a deployment names an object.
	metadata cache.Cache
	watched  map[string]cache.Informer
	// named are the objects that the deployments of a namespace name; events of other objects are dropped.
	named map[string]map[templates.DataObject]bool
	// checks are the last checks, by object.
	checks map[item]check
	// newest are the newest contents of the objects that are part of revisions, by namespace.
	newest map[string]map[templates.DataObject]contentHash
	// listings are the last lists of hub namespaces, and changes the number of changes since.
	listings map[string]listing
	changes  map[string]int
	// account counts the bytes of the copies.
	account account
	// secret is the one that the keys of hashes are derived from; nil until it is read.
	secret []byte
}

// check is the result of the last check of an object.
type check struct {
	// source is the version of the object in the project.
	source string
	finding
	// copied is the version of the copy that matched this source, or "".
	copied string
}

// version returns a string that identifies a state of an object. It also distinguishes an object from a later one of
// the same name.
func version(obj client.Object) string { return string(obj.GetUID()) + "/" + obj.GetResourceVersion() }

func newSources(e projects.Engagement) *projectSources {
	return &projectSources{
		Engagement: e, watched: map[string]cache.Informer{}, named: map[string]map[templates.DataObject]bool{}, checks: map[item]check{},
		newest: map[string]map[templates.DataObject]contentHash{}, listings: map[string]listing{}, changes: map[string]int{},
		account: account{held: map[string]map[item]int{}, counted: map[string]bool{}},
	}
}

// expect replaces the objects that the deployments of a namespace name, and starts to watch their kinds.
func (p *projectSources) expect(namespace string, named map[templates.DataObject]bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(named) == 0 {
		delete(p.named, namespace)
		return nil
	}
	p.named[namespace] = named
	for dataObject := range named {
		if err := p.watch(dataObject.Kind); err != nil {
			return err
		}
	}
	return nil
}

// watch starts to watch a kind, once. p.mu must be held.
func (p *projectSources) watch(kind string) error {
	if p.watched[kind] != nil {
		return nil
	}
	if p.metadata == nil {
		metadata, err := cache.New(p.Cluster.GetConfig(), cache.Options{
			HTTPClient: p.Cluster.GetHTTPClient(), Scheme: p.Cluster.GetScheme(), Mapper: p.Cluster.GetRESTMapper(),
			DefaultTransform: watch.OnlyIdentity, DefaultNamespaces: projects.CacheNamespaces(p.Cluster),
		})
		if err != nil {
			return fmt.Errorf("make a cache for what deployments name: %w", err)
		}
		p.metadata = metadata
		// It ends with the engagement. No code waits for its sync: until then objects are read one by one.
		go func() { _ = metadata.Start(p.Context) }()
	}
	informer, err := p.metadata.GetInformer(p.Context, metadataOf(kind), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the %ss of the project: %w", kind, err)
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { p.observe(kind, obj) },
		UpdateFunc: func(_, obj any) { p.observe(kind, obj) },
		DeleteFunc: func(obj any) { p.observe(kind, obj) },
	}); err != nil {
		return fmt.Errorf("watch the %ss of the project: %w", kind, err)
	}
	p.watched[kind] = informer
	return nil
}

func (p *projectSources) observe(kind string, obj any) {
	if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	changed, ok := obj.(client.Object)
	if !ok {
		return
	}
	p.mu.Lock()
	named := p.named[changed.GetNamespace()][templates.DataObject{Kind: kind, Name: changed.GetName()}]
	p.mu.Unlock()
	if named {
		p.Queue.Add(request(p.Project, changed.GetNamespace()))
	}
}

// reader reads the metadata of a kind from the cache. It is nil until the cache has synced.
func (p *projectSources) reader(kind string) client.Reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	if informer := p.watched[kind]; informer == nil || !informer.HasSynced() {
		return nil
	}
	return p.metadata
}

func (p *projectSources) lastCheck(i item) check {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checks[i]
}

func (p *projectSources) remember(i item, found check) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.checks[i] = found
}

// forgetChecks drops the checks of objects that the deployments of a namespace no longer name.
func (p *projectSources) forgetChecks(hubNamespace string, keep map[item]*object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.checks {
		if i.hubNamespace == hubNamespace && keep[i] == nil {
			delete(p.checks, i)
		}
	}
}

// lastNewest returns the newest content of an object that was read last.
func (p *projectSources) lastNewest(namespace string, dataObject templates.DataObject) contentHash {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest[namespace][dataObject]
}

// rememberNewest replaces the newest contents of the objects of a namespace.
func (p *projectSources) rememberNewest(namespace string, newest map[templates.DataObject]contentHash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.newest, namespace); len(newest) > 0 {
		p.newest[namespace] = newest
	}
}

// listing is the metadata of the copies in a hub namespace.
type listing struct {
	copies map[item]*metav1.PartialObjectMetadata
	at     time.Time
}

// listing returns the last listing of a hub namespace, and the number of noted changes.
func (p *projectSources) listing(hubNamespace string) (last listing, changes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listings[hubNamespace], p.changes[hubNamespace]
}

// rememberListing stores a listing, unless a change was noted after it began.
func (p *projectSources) rememberListing(hubNamespace string, found listing, changes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changes[hubNamespace] == changes {
		p.listings[hubNamespace] = found
	}
}

// noteChange drops the listing of a hub namespace: a copy is written there, or Karmada has seen another version of a
// copy.
func (p *projectSources) noteChange(hubNamespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.listings, hubNamespace)
	p.changes[hubNamespace]++
}

// listed are the objects of a kind in a hub namespace.
type listed struct{ hubNamespace, kind string }

func (i item) listed() listed { return listed{i.hubNamespace, i.Kind} }

// loadCopies loads the metadata of the copies in the hub namespaces. A list that fails leaves its copies as they are.
func (s *scope) loadCopies(ctx context.Context) error {
	var failed []error
	for hubNamespace := range s.hubNamespaces {
		last, changes := s.sources.listing(hubNamespace)
		if now := s.Clock.Now(); last.copies == nil || now.Sub(last.at) >= s.AuditInterval {
			copies, err := s.listCopies(ctx, hubNamespace)
			if apierrors.IsForbidden(err) {
				// The API server does not know the new RoleBinding yet, or has deleted it with its namespace.
				s.wait()
				return nil
			}
			last = listing{copies, now}
			if err != nil {
				failed = append(failed, err)
			} else {
				s.sources.rememberListing(hubNamespace, last, changes)
			}
		}
		maps.Copy(s.copies, last.copies)
	}
	for i, o := range s.objects {
		o.claimedBy = claimOf(s.copies[i])
	}
	return errors.Join(failed...)
}

// listCopies lists the metadata of the copies in a hub namespace, past every cache: no cache may hold the copies of all
// namespaces, and a watch for each of thousands of namespaces is too expensive.
func (s *scope) listCopies(ctx context.Context, hubNamespace string) (map[item]*metav1.PartialObjectMetadata, error) {
	copies := map[item]*metav1.PartialObjectMetadata{}
	var failed []error
	for _, kind := range []string{templates.KindConfigMap, templates.KindSecret} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(metadataOf(kind + "List").GroupVersionKind())
		if err := s.APIReader.List(ctx, list, client.InNamespace(hubNamespace), client.HasLabels{v1alpha.LabelProject}); err != nil {
			if apierrors.IsForbidden(err) {
				return nil, err
			}
			s.unlisted[listed{hubNamespace, kind}] = true
			failed = append(failed, fmt.Errorf("list the hub's copies of %ss in namespace %s: %w", kind, hubNamespace, withoutContent(err)))
			continue
		}
		for i := range list.Items {
			copied := &list.Items[i]
			copied.SetGroupVersionKind(metadataOf(kind).GroupVersionKind())
			if _, err := trim(copied); err != nil {
				return nil, err
			}
			copies[item{hubNamespace, templates.DataObject{Kind: kind, Name: copied.Name}}] = copied
		}
	}
	return copies, errors.Join(failed...)
}

// trim drops the unused metadata.
var trim = watch.StripAnnotations(v1alpha.AnnotationProjectName,
	policyv1alpha1.PropagationPolicyNameAnnotation, policyv1alpha1.ClusterPropagationPolicyAnnotation)
