// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package view shows a Workload to a user: Read collects its objects from the planes that the user reaches, a Tree
// shows them, and a Way shows the object at which the Workload stopped.
package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Snapshot is the state of one Workload in the planes that the user reaches.
type Snapshot struct {
	// Project is the name of the project, if it is known.
	Project string
	// Now is the time of the read. If it is zero, no state has lasted too long.
	Now time.Time
	// Namespace in the project.
	Namespace string
	// Name of the Workload.
	Name string
	// Workload is nil if it does not exist or is Hidden.
	Workload *v1alpha.Workload
	// Deployments and Instances are the project's. If the user does not reach the project, they come from the reports of
	// the hub's copies.
	Deployments []v1alpha.WorkloadDeployment
	Instances   []v1alpha.Instance
	// Hub holds the hub objects of each deployment, by its name; nil if the user does not reach the hub.
	Hub map[string]*OnHub
	// Clusters of the hub, by name.
	Clusters map[string]*clusterv1alpha1.Cluster
	// Hidden holds the kinds that the user may not read, with the error; their objects are left out.
	Hidden map[string]error
	// history has the Workload's revisions, the oldest first, while its Instances have or get different templates.
	history []v1alpha.WorkloadRevision
	// mixed says that Instances have different templates. Tree sets it.
	mixed bool
	// mixedData says that Instances were started with different data, or wait for newer data. Tree sets it.
	mixedData bool
}

// OnHub holds the hub objects of one deployment. Objects that do not exist are nil.
type OnHub struct {
	Namespace string
	Copy      *v1alpha.WorkloadDeployment
	Binding   *workv1alpha2.ResourceBinding
	// Works by cell.
	Works map[string]*workv1alpha1.Work
}

// Cell returns the cell to which an Instance of the deployment is assigned, or "".
func (h *OnHub) Cell(instance string) string {
	if h == nil || h.Copy == nil {
		return ""
	}
	index, ok := naming.InstanceIndex(h.Copy.Name, instance)
	if assignment := h.Copy.Spec.Assignment; assignment != nil {
		if !ok {
			return ""
		}
		return assignment.Owner(index)
	}
	if h.Binding != nil && len(h.Binding.Spec.Clusters) == 1 {
		return h.Binding.Spec.Clusters[0].Name
	}
	return ""
}

// Cells returns the cells that have the deployment, by name.
func (h *OnHub) Cells() []string {
	if h == nil {
		return nil
	}
	var names []string
	if h.Binding != nil {
		for _, cluster := range h.Binding.Spec.Clusters {
			names = append(names, cluster.Name)
		}
	}
	if h.Copy != nil && h.Copy.Spec.Assignment != nil {
		for _, cell := range h.Copy.Spec.Assignment.Cells {
			names = append(names, cell.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sort orders deployments by city and Instances by index.
func (s *Snapshot) sort() {
	slices.SortFunc(s.Deployments, func(a, b v1alpha.WorkloadDeployment) int {
		return cmp.Or(cmp.Compare(a.Spec.CityCode, b.Spec.CityCode), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(s.Instances, func(a, b v1alpha.Instance) int {
		first, number := splitIndex(a.Name)
		second, other := splitIndex(b.Name)
		return cmp.Or(cmp.Compare(first, second), cmp.Compare(len(number), len(other)), cmp.Compare(number, other))
	})
}

func splitIndex(instance string) (name, index string) {
	cut := strings.LastIndexByte(instance, '-')
	return instance[:max(cut, 0)], instance[cut+1:]
}

// InstancesOf returns the Instances of a deployment, by index.
func (s *Snapshot) InstancesOf(deployment *v1alpha.WorkloadDeployment) []*v1alpha.Instance {
	var result []*v1alpha.Instance
	for i := range s.Instances {
		if metav1.IsControlledBy(&s.Instances[i], deployment) {
			result = append(result, &s.Instances[i])
		}
	}
	return result
}

// Strays returns the Instances whose deployment is deleted or may not be read.
func (s *Snapshot) Strays() []*v1alpha.Instance {
	var result []*v1alpha.Instance
	for i := range s.Instances {
		if !slices.ContainsFunc(s.Deployments, func(d v1alpha.WorkloadDeployment) bool { return metav1.IsControlledBy(&s.Instances[i], &d) }) {
			result = append(result, &s.Instances[i])
		}
	}
	return result
}

// Ready returns the number of Instances that are Ready.
func (s *Snapshot) Ready() int {
	count := 0
	for i := range s.Instances {
		if meta.IsStatusConditionTrue(s.Instances[i].Status.Conditions, v1alpha.ConditionReady) {
			count++
		}
	}
	return count
}

// Desired returns the number of Instances that the deployments request; without deployments, the number in the
// Workload's status.
func (s *Snapshot) Desired() int {
	count := 0
	for i := range s.Deployments {
		count += int(s.Deployments[i].Spec.DesiredReplicas())
	}
	if s.Workload != nil {
		count = max(count, int(s.Workload.Status.DesiredReplicas))
	}
	return count
}

// Gone reports whether no object of the Workload is left.
func (s *Snapshot) Gone() bool {
	return s.Workload == nil && len(s.Deployments) == 0 && len(s.Instances) == 0
}

// Suspension is the suspension of a project whose objects do not show it, because its control plane refuses every write
// of a status.
type Suspension struct {
	// Message for the user.
	Message string
	// Since is when the project was suspended, or zero.
	Since metav1.Time
}

// ShowsSuspension reports whether the objects themselves show that the project is suspended.
func (s *Snapshot) ShowsSuspension() bool {
	return slices.ContainsFunc(s.Deployments, func(d v1alpha.WorkloadDeployment) bool {
		return meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionSuspended) != nil
	})
}

// Suspend overrides the findings of the objects: the project is suspended, and its objects show the state before the
// suspension. No Instance counts as Ready.
func (s *Snapshot) Suspend(suspension Suspension) {
	suspend := func(conditions *[]metav1.Condition, kinds ...string) {
		*conditions = slices.Clone(*conditions)
		for _, kind := range kinds {
			meta.RemoveStatusCondition(conditions, kind)
			*conditions = append(*conditions, metav1.Condition{
				Type: kind, Status: metav1.ConditionUnknown, Reason: v1alpha.ReasonProjectSuspended, Message: suspension.Message,
				LastTransitionTime: suspension.Since,
			})
		}
	}
	if s.Workload != nil {
		s.Workload = s.Workload.DeepCopy()
		status := &s.Workload.Status
		status.ReadyReplicas, status.AvailableReplicas = 0, 0
		suspend(&status.Conditions, v1alpha.ConditionAvailable)
		for i := range status.Placements {
			status.Placements[i].ReadyReplicas, status.Placements[i].AvailableReplicas = 0, 0
			suspend(&status.Placements[i].Conditions, v1alpha.ConditionAvailable)
		}
	}
	for i := range s.Deployments {
		s.Deployments[i].Status.ReadyReplicas, s.Deployments[i].Status.AvailableReplicas = 0, 0
		suspend(&s.Deployments[i].Status.Conditions, v1alpha.ConditionAvailable, v1alpha.ConditionReplicasReady)
	}
	for i := range s.Instances {
		suspend(&s.Instances[i].Status.Conditions, v1alpha.ConditionReady)
	}
}
