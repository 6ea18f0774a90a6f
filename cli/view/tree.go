// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// States of a Node.
const (
	StateReady    = "Ready"
	StateNotReady = "not Ready"
	StateUnknown  = "Unknown"
	StateWaiting  = "waiting"
	StateDeleting = "deleting"
	StateGone     = "gone"
	StateHidden   = "not visible"
)

// Node is an object of a Tree, with its children.
type Node struct {
	// Kind is Project, Workload, WorkloadDeployment, Cell or Instance.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// City of a WorkloadDeployment, and the city that runs its Instances instead.
	City       string `json:"city,omitempty"`
	ReplacedBy string `json:"replacedBy,omitempty"`
	// State is one of the states above, or "<ready>/<desired> Ready".
	State string `json:"state"`
	// Ready and Desired are the numbers of Instances of an object that has any.
	Ready   *int32 `json:"ready,omitempty"`
	Desired *int32 `json:"desired,omitempty"`
	// Reason of the most important condition.
	Reason string `json:"reason,omitempty"`
	// Instances is how many Instances the node is for, from the one with name First on; 0: the node is one object.
	Instances int    `json:"instances,omitempty"`
	First     string `json:"first,omitempty"`
	// Address of an Instance, or the addresses of a WorkloadDeployment that is exposed.
	Address string `json:"address,omitempty"`
	// Template of an Instance, while the Instances of the Workload have different ones: revision and number, or that it is an
	// earlier one.
	Template string `json:"template,omitempty"`
	// Data are the ConfigMaps and Secrets that an Instance was started with, if a change of data is a rollout.
	Data []v1alpha.DataVersion `json:"data,omitempty"`
	// DataHash is the hash of all data that an Instance was started with.
	DataHash string `json:"dataHash,omitempty"`
	// NewerData is Restart or Rollout while newer data of an Instance waits for it.
	NewerData string `json:"newerData,omitempty"`
	// Restarts counts the restarts of the containers of an Instance.
	Restarts int32 `json:"restarts,omitempty"`
	// Finding is the cause of a fault; nil when all is well.
	Finding *Finding `json:"finding,omitempty"`
	// covered is the fault that Finding is shown instead of, since another city runs the Instances.
	covered *Finding
	// warnings are the other conditions that report a fault.
	warnings []*Finding
	// Conditions of the object.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Children   []*Node            `json:"children,omitempty"`
	// showsData: the line has DataHash.
	showsData bool
}

// Equals reports whether two nodes show the same; other may be nil.
func (n *Node) Equals(other *Node) bool { return reflect.DeepEqual(n, other) }

// Names returns the names of the project's objects in the tree, as `kubectl get -o name` prints them.
func (n *Node) Names() []string {
	var names []string
	switch n.Kind {
	case v1alpha.KindWorkload, v1alpha.KindWorkloadDeployment, v1alpha.KindInstance:
		if n.State != StateGone {
			names = append(names, strings.ToLower(n.Kind)+"."+v1alpha.GroupVersion.Group+"/"+n.Name)
		}
	}
	for _, child := range n.Children {
		names = append(names, child.Names()...)
	}
	return names
}

// hasTemplates reports whether Instances have different templates.
func (s *Snapshot) hasTemplates() bool {
	first := ""
	return slices.ContainsFunc(s.Instances, func(instance v1alpha.Instance) bool {
		hash := instance.TemplateHash()
		first = cmp.Or(first, hash)
		return hash != "" && hash != first
	})
}

// Tree is the tree of a Workload: where the hub is seen, with the cells between its deployments and their Instances.
func (s *Snapshot) Tree() *Node {
	s.mixed, s.mixedData = s.hasTemplates(), s.hasData()
	root, candidates := s.workloadNode(), candidatesOf(s.Workload)
	for i := range s.Deployments {
		deployment := &s.Deployments[i]
		node := deploymentNode(deployment, s.Now)
		candidates = node.tellCity(deployment, candidates)
		s.addInstances(node, deployment)
		root.Children = append(root.Children, node)
	}
	root.tellCities(candidates)
	for _, instance := range s.Strays() {
		root.Children = append(root.Children, s.instanceNode(instance))
	}
	if s.Project == "" {
		return root
	}
	return &Node{Kind: "Project", Name: s.Project, State: "namespace " + s.Namespace, Children: []*Node{root}}
}

func (s *Snapshot) workloadNode() *Node {
	node := &Node{Kind: v1alpha.KindWorkload, Name: s.Name, State: StateGone}
	switch {
	case s.Workload != nil:
		status := &s.Workload.Status
		node.count(s.Workload, status.ReplicaCounts)
		node.setReason(status.Conditions, workloadConditions, s.Now)
	case s.isHidden():
		node.State = StateHidden
		var counts v1alpha.ReplicaCounts
		for i := range s.Deployments {
			counts = counts.Add(s.Deployments[i].Status.ReplicaCounts)
		}
		if len(s.Deployments) > 0 {
			node.State = ""
			node.count(&metav1.ObjectMeta{}, counts)
		}
	}
	return node
}

// isHidden reports whether a Workload that is nil may exist nevertheless.
func (s *Snapshot) isHidden() bool {
	_, hidden := s.Hidden["workloads"]
	return hidden || s.Hub != nil && len(s.Deployments) > 0
}

func deploymentNode(d *v1alpha.WorkloadDeployment, now time.Time) *Node {
	node := &Node{Kind: v1alpha.KindWorkloadDeployment, Name: d.Name, City: d.Spec.CityCode}
	node.count(d, d.Status.ReplicaCounts)
	node.Address = reachedAt(d.Status.Endpoints)
	node.setReason(d.Status.Conditions, deployConditions, now)
	return node
}

func (s *Snapshot) instanceNode(instance *v1alpha.Instance) *Node {
	node := instanceNode(instance, s.Now)
	node.Template = s.templateOf(instance)
	node.NewerData, node.showsData = s.newerData(node), s.mixedData
	return node
}

func instanceNode(instance *v1alpha.Instance, now time.Time) *Node {
	conditions := instance.Status.Conditions
	node := &Node{Kind: v1alpha.KindInstance, Name: instance.Name, State: StateWaiting}
	if ready := meta.FindStatusCondition(conditions, v1alpha.ConditionReady); ready != nil {
		node.State = map[metav1.ConditionStatus]string{
			metav1.ConditionTrue: StateReady, metav1.ConditionFalse: StateNotReady, metav1.ConditionUnknown: StateUnknown,
		}[ready.Status]
	}
	if instance.DeletionTimestamp != nil {
		node.State = StateDeleting
	}
	node.setReason(conditions, instanceConditions, now)
	node.Restarts = instance.Status.Restarts
	if controller := instance.Status.Controller; controller != nil {
		node.DataHash = controller.DataHash
	}
	_, node.Data = templates.WithoutSnapshots(&v1alpha.InstanceTemplateSpec{Spec: instance.Spec})
	if node.State == StateReady {
		node.Address = address(instance)
	}
	return node
}

// templateOf names the template of an Instance; "" while all Instances have the same one.
func (s *Snapshot) templateOf(instance *v1alpha.Instance) string {
	hash := instance.TemplateHash()
	if hash == "" || !s.mixed {
		return ""
	}
	number := int64(0)
	if at := s.revisionOf(hash); at >= 0 {
		number = s.history[at].Spec.Revision
	}
	if s.Workload != nil {
		if r := s.Workload.Status.Rollout; r != nil && r.TemplateHash == hash {
			number = r.Revision
		}
	}
	if number == 0 {
		return "earlier template"
	}
	return fmt.Sprintf("revision %d", number)
}

func address(instance *v1alpha.Instance) string {
	var addresses []string
	for _, networkInterface := range instance.Status.NetworkInterfaces {
		if ip := networkInterface.Assignments.NetworkIP; ip != nil {
			addresses = append(addresses, *ip)
		}
	}
	return strings.Join(addresses, ", ")
}

func (n *Node) count(object metav1.Object, counts v1alpha.ReplicaCounts) {
	n.Ready, n.Desired = &counts.ReadyReplicas, &counts.DesiredReplicas
	n.State = fmt.Sprintf("%d/%d Ready", counts.ReadyReplicas, counts.DesiredReplicas)
	if object.GetDeletionTimestamp() != nil {
		n.State = StateDeleting
	}
}

// setReason sets the reason: of the finding, or else of the condition that reports that all is well.
func (n *Node) setReason(conditions []metav1.Condition, types []string, now time.Time) {
	shown := v1alpha.ConditionAvailable
	if n.Kind == v1alpha.KindInstance {
		shown = v1alpha.ConditionReady
	}
	n.Conditions = conditions
	n.Finding = cause(conditions, types, now)
	n.warnings = faultsIn(conditions, types, now)
	if n.Finding != nil && !n.Finding.Warning {
		n.Reason = n.Finding.Reason
	} else if condition := meta.FindStatusCondition(conditions, shown); condition != nil {
		n.Reason = condition.Reason
	}
}

// addInstances adds the Instances of a deployment below it, by cell if the cell is known.
func (s *Snapshot) addInstances(node *Node, d *v1alpha.WorkloadDeployment) {
	onHub := s.Hub[d.Name]
	cells := map[string]*Node{}
	for _, name := range onHub.Cells() {
		cell := s.cellNode(name, d.Name)
		cells[name] = cell
		node.Children = append(node.Children, cell)
	}
	for _, instance := range s.InstancesOf(d) {
		child := s.instanceNode(instance)
		if cell := cells[onHub.Cell(instance.Name)]; cell != nil {
			cell.Children = append(cell.Children, child)
			*cell.Desired++
			if child.State == StateReady {
				*cell.Ready++
			}
			cell.State = fmt.Sprintf("%d/%d Ready", *cell.Ready, *cell.Desired)
			continue
		}
		node.Children = append(node.Children, child)
	}
}

// cellNode returns a cell, with the fault that keeps Karmada from writing there.
func (s *Snapshot) cellNode(name, deployment string) *Node {
	node := &Node{Kind: "Cell", Name: name, State: "0/0 Ready", Ready: new(int32), Desired: new(int32)}
	cluster := s.Clusters[name]
	if cluster == nil {
		if _, hidden := s.Hidden["clusters"]; !hidden {
			node.Finding = &Finding{
				Reason: "ClusterMissing", Actor: reasons.ActorOperator,
				Message: "there is no Cluster of this name on the hub", Do: "Join the cell again, or wait until its Instances have moved.",
			}
			node.Reason = node.Finding.Reason
		}
		return node
	}
	node.Conditions = cluster.Status.Conditions
	node.Finding = clusterFinding(cluster, s.Now)
	if node.Finding == nil {
		node.Finding = s.workFinding(s.Hub[deployment], name)
	}
	if node.Finding != nil {
		node.Reason = node.Finding.Reason
	}
	return node
}

// clusterFinding returns the fault that affects all objects in a cell. Karmada's reasons are translated to the
// add-on's.
func clusterFinding(cluster *clusterv1alpha1.Cluster, now time.Time) *Finding {
	found := cause(cluster.Status.Conditions, clusterConditions, now)
	if found == nil || found.Condition != v1alpha.ConditionReady {
		return found
	}
	if remedy, ok := reasons.Of(v1alpha.ConditionReady, v1alpha.ReasonCellNotReady); ok {
		found.Message = strings.TrimSpace(found.Reason + " " + found.Message)
		found.Reason = remedy.Reason
		found.apply(&remedy, 0)
	}
	return found
}
