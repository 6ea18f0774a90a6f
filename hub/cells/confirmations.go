// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

const (
	// executionSpaceAfter is the delay before the namespace of a new cell's Works is looked for again: Karmada makes it at
	// once.
	executionSpaceAfter = 2 * time.Second
	// agentsFor is how long agents count as present after they were found.
	agentsFor = time.Minute
)

// Confirmations confirms the cities of Clusters while no agent can write Clusters, and maintains condition
// ComputeCityConfirmed of the Clusters that an operator must confirm. Every replica runs it: it writes only what
// changes.
type Confirmations struct {
	// Cities has what is confirmed.
	Cities *Cities
	// Hub reads Clusters as they are from the cache, and writes.
	Hub client.Client
	// Clock gives conditions their transition times.
	Clock clock.PassiveClock
	// Access is the metric of Clusters that give others more than they need. See NewAccessMetric. Nil: none.
	Access *prometheus.GaugeVec

	// accessFindings has the findings about the rights of others, by Cluster, and roles are the roles of agents until rolesUntil.
	accessFindings map[string]accessFinding
	roles          []reasons.AgentRole
	rolesUntil     time.Time
	// agentsUntil is until when agents count as present. A later event of their Clusters, which may have any rate, reads
	// the hub only then. The controller has one worker.
	agentsUntil time.Time
}

// Register adds the controller to a manager of the hub.
func (r *Confirmations) Register(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("cells-cities").
		For(&clusterv1alpha1.Cluster{}).
		WatchesRawSource(Watch(r.Cities, func(_ context.Context, cell client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(cell)}}
		})).
		WithOptions(controller.Options{NeedLeaderElection: new(false), MaxConcurrentReconciles: 1}).
		Complete(r)
}

// Reconcile confirms the city of one Cluster, or reports the command that does, and reports who has more rights on the
// objects of the Cluster than needed.
func (r *Confirmations) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := &clusterv1alpha1.Cluster{}
	if err := r.Hub.Get(ctx, request.NamespacedName, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			delete(r.accessFindings, request.Name)
			r.measure(request.Name)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !cluster.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	confirmed, err := r.Cities.confirmed(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	access, err := r.access(ctx, cluster)
	if err != nil {
		return reconcile.Result{}, err
	}
	city, after, err := r.city(ctx, cluster, confirmed[karmadanames.GenerateExecutionSpaceName(cluster.Name)])
	if err != nil {
		return reconcile.Result{}, err
	}
	r.measure(cluster.Name, foreign(cluster), access)
	status := conditions{r.Hub, r.Cities.APIReader, r.Clock}
	return reconcile.Result{RequeueAfter: cmp.Or(after, accessFor)},
		status.write(ctx, cluster, map[string]*metav1.Condition{
			v1alpha.ConditionComputeCityConfirmed: city, v1alpha.ConditionComputeAccessRestricted: access,
		})
}

// city confirms the city of a Cluster, or returns its condition. after is when the Cluster is checked again; 0: with
// the rights of others.
func (r *Confirmations) city(
	ctx context.Context, cluster *clusterv1alpha1.Cluster, confirmed confirmation,
) (condition *metav1.Condition, after time.Duration, err error) {
	if condition = foreign(cluster); condition != nil {
		return condition, 0, nil
	}
	city, invalid := cityOf(cluster), invalidCity(cluster)
	if confirmed.city == city {
		return invalid, 0, nil
	}
	// After the Cluster was read: the right to write it is older than an agent's Cluster.
	agents, err := r.agentsWrite(ctx)
	switch {
	case err != nil:
		return nil, 0, err
	case agents && (city == "" || invalid != nil):
		return invalid, agentsFor, nil
	case agents:
		return unconfirmed(cluster, city, "agents of cells may write Clusters"), agentsFor, nil
	}
	// Live: they may be as new as the Cluster.
	strangers, err := reasons.StrangersOfCell(ctx, r.Cities.APIReader, cluster.Name)
	if err != nil {
		return nil, 0, err
	}
	if city != "" && len(strangers) > 0 {
		return unconfirmed(cluster, city, aboutStrangers(strangers)), agentsFor, nil
	}
	return meta.FindStatusCondition(cluster.Status.Conditions, v1alpha.ConditionComputeCityConfirmed), executionSpaceAfter,
		r.Cities.confirm(ctx, cluster.Name, city)
}

// agentsWrite reports whether agents may write Clusters. That they may is remembered: it withholds a confirmation. That
// none may is not.
func (r *Confirmations) agentsWrite(ctx context.Context) (bool, error) {
	now := r.Clock.Now()
	if now.Before(r.agentsUntil) {
		return true, nil
	}
	agents, err := r.Cities.agentsWrite(ctx)
	if agents {
		r.agentsUntil = now.Add(agentsFor)
	}
	return agents, err
}

// invalidCity is the condition of a Cluster with a label that no Workload can name as a city; nil for all others.
func invalidCity(cluster *clusterv1alpha1.Cluster) *metav1.Condition {
	city, labelled := cluster.Labels[v1alpha.LabelTopologyCity]
	if !labelled || naming.IsCity(city) {
		return nil
	}
	return &metav1.Condition{
		Type: v1alpha.ConditionComputeCityConfirmed, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonCityInvalid,
		ObservedGeneration: cluster.Generation,
		Message: fmt.Sprintf("no Workload can name city %q of label %s; a city code has at most 16 letters, digits and hyphens",
			city, v1alpha.LabelTopologyCity),
	}
}

func unconfirmed(cluster *clusterv1alpha1.Cluster, city, because string) *metav1.Condition {
	return &metav1.Condition{
		Type: v1alpha.ConditionComputeCityConfirmed, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonCityUnconfirmed,
		ObservedGeneration: cluster.Generation,
		Message: fmt.Sprintf("%s, so an operator confirms the city: kubectl label --overwrite namespace %s %s=%s",
			because, karmadanames.GenerateExecutionSpaceName(cluster.Name), v1alpha.LabelTopologyCity, city),
	}
}

// NewCities returns the Cities of the hub of a manager. They have a cache of their own: the manager's has the
// namespaces of projects alone.
func NewCities(mgr ctrl.Manager) (*Cities, error) {
	exists, err := labels.NewRequirement(v1alpha.LabelTopologyCity, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("select namespaces with the label of a city: %w", err)
	}
	namespaces, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) {
		o.Scheme, o.HTTPClient = mgr.GetScheme(), mgr.GetHTTPClient()
		o.Cache.DefaultTransform = trimConfirmation
		o.Cache.ByObject = map[client.Object]cache.ByObject{namespaceMetadata(): {Label: labels.NewSelector().Add(*exists)}}
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of the cells' namespaces: %w", err)
	}
	if err := mgr.Add(namespaces); err != nil {
		return nil, fmt.Errorf("add the cache of the cells' namespaces: %w", err)
	}
	return &Cities{
		Namespaces: namespaces.GetCache(), cache: namespaces.GetCache(),
		APIReader: mgr.GetAPIReader(), Writer: mgr.GetClient(),
	}, nil
}

// trimConfirmation keeps of a namespace what an operator confirms with it, and the settings that fit into their bounds.
func trimConfirmation(object any) (any, error) {
	namespace, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	maps.DeleteFunc(namespace.Annotations, func(key, value string) bool {
		return !slices.Contains(settings, key) || len(value) > maxBalancer
	})
	city := namespace.Labels[v1alpha.LabelTopologyCity]
	namespace.Labels, namespace.Finalizers = map[string]string{v1alpha.LabelTopologyCity: city}, nil
	namespace.ManagedFields, namespace.OwnerReferences = nil, nil
	return namespace, nil
}

func namespaceMetadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
}

// Watch is a source of requests for what a change of a confirmed city concerns: for a Cluster of the name with the
// earlier city, and with the present one. Without a cache it has no events.
func Watch[R comparable](c *Cities, concerned func(context.Context, client.Object) []R) source.TypedSource[R] {
	if c == nil || c.cache == nil {
		return source.TypedFunc[R](func(context.Context, workqueue.TypedRateLimitingInterface[R]) error { return nil })
	}
	add := func(ctx context.Context, q workqueue.TypedRateLimitingInterface[R], namespaces ...*metav1.PartialObjectMetadata) {
		for _, namespace := range namespaces {
			name, err := karmadanames.GetClusterName(namespace.Name)
			if err != nil {
				continue
			}
			cell := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: namespace.Labels}}
			for _, request := range concerned(ctx, cell) {
				q.Add(request)
			}
		}
	}
	type metadata = *metav1.PartialObjectMetadata
	type queue = workqueue.TypedRateLimitingInterface[R]
	return source.TypedKind(c.cache, namespaceMetadata(), handler.TypedFuncs[metadata, R]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[metadata], q queue) { add(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[metadata], q queue) {
			add(ctx, q, e.ObjectOld, e.ObjectNew)
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[metadata], q queue) { add(ctx, q, e.Object) },
	})
}
