// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-references"

// Reconciler copies the ConfigMaps and Secrets that deployments name to the hub, one namespace of one project at a
// time. It is safe for concurrent use.
//
// It reconciles a namespace and not one object, so that a condition names every missing object of a deployment, the
// limit on a deployment's data can be a sum, and an object never has two concurrent writers.
type Reconciler struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Hub reads deployments and RoleBindings from a cache, and writes to the hub.
	Hub client.Client
	// APIReader reads the hub's API server: no cache has copies.
	APIReader client.Reader
	// Owners decides whether a project exists.
	Owners *ownership.Owners
	// Grants reports in which hub namespaces the add-on may read and write copies.
	Grants *projects.Grants
	// AuditInterval is the maximum age of the list of a hub namespace's copies. Without an event, the copies are listed
	// and compared again after this time plus up to half of it. 0: each reconcile lists them, and no reconcile follows
	// without an event.
	AuditInterval time.Duration
	// Repairer triggers Karmada to apply data again that a cell has not taken over.
	Repairer *repairs.Repairer
	// MaxBytes bounds the bytes of all copies of a project on the hub. 0: no bound.
	MaxBytes int
	// Namespace is the namespace of the add-on's own objects on the hub.
	Namespace string
	// Clock gives conditions their transition times.
	Clock clock.PassiveClock

	sources projects.Store[*projectSources]
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	r.sources.New = newSources
	onHub := []mcbuilder.WatchesOption{mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false)}
	built, err := mcbuilder.ControllerManagedBy(mgr).
		Named("references").
		// The templates of the deployments name the objects.
		Watches(&v1alpha.WorkloadDeployment{}, namespaceInProject, mcbuilder.WithPredicates(watch.IgnoreStatusUpdates(), concernsData())).
		// Data may be part of the revisions of a Workload.
		Watches(&v1alpha.Workload{}, namespaceInProject, mcbuilder.WithPredicates(watch.IgnoreStatusUpdates(), concernsRevisions())).
		// The hub's deployments own the copies.
		Watches(&v1alpha.WorkloadDeployment{}, projects.OnHubEvent(projects.NamespaceOfCopy),
			append(onHub, mcbuilder.WithPredicates(watch.IgnoreStatusUpdates(), concernsData()))...).
		// Cells report which data has reached them.
		Watches(&workv1alpha1.Work{}, projects.OnHubEvent(ofWork), append(onHub, mcbuilder.WithPredicates(path.ReportChanged(sameData)))...).
		// Copies that were edited or deleted by hand are restored. Karmada's binding of a copy records the version of
		// the copy.
		Watches(&workv1alpha2.ResourceBinding{}, projects.OnHubEvent(r.ofBinding), append(onHub, mcbuilder.WithPredicates(copyChanged()))...).
		WithOptions(options).
		Build(wrap(r.Reconcile))
	if err != nil {
		return err
	}
	return built.MultiClusterWatch(&r.sources)
}

// request returns the request for a namespace of a project.
func request(project multicluster.ClusterName, namespace string) mcreconcile.Request {
	return mcreconcile.Request{
		ClusterName: project, Request: reconcile.Request{NamespacedName: types.NamespacedName{Name: namespace}},
	}
}

func namespaceInProject(project multicluster.ClusterName, _ cluster.Cluster) mchandler.EventHandler {
	return handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, obj client.Object) []mcreconcile.Request {
		return []mcreconcile.Request{request(project, obj.GetNamespace())}
	})
}

// concernsData drops events of deployments that name no data, and named none before: most deployments name none, and
// each event reads all deployments of a namespace. A deployment with a condition about data named data in an earlier
// version that the watch missed.
func concernsData() predicate.Predicate {
	concerns := func(obj client.Object) bool {
		d, isDeployment := obj.(*v1alpha.WorkloadDeployment)
		return isDeployment && (len(namedBy(d.Spec.Templates())) > 0 ||
			meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionReferencedDataReady) != nil)
	}
	filter := predicate.NewPredicateFuncs(concerns)
	filter.UpdateFunc = func(e event.UpdateEvent) bool { return concerns(e.ObjectOld) || concerns(e.ObjectNew) }
	return filter
}

// concernsRevisions drops events of Workloads whose data is not part of their revisions, and was not before.
func concernsRevisions() predicate.Predicate {
	concerns := func(obj client.Object) bool {
		w, isWorkload := obj.(*v1alpha.Workload)
		return isWorkload && rollsData(w)
	}
	filter := predicate.NewPredicateFuncs(concerns)
	filter.UpdateFunc = func(e event.UpdateEvent) bool { return concerns(e.ObjectOld) || concerns(e.ObjectNew) }
	return filter
}

// sameData reports whether a cell reports the same about data as before. Most report nothing.
func sameData(before, after *path.Report) bool {
	a, b := before.Facts(), after.Facts()
	if a.DataReady == "" && a.DataMissing == "" && b.DataReady == "" && b.DataMissing == "" {
		return true
	}
	return (a.DataReady == "") == (b.DataReady == "") && a.DataMissing == b.DataMissing && a.DataDiffers == b.DataDiffers &&
		a.TemplateHash == b.TemplateHash
}

// ofWork requests the project's namespace of the deployment that a Work carries.
func ofWork(_ context.Context, object client.Object) []mcreconcile.Request {
	work, ok := object.(*workv1alpha1.Work)
	if !ok {
		return nil
	}
	source, ours := path.SourceOf(work)
	if !ours {
		return nil
	}
	return []mcreconcile.Request{request(multicluster.ClusterName(source.Project), source.Original.Namespace)}
}

// ofBinding requests the project's namespace of the binding's copy, and marks its copies to be listed again.
func (r *Reconciler) ofBinding(ctx context.Context, binding client.Object) []mcreconcile.Request {
	namespace := &corev1.Namespace{}
	if err := r.Hub.Get(ctx, types.NamespacedName{Name: binding.GetNamespace()}, namespace); err != nil {
		// It is no hub namespace, or it no longer exists.
		return nil
	}
	if project, engaged := r.sources.Get(projects.NameOf(namespace)); engaged {
		project.noteChange(namespace.Name)
	}
	return projects.NamespaceOfCopy(ctx, namespace)
}

// copyChanged drops events of bindings that are not about a ConfigMap or Secret, their creations, which follow the
// creation of the copy, and updates without another version of the copy.
func copyChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(e event.DeleteEvent) bool { return path.IsOfData(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isBinding := e.ObjectOld.(*workv1alpha2.ResourceBinding)
			after, alsoOne := e.ObjectNew.(*workv1alpha2.ResourceBinding)
			return isBinding && alsoOne && path.IsOfData(after) &&
				(before.Spec.Resource != after.Spec.Resource || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero())
		},
	}
}

// metadataOf returns an empty object of a kind, to read its metadata into.
func metadataOf(kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}
}
