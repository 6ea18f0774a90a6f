// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/watch"
	"github.com/karmada-compute/karmada-compute/milo/quota"
)

// projectClaims are the add-on's ResourceClaims in one engaged project. They are a source of events that watches
// nothing until a deployment of the project needs quota.
type projectClaims struct {
	projects.Engagement

	mu sync.Mutex
	// cache is separate from the project's, so that a Milo without quota delays no other controller; nil until it is
	// needed.
	cache    cache.Cache
	informer cache.Informer
}

// trimClaim bounds the metadata of a claim, which consumers write.
var trimClaim = watch.OnlyIn(func(string) bool { return true }, func() *quota.ResourceClaim { return &quota.ResourceClaim{} })

// watch starts to watch the claims, once.
func (p *projectClaims) watch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.informer != nil {
		return nil
	}
	ours, err := labels.NewRequirement(v1alpha.LabelDeploymentName, selection.Exists, nil)
	if err != nil {
		return fmt.Errorf("select the claims of the add-on: %w", err)
	}
	if p.cache == nil {
		if p.cache, err = cache.New(p.Cluster.GetConfig(), cache.Options{
			HTTPClient: p.Cluster.GetHTTPClient(), Scheme: p.Cluster.GetScheme(), Mapper: p.Cluster.GetRESTMapper(),
			DefaultTransform: trimClaim, DefaultLabelSelector: labels.NewSelector().Add(*ours),
		}); err != nil {
			return fmt.Errorf("make a cache for the project's ResourceClaims: %w", err)
		}
		// It ends with the engagement. No code waits for its sync: until then claims are listed.
		go func() { _ = p.cache.Start(p.Context) }()
	}
	informer, err := p.cache.GetInformer(p.Context, &quota.ResourceClaim{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the project's ResourceClaims: %w", err)
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    p.observe,
		UpdateFunc: func(_, obj any) { p.observe(obj) },
		DeleteFunc: p.observe,
	}); err != nil {
		return fmt.Errorf("watch the project's ResourceClaims: %w", err)
	}
	p.informer = informer
	return nil
}

func (p *projectClaims) observe(obj any) {
	if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	if claim, ok := obj.(client.Object); ok {
		p.Queue.Add(mcreconcile.Request{ClusterName: p.Project, Request: reconcile.Request{NamespacedName: types.NamespacedName{
			Namespace: claim.GetNamespace(), Name: claim.GetLabels()[v1alpha.LabelDeploymentName],
		}}})
	}
}

// reader reads the claims from the cache. It is nil until the cache has synced.
func (p *projectClaims) reader() client.Reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.informer == nil || !p.informer.HasSynced() {
		return nil
	}
	return p.cache
}
