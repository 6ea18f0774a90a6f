// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

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
	// Project is its name, where it is known.
	Project string
	// Now is when it was read. Without it no state has lasted too long.
	Now time.Time
	// Namespace in the project.
	Namespace string
	// Name of the Workload.
	Name string
	// Workload is nil when it does not exist, or is Hidden.
	Workload *v1alpha.Workload
	// Deployments and Instances are those of the project. Where it is not reached they are those that the hub's copies report.
	Deployments []v1alpha.WorkloadDeployment
	Instances   []v1alpha.Instance
	// Hub is the way on the hub of each deployment, by its name; nil where the hub is not reached.
	Hub map[string]*OnHub
	// Clusters of the hub, by name.
	Clusters map[string]*clusterv1alpha1.Cluster
	// Hidden are the kinds that the user may not read, and why; what they would show is left out.
	Hidden map[string]error
}

// OnHub is the way of one deployment on the hub. What does not exist is nil.
type OnHub struct {
	Namespace string
	Copy      *v1alpha.WorkloadDeployment
	Binding   *workv1alpha2.ResourceBinding
	// Works by cell.
	Works map[string]*workv1alpha1.Work
}

// Cell is the cell that an Instance of the deployment is assigned to, or "".
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

// Cells are the cells that have the deployment, by name.
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

// InstancesOf are the Instances of a deployment, by index.
func (s *Snapshot) InstancesOf(deployment *v1alpha.WorkloadDeployment) []*v1alpha.Instance {
	var result []*v1alpha.Instance
	for i := range s.Instances {
		if metav1.IsControlledBy(&s.Instances[i], deployment) {
			result = append(result, &s.Instances[i])
		}
	}
	return result
}

// Strays are the Instances whose deployment is gone, or may not be read.
func (s *Snapshot) Strays() []*v1alpha.Instance {
	var result []*v1alpha.Instance
	for i := range s.Instances {
		if !slices.ContainsFunc(s.Deployments, func(d v1alpha.WorkloadDeployment) bool { return metav1.IsControlledBy(&s.Instances[i], &d) }) {
			result = append(result, &s.Instances[i])
		}
	}
	return result
}

// Ready is the number of Instances that are Ready.
func (s *Snapshot) Ready() int {
	count := 0
	for i := range s.Instances {
		if meta.IsStatusConditionTrue(s.Instances[i].Status.Conditions, v1alpha.ConditionReady) {
			count++
		}
	}
	return count
}

// Desired is the number of Instances that the deployments ask for, or, before there are any, the Workload's status.
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

// Gone says that nothing of the Workload is left.
func (s *Snapshot) Gone() bool {
	return s.Workload == nil && len(s.Deployments) == 0 && len(s.Instances) == 0
}
