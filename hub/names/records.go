// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// pollInterval is the interval in which a hub without the kind is asked for it.
const pollInterval = 30 * time.Second

// Records are the DNSEndpoints of the add-on on the hub. It watches them as soon as the hub serves the kind: a hub that
// does not must not keep a controller from starting. It is safe for concurrent use.
type Records struct {
	// Hub is the configuration for the hub, and Mapper knows its kinds.
	Hub    *rest.Config
	Mapper meta.RESTMapper
	// Namespace has the DNSEndpoints.
	Namespace string
	// Clock is for the interval in which the kind is looked for.
	Clock clock.Clock

	mu sync.Mutex
	// reader is nil until the hub serves the kind and the cache has all DNSEndpoints. absent: the hub has answered that it
	// does not serve the kind.
	reader client.Reader
	absent bool
	queues map[multicluster.ClusterName]queue

	unread unread
}

type queue = workqueue.TypedRateLimitingInterface[mcreconcile.Request]

// Start watches the DNSEndpoints until ctx ends.
func (r *Records) Start(ctx context.Context) error {
	for !r.served() {
		select {
		case <-ctx.Done():
			return nil
		case <-r.Clock.After(pollInterval):
		}
	}
	watched, err := r.newCache(ctx)
	if err != nil {
		return err
	}
	informer, err := watched.GetInformer(ctx, newRecord(), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the DNSEndpoints of the hub: %w", err)
	}
	if _, err := informer.AddEventHandler(r.events()); err != nil {
		return fmt.Errorf("watch the DNSEndpoints of the hub: %w", err)
	}
	go func() {
		if watched.WaitForCacheSync(ctx) {
			r.use(ctx, watched)
		}
	}()
	return watched.Start(ctx)
}

// served reports whether the hub serves the kind. Another error is no answer, and the hub is asked again.
func (r *Records) served() bool {
	_, err := r.Mapper.RESTMapping(Kind.GroupKind(), Kind.Version)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.absent = meta.IsNoMatchError(err)
	return err == nil
}

// known reports whether it is known which DNSEndpoints exist. Until then a name must be neither written nor missed.
func (r *Records) known() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.absent || r.reader != nil
}

func (r *Records) newCache(ctx context.Context) (cache.Cache, error) {
	ofWorkloads, err := labels.NewRequirement(v1alpha.LabelWorkloadUID, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("select the DNSEndpoints of the add-on: %w", err)
	}
	watched, err := cache.New(r.Hub, cache.Options{
		Scheme: runtime.NewScheme(), Mapper: r.Mapper, DefaultTransform: trimRecord,
		DefaultNamespaces: map[string]cache.Config{r.Namespace: {}}, DefaultLabelSelector: labels.NewSelector().Add(*ofWorkloads),
	})
	if err != nil {
		return nil, fmt.Errorf("make a cache for the DNSEndpoints of the hub: %w", err)
	}
	return watched, (index{}).AddTo(ctx, watched)
}

// maxRecord is the largest DNSEndpoint that is kept whole: a record of the add-on is smaller.
const maxRecord = 128 << 10

// trimRecord keeps of a DNSEndpoint what controllers read. The spec of a larger one is written again.
func trimRecord(obj any) (any, error) {
	record, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	written := record.GetManagedFields()
	watch.BoundMetadata(record)
	keepRead(record, written)
	maps.DeleteFunc(record.Object, func(field string, _ any) bool {
		return field != "apiVersion" && field != "kind" && field != "metadata" && field != "spec" && field != "status"
	})
	if encoded, err := json.Marshal(record.Object); err != nil || len(encoded) > maxRecord {
		delete(record.Object, "spec")
	}
	return record, nil
}

// use lets reconciles read the DNSEndpoints, and requests the Workloads of all.
func (r *Records) use(ctx context.Context, reader client.Reader) {
	r.mu.Lock()
	r.reader = reader
	names := make([]multicluster.ClusterName, 0, len(r.queues))
	for name := range r.queues {
		names = append(names, name)
	}
	r.mu.Unlock()
	for _, name := range names {
		r.requestAll(ctx, name)
	}
}

// events requests the Workload of each DNSEndpoint that changes: of one that others changed or deleted, and of one whose
// Workload is gone.
func (r *Records) events() toolscache.ResourceEventHandler {
	see := func(obj any, exists bool) {
		if tombstone, isOne := obj.(toolscache.DeletedFinalStateUnknown); isOne {
			obj = tombstone.Obj
		}
		record, isRecord := obj.(*unstructured.Unstructured)
		if !isRecord {
			return
		}
		r.unread.see(record, exists)
		r.mu.Lock()
		target := r.queues[projects.NameOf(record)]
		r.mu.Unlock()
		if target != nil {
			target.Add(requestOf(record))
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { see(obj, true) }, UpdateFunc: func(_, obj any) { see(obj, true) }, DeleteFunc: func(obj any) { see(obj, false) },
	}
}

// requestOf requests the Workload of a DNSEndpoint.
func requestOf(record client.Object) mcreconcile.Request {
	present := record.GetLabels()
	return mcreconcile.Request{ClusterName: projects.NameOf(record), Request: reconcile.Request{NamespacedName: types.NamespacedName{
		Namespace: present[v1alpha.LabelProjectNamespace], Name: present[v1alpha.LabelWorkloadName],
	}}}
}

// ForCluster implements the source of a multicluster controller: a project that is engaged gets requests for the
// Workloads that have DNSEndpoints, which may be gone.
func (r *Records) ForCluster(name multicluster.ClusterName, _ cluster.Cluster) (source.TypedSource[mcreconcile.Request], bool, error) {
	return source.TypedFunc[mcreconcile.Request](func(ctx context.Context, target queue) error {
		r.mu.Lock()
		if r.queues == nil {
			r.queues = map[multicluster.ClusterName]queue{}
		}
		r.queues[name] = target
		r.mu.Unlock()
		context.AfterFunc(ctx, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.queues[name] == target {
				delete(r.queues, name)
			}
		})
		r.requestAll(ctx, name)
		return nil
	}), true, nil
}

// requestAll requests the Workloads of all DNSEndpoints of a project.
func (r *Records) requestAll(ctx context.Context, name multicluster.ClusterName) {
	records, served, err := r.list(ctx, client.MatchingFields{projectField: name.String()})
	if err != nil || !served {
		if err != nil {
			log.FromContext(ctx).Error(err, "Failed to list the names of a project; leftover names stay until the next start", "project", name)
		}
		return
	}
	r.mu.Lock()
	target := r.queues[name]
	r.mu.Unlock()
	for i := range records {
		if target != nil {
			target.Add(requestOf(&records[i]))
		}
	}
}

// list lists DNSEndpoints. served is false while the hub does not serve the kind.
func (r *Records) list(ctx context.Context, options ...client.ListOption) (records []unstructured.Unstructured, served bool, err error) {
	r.mu.Lock()
	reader := r.reader
	r.mu.Unlock()
	if reader == nil {
		return nil, false, nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(Kind.GroupVersion().WithKind(Kind.Kind + "List"))
	if err := reader.List(ctx, list, append(options, client.InNamespace(r.Namespace))...); err != nil {
		return nil, true, fmt.Errorf("list the DNSEndpoints of the hub: %w", err)
	}
	return list.Items, true, nil
}

// Of lists the DNSEndpoints of a Workload.
func (r *Records) Of(ctx context.Context, origin *projects.Origin, workload string) ([]unstructured.Unstructured, bool, error) {
	return r.list(ctx, client.MatchingFields{workloadField: ownerKey(string(origin.ProjectUID), origin.Namespace, workload)})
}

// Fields by which DNSEndpoints are indexed.
const (
	workloadField = "workload"
	projectField  = "project"
)

// index indexes DNSEndpoints by Workload and by project.
type index struct{}

// AddTo adds the index to a cache.
func (index) AddTo(ctx context.Context, indexer client.FieldIndexer) error {
	for field, extract := range map[string]client.IndexerFunc{
		workloadField: func(obj client.Object) []string {
			present := obj.GetLabels()
			return []string{ownerKey(present[v1alpha.LabelProjectUID], present[v1alpha.LabelProjectNamespace], present[v1alpha.LabelWorkloadName])}
		},
		projectField: func(obj client.Object) []string { return []string{projects.NameOf(obj).String()} },
	} {
		if err := indexer.IndexField(ctx, newRecord(), field, extract); err != nil {
			return fmt.Errorf("index DNSEndpoints by %s: %w", field, err)
		}
	}
	return nil
}

func ownerKey(project, namespace, workload string) string {
	return project + "/" + namespace + "/" + workload
}
