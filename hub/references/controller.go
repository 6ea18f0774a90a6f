// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"

	corev1 "k8s.io/api/core/v1"
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
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/hub/origin"
)

// Owner is the field manager of this controller.
const Owner apply.Owner = "karmada-compute-references"

// Projects finds the projects that this replica owns.
type Projects interface {
	Get(ctx context.Context, name multicluster.ClusterName) (cluster.Cluster, error)
	UID(name multicluster.ClusterName) (types.UID, error)
}

// Reconciler carries what deployments name to the hub, one namespace of one project at a time. It is safe for
// concurrent use.
//
// It looks at a namespace, not at one object: what a deployment waits for is said all at once, the limit on a
// deployment's data is a sum, and no two writers of one object ever run at the same time.
type Reconciler struct {
	// Projects are the projects that this replica owns.
	Projects Projects
	// Hub reads deployments and the metadata of copies from a cache, and writes to the hub.
	Hub client.Client
	// Live reads the hub itself: contents are in no cache.
	Live client.Reader
	// Clock stamps conditions.
	Clock clock.PassiveClock

	sources sources
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	onHub := []mcbuilder.WatchesOption{mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false)}
	built, err := mcbuilder.ControllerManagedBy(mgr).
		Named("references").
		// What is named changes with the deployments.
		Watches(&v1alpha.WorkloadDeployment{}, namespaceInProject, mcbuilder.WithPredicates(notStatus())).
		// The hub's deployments own the copies, and hold what the cells report.
		Watches(&v1alpha.WorkloadDeployment{}, origin.OnHubEvent(namespaceOfCopy),
			append(onHub, mcbuilder.WithPredicates(predicate.Or(notStatus(), newReport())))...).
		// Copies that were edited or deleted by hand are put back.
		WatchesMetadata(&corev1.ConfigMap{}, origin.OnHubEvent(namespaceOfCopy), onHub...).
		WatchesMetadata(&corev1.Secret{}, origin.OnHubEvent(namespaceOfCopy), onHub...).
		WithOptions(options).
		Build(wrap(r.Reconcile))
	if err != nil {
		return err
	}
	return built.MultiClusterWatch(&r.sources)
}

// request asks for a namespace of a project.
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

// namespaceOfCopy asks for the namespace in the project that an object on the hub comes from.
func namespaceOfCopy(_ context.Context, onHub client.Object) []mcreconcile.Request {
	namespace := onHub.GetLabels()[v1alpha.LabelProjectNamespace]
	if origin.Project(onHub) == "" || namespace == "" {
		return nil
	}
	return []mcreconcile.Request{request(origin.Project(onHub), namespace)}
}

// notStatus passes everything but changes of status.
func notStatus() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{},
		predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
		}})
}

// newReport passes updates of deployments whose cells say something else about data than before. Their status changes
// for many other reasons.
func newReport() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isDeployment := e.ObjectOld.(*v1alpha.WorkloadDeployment)
		after, alsoOne := e.ObjectNew.(*v1alpha.WorkloadDeployment)
		return isDeployment && alsoOne && reportOf(before) != reportOf(after)
	}}
}

// metadataOf is an object of a kind without its contents.
func metadataOf(kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}
}
