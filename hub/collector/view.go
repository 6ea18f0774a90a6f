// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// view is the state of the hub, from the cache, in one pass.
type view struct {
	hub   types.UID
	cells map[string]*cell
	// works are all Works of the inventory.
	works []*workv1alpha1.Work
}

// cell is a member cluster of a city.
type cell struct {
	name string
	// city is the city of the cell, as a label.
	city  string
	ready bool
	// expected are the UIDs of the copies that Karmada sends to the cell.
	expected map[types.NamespacedName]types.UID
	// namespaces are the keys of the hub namespaces that Works carry to the cell.
	namespaces []types.NamespacedName
	// unapplied are the keys of namespaces that Karmada has not written into the cell, as the Works say.
	unapplied []types.NamespacedName
	// leaving are the deployments that are no longer assigned to the cell and that it has not released.
	leaving []v1alpha.LeavingDeployment
	// balancer is the load balancer that the operator has configured; nil: none. While the settings cannot be read, it is the
	// one that the Work carries.
	balancer   *v1alpha.CellLoadBalancer
	unreadable bool
	// work carries the Cell; nil: none exists yet.
	work *workv1alpha1.Work
}

// look reads the hub. The result is shared with the cache: it must not be changed.
func (i *Inventory) look(ctx context.Context, hub types.UID) (*view, error) {
	var (
		clusters clusterv1alpha1.ClusterList
		works    workv1alpha1.WorkList
		copies   v1alpha.WorkloadDeploymentList
		bindings workv1alpha2.ResourceBindingList
	)
	for _, list := range []client.ObjectList{&clusters, &copies, &bindings, &works} {
		if err := i.Hub.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list %T of the hub: %w", list, err)
		}
	}
	v := &view{hub: hub, cells: cellsOf(clusters.Items)}
	v.expect(copies.Items, bindings.Items)
	v.leave(copies.Items)
	for n := range works.Items {
		v.addWork(&works.Items[n])
	}
	return v, nil
}

// addWork adds a Work of the inventory, or the hub namespace that a Work carries to a cell. A Work without the label of
// the hub is of an earlier version: its namespace in the cell lacks the label, too, and the cell does not list it.
func (v *view) addWork(work *workv1alpha1.Work) {
	c := v.cells[cellOf(work)]
	if work.Labels[v1alpha.LabelInventory] != "" {
		v.works = append(v.works, work)
	}
	switch {
	case c == nil:
	case work.Labels[v1alpha.LabelInventory] == v1alpha.InventoryCell && work.Name == cells.WorkName(v.hub):
		c.work = work
		if carried := carriedSpec(work); c.unreadable && carried != nil {
			c.balancer = carried.LoadBalancer
		}
	case work.Labels[v1alpha.LabelHub] == string(v.hub) && work.DeletionTimestamp.IsZero():
		key := wire.NamespaceKey(work.Labels[v1alpha.LabelHubNamespace])
		c.namespaces = append(c.namespaces, key)
		if !meta.IsStatusConditionTrue(work.Status.Conditions, workv1alpha1.WorkApplied) {
			c.unapplied = append(c.unapplied, key)
		}
	}
}

// cellsOf returns the Clusters that have a city and are not being deleted.
func cellsOf(clusters []clusterv1alpha1.Cluster) map[string]*cell {
	result := map[string]*cell{}
	for n := range clusters {
		cluster := &clusters[n]
		if cluster.Labels[v1alpha.LabelTopologyCity] == "" || !cluster.DeletionTimestamp.IsZero() {
			continue
		}
		entry := &cell{
			name:     cluster.Name,
			city:     naming.CityLabel(cluster.Labels[v1alpha.LabelTopologyCity]),
			ready:    meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady),
			expected: map[types.NamespacedName]types.UID{},
		}
		// A fault in the settings is reported where they are used: in the endpoints of deployments.
		balancer, err := cells.ReadLoadBalancer(cluster.Annotations[v1alpha.AnnotationLoadBalancer])
		if balancer != nil {
			entry.balancer = &balancer.CellLoadBalancer
		}
		entry.unreadable = err != nil
		result[cluster.Name] = entry
	}
	return result
}

// expect divides the copies among the cells, according to Karmada's bindings. A cell from which a deployment is being
// moved still has it.
func (v *view) expect(copies []v1alpha.WorkloadDeployment, bindings []workv1alpha2.ResourceBinding) {
	uids := make(map[types.NamespacedName]types.UID, len(copies))
	for n := range copies {
		if copies[n].Labels[v1alpha.LabelHub] == string(v.hub) {
			uids[client.ObjectKeyFromObject(&copies[n])] = copies[n].UID
		}
	}
	for n := range bindings {
		spec := &bindings[n].Spec
		key := types.NamespacedName{Namespace: bindings[n].Namespace, Name: spec.Resource.Name}
		uid, known := uids[key]
		if !known || spec.Resource.Kind != v1alpha.KindWorkloadDeployment {
			continue
		}
		for c := range spec.Clusters {
			v.expectIn(spec.Clusters[c].Name, key, uid)
		}
		for t := range spec.GracefulEvictionTasks {
			v.expectIn(spec.GracefulEvictionTasks[t].FromCluster, key, uid)
		}
	}
}

func (v *view) expectIn(cell string, key types.NamespacedName, uid types.UID) {
	if c := v.cells[cell]; c != nil {
		c.expected[key] = uid
	}
}

// report returns the cell's report; nil: it has none that can be used. An agent that does not know Cells, or has
// another number of buckets, has no usable report.
func (c *cell) report() *v1alpha.CellStatus {
	if c.work == nil || len(c.work.Status.ManifestStatuses) == 0 || c.work.Status.ManifestStatuses[0].Status == nil {
		return nil
	}
	status := &v1alpha.CellStatus{}
	if err := json.Unmarshal(c.work.Status.ManifestStatuses[0].Status.Raw, status); err != nil || len(status.Digests) != wire.Buckets {
		return nil
	}
	// An agent reports no more entries, and its entries fit into the metadata of objects.
	status.Entries = slices.DeleteFunc(status.Entries[:min(len(status.Entries), wire.MaxEntries)], func(entry v1alpha.InventoryEntry) bool {
		return !wire.Valid(&entry)
	})
	return status
}

// expectNamespaces adds the hub namespaces to the expected objects, if the cell lists namespaces.
func (c *cell) expectNamespaces(report *v1alpha.CellStatus) {
	if report.Namespaces == nil {
		return
	}
	for _, key := range c.namespaces {
		c.expected[key] = ""
	}
}

// cellOf returns the cell of a Work, or "".
func cellOf(work *workv1alpha1.Work) string {
	name, err := karmadanames.GetClusterName(work.Namespace)
	if err != nil {
		return ""
	}
	return name
}

// leave notes which deployments leave which cells, those first that have left longest.
func (v *view) leave(copies []v1alpha.WorkloadDeployment) {
	for n := range copies {
		assignment := copies[n].Spec.Assignment
		if assignment == nil || copies[n].Labels[v1alpha.LabelHub] != string(v.hub) {
			continue
		}
		for i := range assignment.Cells {
			if c := v.cells[assignment.Cells[i].Name]; c != nil && assignment.Cells[i].IsLeaving() {
				c.leaving = append(c.leaving, copies[n].Leaving(&assignment.Cells[i]))
			}
		}
	}
	for _, c := range v.cells {
		slices.SortFunc(c.leaving, func(a, b v1alpha.LeavingDeployment) int {
			return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}
}

// leavingTurn is how long a cell is asked about a deployment before another one that waits takes its turn. A cell
// answers within seconds, and hub/propagation reads the answer within seconds.
const leavingTurn = time.Minute

// askLeaving returns the deployments to ask the cell about: deployments whose Work is gone. Until then Karmada could
// still apply one in the cell after its answer. If there are too many, they take turns: some may never leave.
func (i *Inventory) askLeaving(ctx context.Context, c *cell, state *cellState) ([]v1alpha.LeavingDeployment, error) {
	now, asked := i.Clock.Now(), map[v1alpha.LeavingDeployment]time.Time{}
	for _, leaving := range c.leaving {
		if began, known := state.asked[leaving]; known {
			asked[leaving] = began
		}
	}
	inTurn := func(leaving v1alpha.LeavingDeployment) bool {
		return !asked[leaving].IsZero() && now.Sub(asked[leaving]) < leavingTurn
	}
	waiting := slices.Clone(c.leaving)
	slices.SortStableFunc(waiting, func(a, b v1alpha.LeavingDeployment) int {
		switch {
		case inTurn(a) == inTurn(b):
			return asked[a].Compare(asked[b])
		case inTurn(a):
			return -1
		}
		return 1
	})
	chosen := map[v1alpha.LeavingDeployment]bool{}
	var failed []error
	for _, leaving := range waiting {
		if len(chosen) == cells.MaxLeaving {
			break
		}
		if asked[leaving].IsZero() {
			gone, err := i.workGone(ctx, c.name, types.NamespacedName{Namespace: leaving.Namespace, Name: leaving.Name})
			if err != nil || !gone {
				failed = append(failed, err)
				continue
			}
		}
		if !inTurn(leaving) {
			asked[leaving] = now
		}
		chosen[leaving] = true
	}
	state.asked = asked
	// In the order of their ages, so that the question is the same in the next pass.
	list := slices.DeleteFunc(slices.Clone(c.leaving), func(leaving v1alpha.LeavingDeployment) bool { return !chosen[leaving] })
	return list, errors.Join(failed...)
}

// workGone reports whether Karmada has no Work of a deployment for a cell. The cache may be behind: the API server
// decides.
func (i *Inventory) workGone(ctx context.Context, cell string, deployment types.NamespacedName) (bool, error) {
	key := client.ObjectKey{Namespace: karmadanames.GenerateExecutionSpaceName(cell), Name: workName(deployment)}
	for _, reader := range []client.Reader{i.Hub, i.APIReader} {
		err := reader.Get(ctx, key, &workv1alpha1.Work{})
		if err == nil {
			return false, nil
		}
		if !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("get Work %s: %w", key, err)
		}
	}
	return true, nil
}
