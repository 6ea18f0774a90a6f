// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// Binding is the name and namespace of the ResourceBinding of the agents' Deployment, as in the chart.
var Binding = client.ObjectKey{Namespace: "karmada-compute-system", Name: "karmada-compute-cell-deployment"}

// agentWork is the name of the Works that carry the agents' Deployment.
var agentWork = karmadanames.GenerateWorkName("Deployment", AgentDeployment, Binding.Namespace)

// AgentDeployment is the name of the agents' Deployment, in the namespace of the binding.
const AgentDeployment = "karmada-compute-cell"

// IsClusterBinding reports whether a ClusterResourceBinding with this name is of an object of the agents: Karmada names it
// after the object and its kind.
func IsClusterBinding(name string) bool {
	return strings.HasPrefix(name, AgentDeployment+"-") || name == Binding.Namespace+"-namespace" ||
		strings.HasSuffix(name, "."+v1alpha.GroupVersion.Group+"-customresourcedefinition")
}

// AgentBindings lists the bindings of the agents' objects, in their namespace and without one.
func AgentBindings(ctx context.Context, hub client.Reader) ([]client.Object, error) {
	var namespaced workv1alpha2.ResourceBindingList
	if err := hub.List(ctx, &namespaced, client.InNamespace(Binding.Namespace)); err != nil {
		return nil, fmt.Errorf("list the ResourceBindings of the agents: %w", err)
	}
	found, err := agentClusterBindings(ctx, hub)
	for i := range namespaced.Items {
		found = append(found, &namespaced.Items[i])
	}
	return found, err
}

func agentClusterBindings(ctx context.Context, hub client.Reader) (found []client.Object, err error) {
	var all workv1alpha2.ClusterResourceBindingList
	if err := hub.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("list the ClusterResourceBindings of the agents: %w", err)
	}
	for i := range all.Items {
		if IsClusterBinding(all.Items[i].Name) {
			found = append(found, &all.Items[i])
		}
	}
	return found, nil
}

// SpecOf returns the spec of a binding.
func SpecOf(binding client.Object) *workv1alpha2.ResourceBindingSpec {
	switch b := binding.(type) {
	case *workv1alpha2.ResourceBinding:
		return &b.Spec
	case *workv1alpha2.ClusterResourceBinding:
		return &b.Spec
	}
	return &workv1alpha2.ResourceBindingSpec{}
}

// AgentWork returns the Work by which Karmada brings the object of a binding of the agents to a cell; nil: it does not
// exist, or carries another object. Names of Works end in a short hash, so that another object may have taken the name.
func AgentWork(ctx context.Context, hub client.Reader, binding client.Object, cell string) (*workv1alpha1.Work, error) {
	reference, work := &SpecOf(binding).Resource, &workv1alpha1.Work{}
	key := client.ObjectKey{
		Namespace: karmadanames.GenerateExecutionSpaceName(cell),
		Name:      karmadanames.GenerateWorkName(reference.Kind, reference.Name, reference.Namespace),
	}
	if err := hub.Get(ctx, key, work); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read the Work %s of an agent: %w", key, err)
	}
	name := workv1alpha2.ResourceBindingNameAnnotationKey
	if binding.GetNamespace() == "" {
		name = workv1alpha2.ClusterResourceBindingAnnotationKey
	}
	if !IsOfAgents(work) || work.Annotations[name] != binding.GetName() {
		return nil, nil
	}
	return work, nil
}

// IsOfAgents reports whether Karmada has made a Work for an object of the agents.
func IsOfAgents(work client.Object) bool {
	annotations := work.GetAnnotations()
	return annotations[workv1alpha2.ResourceBindingNamespaceAnnotationKey] == Binding.Namespace ||
		IsClusterBinding(annotations[workv1alpha2.ClusterResourceBindingAnnotationKey])
}

// Agents maintains the condition of Clusters. Every replica runs it: it writes a condition only if it changes.
type Agents struct {
	// Hub reads from the cache and writes.
	Hub client.Client
	// Reader reads the agents' Deployment from the hub, without a cache.
	Reader client.Reader
	// Clock gives conditions their transition times.
	Clock clock.PassiveClock
	// Ready is the metric, by cell and reason. See NewMetric.
	Ready *prometheus.GaugeVec
}

// NewAgentsMetric creates the metric of Agents and registers it.
func NewAgentsMetric(registerer prometheus.Registerer) *prometheus.GaugeVec {
	ready := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "karmada_compute_cell_agent_ready",
		Help: "1 while the agent of a cell is ready and has the current version, else 0, by cell and reason.",
	}, []string{"cell", "reason"})
	registerer.MustRegister(ready)
	return ready
}

// Register adds the controller to a manager of the hub.
func (r *Agents) Register(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("cells-agents").
		For(&clusterv1alpha1.Cluster{}).
		Watches(&workv1alpha2.ResourceBinding{}, handler.EnqueueRequestsFromMapFunc(r.allCells)).
		Watches(&workv1alpha2.ClusterResourceBinding{}, handler.EnqueueRequestsFromMapFunc(r.allCells)).
		Watches(&workv1alpha1.Work{}, handler.EnqueueRequestsFromMapFunc(cellOfWork), builder.WithPredicates(
			predicate.NewPredicateFuncs(func(work client.Object) bool { return work.GetName() == agentWork || IsOfAgents(work) }))).
		// Every replica has its own metric.
		WithOptions(controller.Options{NeedLeaderElection: new(false)}).
		Complete(r)
}

// allCells returns requests for all Clusters, if the object is a binding that the agents need.
func (r *Agents) allCells(ctx context.Context, object client.Object) []reconcile.Request {
	if client.ObjectKeyFromObject(object) != Binding && (object.GetNamespace() != "" || !IsClusterBinding(object.GetName())) {
		return nil
	}
	return pace.All(ctx, r.Hub, &clusterv1alpha1.ClusterList{}, client.UnsafeDisableDeepCopy)
}

// Reconcile writes the condition of one Cluster.
func (r *Agents) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := &clusterv1alpha1.Cluster{}
	if err := r.Hub.Get(ctx, request.NamespacedName, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			r.measure(request.Name, nil)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("read Cluster %s: %w", request.Name, err)
	}
	binding := &workv1alpha2.ResourceBinding{}
	if err := client.IgnoreNotFound(r.Hub.Get(ctx, Binding, binding)); err != nil {
		return reconcile.Result{}, fmt.Errorf("read the binding of the agents: %w", err)
	}
	generation, err := r.generation(ctx, binding)
	if err != nil {
		return reconcile.Result{}, err
	}
	wanted := agentCondition(cluster, binding, generation)
	if wanted != nil && wanted.Status == metav1.ConditionTrue {
		missing, err := r.missing(ctx, binding, cluster.Name)
		if err != nil {
			return reconcile.Result{}, err
		}
		if missing != nil {
			wanted.Status, wanted.Reason = metav1.ConditionFalse, v1alpha.ReasonAgentMissing
			wanted.Message = fmt.Sprintf("Work %s in namespace %s does not carry %s %s of the agent, so that Karmada does not keep it in the cell; "+
				"the report is from before", karmadanames.GenerateWorkName(missing.Kind, missing.Name, missing.Namespace),
				karmadanames.GenerateExecutionSpaceName(cluster.Name), missing.Kind, missing.Name)
		}
	}
	r.measure(cluster.Name, wanted)
	written := map[string]*metav1.Condition{v1alpha.ConditionComputeAgentReady: wanted}
	return reconcile.Result{}, conditions{r.Hub, r.Reader, r.Clock}.write(ctx, cluster, written)
}

// missing returns an object that an agent needs and that no Work carries to its cell; nil: Works carry all of them.
func (r *Agents) missing(
	ctx context.Context, deployment *workv1alpha2.ResourceBinding, cell string,
) (*workv1alpha2.ObjectReference, error) {
	bindings, err := agentClusterBindings(ctx, r.Hub)
	if err != nil {
		return nil, err
	}
	for _, binding := range append(bindings, deployment) {
		spec := SpecOf(binding)
		isNeeded := binding == client.Object(deployment) || slices.Contains(neededKinds, spec.Resource.Kind) &&
			slices.ContainsFunc(spec.Clusters, func(target workv1alpha2.TargetCluster) bool { return target.Name == cell })
		if !isNeeded {
			continue
		}
		if work, err := AgentWork(ctx, r.Hub, binding, cell); err != nil || work == nil {
			return &spec.Resource, err
		}
	}
	return nil, nil
}

// neededKinds are the kinds of the agents' objects without a namespace that an agent does not work without.
var neededKinds = []string{"CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Namespace"}

// generation is the generation of the agents' Deployment on the hub, where a cell reports another one than the rest;
// otherwise it is the generation that all report; 0: there is no Deployment. The report of one cell decides nothing
// about the agent of another cell.
func (r *Agents) generation(ctx context.Context, binding *workv1alpha2.ResourceBinding) (int64, error) {
	reported := map[int64]bool{}
	last := int64(0)
	for _, item := range binding.Status.AggregatedStatus {
		last = parse(item).ResourceTemplateGeneration
		reported[last] = true
	}
	if len(reported) < 2 {
		return last, nil
	}
	deployment := &metav1.PartialObjectMetadata{}
	deployment.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	key := client.ObjectKey{Namespace: Binding.Namespace, Name: AgentDeployment}
	if err := r.Reader.Get(ctx, key, deployment); client.IgnoreNotFound(err) != nil {
		return 0, fmt.Errorf("read Deployment %s on the hub: %w", key, err)
	}
	return deployment.Generation, nil
}

func (r *Agents) measure(cell string, c *metav1.Condition) {
	r.Ready.DeletePartialMatch(prometheus.Labels{"cell": cell})
	if c == nil {
		return
	}
	value := 0.0
	if c.Status == metav1.ConditionTrue {
		value = 1
	}
	r.Ready.WithLabelValues(cell, c.Reason).Set(value)
}

// isCell reports whether Workloads run on a Cluster.
func isCell(cluster *clusterv1alpha1.Cluster) bool {
	return cluster.Labels[v1alpha.LabelTopologyCity] != "" && cluster.DeletionTimestamp.IsZero()
}

// reported is Karmada's report of a Deployment in a cluster.
type reported struct {
	Replicas                   int32 `json:"replicas,omitempty"`
	UpdatedReplicas            int32 `json:"updatedReplicas,omitempty"`
	AvailableReplicas          int32 `json:"availableReplicas,omitempty"`
	Generation                 int64 `json:"generation,omitempty"`
	ObservedGeneration         int64 `json:"observedGeneration,omitempty"`
	ResourceTemplateGeneration int64 `json:"resourceTemplateGeneration,omitempty"`
}

// agentCondition returns the desired condition of a Cluster with the newest generation of the agents' Deployment; nil:
// no condition. Without a binding, Karmada did not install the agents, and their state is unknown.
func agentCondition(cluster *clusterv1alpha1.Cluster, binding *workv1alpha2.ResourceBinding, newest int64) *metav1.Condition {
	if !isCell(cluster) || binding.Name == "" {
		return nil
	}
	c := &metav1.Condition{Type: v1alpha.ConditionComputeAgentReady, Status: metav1.ConditionFalse, ObservedGeneration: cluster.Generation}
	var own *reported
	for _, item := range binding.Status.AggregatedStatus {
		if item.ClusterName == cluster.Name {
			own = new(parse(item))
		}
	}
	switch {
	case own == nil:
		c.Reason = v1alpha.ReasonAgentMissing
		c.Message = "Karmada has not brought the agent of karmada-compute here; see ResourceBinding " + Binding.String()
	case !servesAPI(cluster):
		c.Reason = v1alpha.ReasonAgentAPIMissing
		c.Message = fmt.Sprintf("the cell does not serve %s: it was rebuilt under its name, or the CRDs of karmada-compute were deleted there; "+
			"the last report is about the cell before", v1alpha.GroupVersion)
	case own.AvailableReplicas == 0:
		c.Reason = v1alpha.ReasonAgentNotReady
		c.Message = fmt.Sprintf("no replica of the agent is available; see Deployment karmada-compute-cell in namespace %s of the cell",
			Binding.Namespace)
	case newest > 0 && own.ResourceTemplateGeneration != newest || own.UpdatedReplicas < own.Replicas ||
		own.ObservedGeneration < own.Generation:
		c.Reason = v1alpha.ReasonAgentOutdated
		c.Message = fmt.Sprintf("the agent runs generation %d of its template; the hub has %d", own.ResourceTemplateGeneration, newest)
		if newest == 0 || own.ResourceTemplateGeneration == newest {
			c.Message = fmt.Sprintf("%d of %d replicas of the agent are updated", own.UpdatedReplicas, own.Replicas)
		}
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, v1alpha.ReasonAgentReady, "the agent of karmada-compute is available and current"
	}
	return c
}

// servesAPI reports whether a cell serves the API of the agent. Karmada asks the cell for its APIs every few seconds,
// while its watches of a cell that was rebuilt under its name stay silent. An incomplete answer proves nothing.
func servesAPI(cluster *clusterv1alpha1.Cluster) bool {
	status := &cluster.Status
	complete := meta.IsStatusConditionTrue(status.Conditions, clusterv1alpha1.ClusterConditionCompleteAPIEnablements)
	if !complete || len(status.APIEnablements) == 0 {
		return true
	}
	return slices.ContainsFunc(status.APIEnablements, func(api clusterv1alpha1.APIEnablement) bool {
		return api.GroupVersion == v1alpha.GroupVersion.String()
	})
}

// parse decodes a cluster's report; a report that no Deployment can have counts as empty.
func parse(item workv1alpha2.AggregatedStatusItem) reported {
	var r reported
	if item.Status != nil && json.Unmarshal(item.Status.Raw, &r) != nil || r.isNegative() {
		return reported{}
	}
	return r
}

func (r *reported) isNegative() bool {
	return min(r.Replicas, r.UpdatedReplicas, r.AvailableReplicas) < 0 ||
		min(r.Generation, r.ObservedGeneration, r.ResourceTemplateGeneration) < 0
}
