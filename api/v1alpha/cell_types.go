// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CellSpec is the request of a hub to a cell.
type CellSpec struct {
	// hubUID is the UID of the hub, the UID of its namespace kube-system. The status is about the WorkloadDeployments of
	// this hub.
	// +required
	HubUID types.UID `json:"hubUID"`

	// cell is the name of the cell at this hub, the name of its Karmada Cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Cell string `json:"cell"`

	// list are the buckets whose entries the hub asks for.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=63
	List []int32 `json:"list,omitempty"`

	// namespaces asks for the hub namespaces, too: digests, listed and entries then include them.
	// +optional
	Namespaces bool `json:"namespaces,omitempty"`

	// leaving are deployments that are no longer assigned to the cell. The hub asks whether the cell has any of their
	// objects left, once Karmada can no longer propagate them to the cell.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Leaving []LeavingDeployment `json:"leaving,omitempty"`

	// loadBalancer has the settings of Services with exposure LoadBalancer or Gateway. Without it, they get no address.
	// +optional
	LoadBalancer *CellLoadBalancer `json:"loadBalancer,omitempty"`
}

// CellLoadBalancer holds the fields of a Service by which a load balancer of a cell serves it.
type CellLoadBalancer struct {
	// class is the loadBalancerClass of Services. Without it, the default load balancer of the cell serves them.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	Class string `json:"class,omitempty"`

	// annotations of Services.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]string `json:"annotations,omitempty"`

	// gateway is the Gateway of Services with exposure Gateway. Without it, they get no route.
	// +optional
	Gateway *CellGateway `json:"gateway,omitempty"`
}

// CellGateway is a Gateway of a cell, to which the routes of Workloads are attached.
type CellGateway struct {
	// namespace of the Gateway in the cell.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// name of the Gateway.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// listeners are the names of the listeners of the Gateway at which routes answer. Without any, a route answers at the HTTPS
	// listeners of its host names or, if the Gateway lacks them, at each listener.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Listeners []string `json:"listeners,omitempty"`
}

// LeavingDeployment is a WorkloadDeployment that a cell had.
type LeavingDeployment struct {
	// namespace is the hub namespace.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// name of the WorkloadDeployment.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// since is the leavingSince of the cell in the assignment of the deployment.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Since string `json:"since"`
}

// CellStatus is the inventory of a cell: the WorkloadDeployments of the hub that it has. Its size does not depend on
// their number, except for the entries that the hub requests.
type CellStatus struct {
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// total is the number of WorkloadDeployments of the hub.
	// +optional
	Total int32 `json:"total,omitempty"`

	// namespaces is the number of hub namespaces that the digests include. An agent that does not list namespaces leaves
	// it out.
	// +optional
	Namespaces *int32 `json:"namespaces,omitempty"`

	// digests are the digests of the buckets, by number. An empty bucket has an empty one.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Digests []string `json:"digests,omitempty"`

	// listed are the buckets that entries has all entries of, unless it is truncated.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Listed []int32 `json:"listed,omitempty"`

	// entries of the buckets that the hub has asked for, by namespace and name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	Entries []InventoryEntry `json:"entries,omitempty"`

	// truncated says that there are more entries in the buckets that the hub has asked for.
	// +optional
	Truncated bool `json:"truncated,omitempty"`

	// cordoned is true if the cell has Nodes and all of them are cordoned. An agent that does not read Nodes leaves it
	// out.
	// +optional
	Cordoned *bool `json:"cordoned,omitempty"`

	// left are the leaving deployments of which the cell has no WorkloadDeployment, no Instance and no Pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Left []LeavingDeployment `json:"left,omitempty"`
}

// InventoryEntry is one WorkloadDeployment or one hub namespace in a cell.
type InventoryEntry struct {
	// namespace is the hub namespace.
	// +required
	Namespace string `json:"namespace"`

	// name of the WorkloadDeployment; empty: the entry is about the hub namespace.
	// +required
	Name string `json:"name"`

	// empty reports of a hub namespace that the cell has no WorkloadDeployment, no Instance and no Pod of an Instance in
	// it.
	// +optional
	Empty bool `json:"empty,omitempty"`

	// templateUID is the UID of the hub's copy that Karmada wrote here.
	// +optional
	TemplateUID types.UID `json:"templateUID,omitempty"`

	// project is the name of the project.
	// +optional
	Project string `json:"project,omitempty"`

	// projectUID is the UID of the project.
	// +optional
	ProjectUID types.UID `json:"projectUID,omitempty"`

	// projectNamespace is the namespace of the original in the project.
	// +optional
	ProjectNamespace string `json:"projectNamespace,omitempty"`

	// deploymentUID is the UID of the original in the project.
	// +optional
	DeploymentUID types.UID `json:"deploymentUID,omitempty"`
}

// Cell is the inventory of a member cluster for one hub. Only the add-on writes it: the hub sends it to the cell
// through Karmada, and the agent in the cell writes its status, which Karmada brings back. A cell that belongs to two
// hubs has two.
//
// +genclient
// +genclient:nonNamespaced
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=ccell
// +kubebuilder:printcolumn:name="Cell",type=string,JSONPath=`.spec.cell`
// +kubebuilder:printcolumn:name="Total",type=integer,JSONPath=`.status.total`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Hub",type=string,priority=1,JSONPath=`.spec.hubUID`
type Cell struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec CellSpec `json:"spec"`
	// +optional
	Status CellStatus `json:"status,omitempty"`
}

// CellList is a list of Cells.
//
// +kubebuilder:object:root=true
type CellList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cell `json:"items"`
}

// IsNamespace reports whether the entry is about a hub namespace, and not about a WorkloadDeployment in one.
func (e *InventoryEntry) IsNamespace() bool { return e.Name == "" }

// Key is the namespace and name of the WorkloadDeployment, or the NamespaceKey.
func (e *InventoryEntry) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: e.Namespace, Name: e.Name}
}
