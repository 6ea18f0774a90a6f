// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/names"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Federation is a summary of the add-on's objects on the hub.
type Federation struct {
	Replicas []Replica `json:"replicas"`
	Cells    []Cell    `json:"cells"`
	Cities   []City    `json:"cities"`
	// Objects of Karmada whose reconciliation the audit has triggered, the last first.
	Repaired []Repaired `json:"repaired,omitempty"`
	// BroadBindings are the RoleBindings in projects that give rights to Karmada's kinds: namespace/name (role).
	BroadBindings []string `json:"broadBindings,omitempty"`
	// Warnings are about Clusters that give others more than they need, and about Karmada's objects of others in projects.
	Warnings []string `json:"warnings,omitempty"`
	// Faults are the faults that require an action, the most important first.
	Faults []Fault `json:"faults,omitempty"`
	// Evictions are the cells that Karmada empties, or would empty, because of taints.
	Evictions []Eviction `json:"evictions,omitempty"`
}

// Replica is a replica that serves the hub.
type Replica struct {
	Name string `json:"name"`
	// Running is true if the replica has renewed its Lease in time.
	Running bool        `json:"running"`
	Renewed metav1.Time `json:"renewed"`
	Shards  int         `json:"shards"`
	// Projects of the replica that have objects on the hub.
	Projects []string `json:"projects,omitempty"`
}

// Cell is a member cluster with a city.
type Cell struct {
	Name  string `json:"name"`
	City  string `json:"city"`
	Ready bool   `json:"ready"`
	// Agent is the reason of the condition of the cell's agent; "" if it is unknown.
	Agent string `json:"agent,omitempty"`
	// Deployments is the number of deployments that Karmada has sent to the cell. The cell has not reported on the newest
	// generation of Behind of them.
	Deployments int `json:"deployments"`
	Behind      int `json:"behind"`
	// Inventory is the number of deployments that the cell itself reports; nil before the first report.
	Inventory *int32 `json:"inventory,omitempty"`
	// Tainted: a taint keeps new Instances from the cell, as after karmadactl cordon.
	Tainted bool `json:"tainted,omitempty"`
	// Finding is the fault of the cell.
	Finding *Finding `json:"finding,omitempty"`
}

// City is the sum of its cells and of all projects' deployments there.
type City struct {
	Name        string `json:"name"`
	Cells       int    `json:"cells"`
	ReadyCells  int    `json:"readyCells"`
	Deployments int    `json:"deployments"`
	Ready       int32  `json:"ready"`
	Desired     int32  `json:"desired"`
	// Standing is the state of the city in one word.
	Standing Standing `json:"standing"`
}

// Repaired is an object of Karmada whose reconciliation the audit has triggered.
type Repaired struct {
	Kind      string      `json:"kind"`
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	At        metav1.Time `json:"at"`
}

// HubObjects holds the objects that a Federation summarizes.
type HubObjects struct {
	Leases      []coordinationv1.Lease
	Clusters    []clusterv1alpha1.Cluster
	Deployments []v1alpha.WorkloadDeployment
	Bindings    []workv1alpha2.ResourceBinding
	// Inventories are the Works that carry Cells, and Works the metadata of all.
	Inventories []workv1alpha1.Work
	Works       []metav1.PartialObjectMetadata
	// BroadBindings and ForeignObjects are from package reasons.
	BroadBindings, ForeignObjects []string
	// Records are the DNSEndpoints of the add-on.
	Records []unstructured.Unstructured
}

// Summarize returns the summary.
func Summarize(o *HubObjects, now time.Time) *Federation {
	result := &Federation{
		Replicas: replicas(o, now), Cells: cells(o, now), Cities: citiesOf(o), Repaired: repaired(o), BroadBindings: o.BroadBindings,
		Warnings: warnings(o), Evictions: evictions(o),
	}
	result.Faults = faults(o, result, now)
	result.setStandings()
	return result
}

// warnings returns the conditions of Clusters about the rights of others, also of Clusters without a city, and the objects of others.
func warnings(o *HubObjects) []string {
	var warnings []string
	for i := range o.Clusters {
		for _, condition := range o.Clusters[i].Status.Conditions {
			foreign := condition.Reason == v1alpha.ReasonForeignSecret
			if condition.Status == metav1.ConditionFalse && (foreign || condition.Type == v1alpha.ConditionComputeAccessRestricted) {
				warnings = append(warnings, fmt.Sprintf("Cluster %s: %s: %s", o.Clusters[i].Name, condition.Reason, condition.Message))
			}
		}
	}
	if len(o.ForeignObjects) > 0 {
		warnings = append(warnings, reasons.AboutForeignObjects(o.ForeignObjects))
	}
	return warnings
}

func replicas(o *HubObjects, now time.Time) []Replica {
	byName := map[string]*Replica{}
	var shards []string
	for i := range o.Leases {
		lease := &o.Leases[i]
		if lease.Name == v1alpha.LeaseShards {
			shards = holders(lease)
		} else if r := replicaOf(lease, now); r != nil {
			byName[r.Name] = r
		}
	}
	for _, holder := range shards {
		if r := byName[holder]; r != nil {
			r.Shards++
		}
	}
	for i := range o.Deployments {
		project := o.Deployments[i].Annotations[v1alpha.AnnotationProjectName]
		if project == "" || len(shards) == 0 {
			continue
		}
		if r := byName[shards[naming.ProjectKey(project).Shard(len(shards))]]; r != nil && !slices.Contains(r.Projects, project) {
			r.Projects = append(r.Projects, project)
		}
	}
	result := make([]Replica, 0, len(byName))
	for _, r := range byName {
		slices.Sort(r.Projects)
		result = append(result, *r)
	}
	slices.SortFunc(result, func(a, b Replica) int { return cmp.Compare(a.Name, b.Name) })
	return result
}

// mostShards bounds the number of shards, because a user can edit the record.
const mostShards = 1 << 16

// holders returns the replicas that hold the shards, by the record; "" if no replica holds a shard. It is empty if the
// record cannot be read.
func holders(record *coordinationv1.Lease) []string {
	index, err := v1alpha.ParseShards(record.Annotations[v1alpha.AnnotationShards])
	if err != nil {
		return nil
	}
	var holders []string
	for replica, shards := range index {
		for _, shard := range shards {
			if shard < 0 || shard >= mostShards {
				continue
			}
			if missing := shard + 1 - len(holders); missing > 0 {
				holders = append(holders, make([]string, missing)...)
			}
			holders[shard] = replica
		}
	}
	return holders
}

// replicaOf returns the replica that owns a Lease, or nil for another Lease.
func replicaOf(lease *coordinationv1.Lease, now time.Time) *Replica {
	spec := &lease.Spec
	if !strings.HasPrefix(lease.Name, v1alpha.LeaseReplicaPrefix) || ptr.Deref(spec.HolderIdentity, "") == "" ||
		spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return nil
	}
	lasts := time.Duration(*spec.LeaseDurationSeconds) * time.Second
	return &Replica{Name: *spec.HolderIdentity, Renewed: metav1.NewTime(spec.RenewTime.Time), Running: now.Before(spec.RenewTime.Add(lasts))}
}

func cells(o *HubObjects, now time.Time) []Cell {
	result := make([]Cell, 0, len(o.Clusters))
	for i := range o.Clusters {
		cluster := &o.Clusters[i]
		city, labelled := cluster.Labels[v1alpha.LabelTopologyCity]
		if !labelled {
			continue
		}
		// A label without a value is a fault of the Cluster.
		cell := Cell{Name: cluster.Name, City: strings.ToUpper(city)}
		cell.Tainted = slices.ContainsFunc(cluster.Spec.Taints, func(taint corev1.Taint) bool {
			return taint.Effect != corev1.TaintEffectPreferNoSchedule
		})
		cell.Ready = meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady)
		if agent := meta.FindStatusCondition(cluster.Status.Conditions, v1alpha.ConditionComputeAgentReady); agent != nil {
			cell.Agent = agent.Reason
		}
		if cell.Finding = clusterFinding(cluster, now); cell.Finding == nil && !cell.Ready {
			cell.Finding = known(v1alpha.ReasonCellNotReady, "Karmada has not reported the state of the cell yet", moment{now: now})
		}
		nodes := meta.FindStatusCondition(cluster.Status.Conditions, v1alpha.ConditionComputeNodesSchedulable)
		if cell.Finding == nil && nodes != nil && nodes.Status == metav1.ConditionFalse {
			cell.Finding = findingOf(nodes, moment{now: now})
		}
		cell.Deployments, cell.Behind = o.reportsOf(cell.Name)
		cell.Inventory = o.inventoryOf(cell.Name)
		result = append(result, cell)
	}
	slices.SortFunc(result, func(a, b Cell) int { return cmp.Or(cmp.Compare(a.City, b.City), cmp.Compare(a.Name, b.Name)) })
	return result
}

// reportsOf returns the number of deployments in a cell, and how many of them the cell has not reported on since their
// last change.
func (o *HubObjects) reportsOf(cell string) (all, behind int) {
	generations := map[[2]string]int64{}
	for i := range o.Deployments {
		generations[[2]string{o.Deployments[i].Namespace, o.Deployments[i].Name}] = o.Deployments[i].Generation
	}
	for i := range o.Bindings {
		resource := o.Bindings[i].Spec.Resource
		generation, ours := generations[[2]string{resource.Namespace, resource.Name}]
		if !ours || resource.Kind != v1alpha.KindWorkloadDeployment ||
			!slices.ContainsFunc(o.Bindings[i].Spec.Clusters, func(c workv1alpha2.TargetCluster) bool { return c.Name == cell }) {
			continue
		}
		all++
		if reportedGeneration(&o.Bindings[i], cell) < generation {
			behind++
		}
	}
	return all, behind
}

// reportedGeneration returns the generation of the hub's copy in the cell's last report; 0 before the first report.
func reportedGeneration(binding *workv1alpha2.ResourceBinding, cell string) int64 {
	var reported struct {
		Generation int64 `json:"resourceTemplateGeneration"`
	}
	for _, item := range binding.Status.AggregatedStatus {
		if item.ClusterName == cell && item.Status != nil && json.Unmarshal(item.Status.Raw, &reported) != nil {
			return 0
		}
	}
	return reported.Generation
}

func (o *HubObjects) inventoryOf(cell string) *int32 {
	for i := range o.Inventories {
		work := &o.Inventories[i]
		if work.Namespace != names.GenerateExecutionSpaceName(cell) {
			continue
		}
		for _, manifest := range work.Status.ManifestStatuses {
			status := v1alpha.CellStatus{}
			if manifest.Status != nil && json.Unmarshal(manifest.Status.Raw, &status) == nil {
				return &status.Total
			}
		}
	}
	return nil
}

func citiesOf(o *HubObjects) []City {
	byName := map[string]*City{}
	find := func(name string) *City {
		name = strings.ToUpper(name)
		if byName[name] == nil {
			byName[name] = &City{Name: name}
		}
		return byName[name]
	}
	for i := range o.Clusters {
		name := o.Clusters[i].Labels[v1alpha.LabelTopologyCity]
		if name == "" || meta.IsStatusConditionFalse(o.Clusters[i].Status.Conditions, v1alpha.ConditionComputeCityConfirmed) {
			continue
		}
		city := find(name)
		city.Cells++
		if meta.IsStatusConditionTrue(o.Clusters[i].Status.Conditions, clusterv1alpha1.ClusterConditionReady) {
			city.ReadyCells++
		}
	}
	for i := range o.Deployments {
		city := find(o.Deployments[i].Spec.CityCode)
		city.Deployments++
		city.Ready += o.Deployments[i].Status.ReadyReplicas
		city.Desired += o.Deployments[i].Spec.DesiredReplicas()
	}
	result := make([]City, 0, len(byName))
	for _, city := range byName {
		result = append(result, *city)
	}
	slices.SortFunc(result, func(a, b City) int { return cmp.Compare(a.Name, b.Name) })
	return result
}

func repaired(o *HubObjects) []Repaired {
	var result []Repaired
	add := func(kind string, object metav1.Object) {
		at, err := time.Parse(time.RFC3339, object.GetAnnotations()[v1alpha.AnnotationRepairedAt])
		if err == nil {
			result = append(result, Repaired{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), At: metav1.NewTime(at)})
		}
	}
	for i := range o.Deployments {
		add(v1alpha.KindWorkloadDeployment, &o.Deployments[i])
	}
	for i := range o.Bindings {
		add("ResourceBinding", &o.Bindings[i])
	}
	for i := range o.Works {
		add("Work", &o.Works[i])
	}
	slices.SortStableFunc(result, func(a, b Repaired) int { return b.At.Compare(a.At.Time) })
	return result
}
