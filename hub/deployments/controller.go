// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/instancetypes"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-deployments"

// Types reports the existing instance types. instancetypes.Catalogue implements it.
type Types interface {
	// Types returns the types of the last answer; it may be slightly old: before a type is reported as missing, call
	// Fresh.
	Types(ctx context.Context) ([]v1alpha.InstanceType, error)
	// Fresh reads the present types. An error is no answer.
	Fresh(ctx context.Context) ([]v1alpha.InstanceType, error)
	// Confirmed returns the types that the hub has confirmed within age: call it before a deployment takes its size
	// from a type.
	Confirmed(ctx context.Context, age time.Duration) ([]v1alpha.InstanceType, error)
	// Grace returns how long after its deprecation a type may be named by new Workloads, and the present time.
	Grace() (grace time.Duration, now time.Time)
}

// Names reads the DNS names of Workloads.
type Names interface {
	// Answers returns the addresses that are stored for the names of a Workload of a project. It reads past every cache.
	Answers(ctx context.Context, of projects.Origin, workload types.UID) ([]string, error)
}

// Networks reports which networks a project lacks.
type Networks interface {
	// Missing returns the named networks that do not exist.
	Missing(ctx context.Context, project projects.Project, named []types.NamespacedName) []types.NamespacedName
}

// Reconciler maintains the WorkloadDeployments of Workloads. It is safe for concurrent use.
type Reconciler struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Locations reports which locations a project has.
	Locations projects.Locations
	// Types reports the existing instance types; nil: no size is recorded.
	Types Types
	// DefaultType is the type of Workloads that name none; "": they get no deployment.
	DefaultType string
	// Networks reports which networks a project lacks. Nil: networks are not checked.
	Networks Networks
	// Namespaces has the last UIDs of namespaces in projects. Nil: they are read each time.
	Namespaces *projects.Namespaces
	// Passing delays status writes for transient states. Nil: no write is delayed.
	Passing *pace.Writes[mcreconcile.Request]
	// Drain is spec.service.drainSeconds of Workloads that do not set it, if it is more than v1alpha.DefaultDrainSeconds.
	Drain time.Duration
	// Names reads the DNS names of Workloads. Nil: Workloads have no names.
	Names Names
	// Hostnames are the rules for the names by which Gateways route to Workloads.
	Hostnames naming.Hostnames
	// Cells returns the cells of the hub; none: they are in doubt. judged is false while this process cannot know whether they are: the clocks
	// that another replica has begun run on. Nil: no city is ever replaced.
	Cells func(context.Context) (all cells.Cells, judged bool, err error)
	// HoldCities lets no city be replaced and none be returned to.
	HoldCities bool
	// Answers reports whether an address of a Workload in a city answers the hub. Nil: no address is asked.
	Answers func(workload mcreconcile.Request, city string) bool
	// Moves counts the decisions about these cells. Nil: they are not counted.
	Moves *Moves
	// Lacking has the cities that lack what an exposure needs. Nil: no city does.
	Lacking cells.Lacking
	// Clock gives conditions their transition times.
	Clock clock.PassiveClock

	finalizers writtenFinalizers
}

// byWorkload indexes deployments by the name of their Workload: each reconcile reads the deployments of one name.
var byWorkload = projects.ByLabel{Object: &v1alpha.WorkloadDeployment{}, Label: v1alpha.LabelWorkloadName}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	if err := byWorkload.AddTo(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	built, err := mcbuilder.ControllerManagedBy(mgr).
		Named("deployments").
		For(&v1alpha.Workload{}).
		Watches(&v1alpha.WorkloadDeployment{}, ofDeployment).
		// A city without a location gets its deployment when the location appears, and a selector may select others.
		Watches(r.Locations.Object(), allWorkloads).
		WithOptions(options).
		Build(wrap(r.Reconcile))
	if err != nil {
		return err
	}
	if r.Namespaces != nil {
		if err := built.MultiClusterWatch(r.Namespaces); err != nil {
			return err
		}
	}
	types, changing := r.Types.(interface{ OnChange(func()) })
	if !changing {
		return nil
	}
	// A Workload without a size gets its deployments when its type appears, and its conditions follow the type.
	return built.MultiClusterWatch(instancetypes.NewChanges(types, workloadsOf))
}

// ofDeployment requests the Workload of a deployment by what this controller wrote. The owner reference alone is not
// enough: the garbage collector removes it when a Workload is deleted with --cascade=orphan.
func ofDeployment(name multicluster.ClusterName, _ cluster.Cluster) mchandler.EventHandler {
	return handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, obj client.Object) []mcreconcile.Request {
		names := []string{obj.GetLabels()[v1alpha.LabelWorkloadName]}
		if deployment, ok := obj.(*v1alpha.WorkloadDeployment); ok {
			names = append(names, deployment.Spec.WorkloadRef.Name)
		}
		if owner := metav1.GetControllerOfNoCopy(obj); owner != nil && owner.Kind == v1alpha.KindWorkload {
			names = append(names, owner.Name)
		}
		slices.Sort(names)
		var requests []mcreconcile.Request
		for _, workload := range slices.Compact(names) {
			if workload != "" {
				requests = append(requests, mcreconcile.Request{ClusterName: name, Request: reconcile.Request{
					NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: workload},
				}})
			}
		}
		return requests
	})
}

// allWorkloads requests every Workload of the project in which an event happened.
func allWorkloads(name multicluster.ClusterName, project cluster.Cluster) mchandler.EventHandler {
	return handler.TypedEnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []mcreconcile.Request {
		return workloadsOf(ctx, name, project)
	})
}

// workloadsOf requests every Workload of a project.
func workloadsOf(ctx context.Context, name multicluster.ClusterName, project cluster.Cluster) []mcreconcile.Request {
	return projects.All(ctx, name, project, &v1alpha.WorkloadList{})
}

// scope is the state of one reconcile of a Workload.
type scope struct {
	*Reconciler
	request  mcreconcile.Request
	project  projects.Project
	client   client.Client
	events   record.EventRecorder
	workload *v1alpha.Workload
	// deployments are the Workload's by name, as they are stored. orphans have its name and are not its own: of an earlier
	// Workload, or of one that the cache does not have yet.
	deployments map[string]*v1alpha.WorkloadDeployment
	orphans     []*v1alpha.WorkloadDeployment
	// history are the templates that the Workload has had.
	history      *history
	requeueAfter pace.After
	// ended: an event that requests the Workload again is certain, or its time is in requeueAfter. Nothing more is written.
	ended bool
}
