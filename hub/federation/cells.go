// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/policies"
)

// cell is a cell of a city.
type cell struct {
	name string
	// ready is what Karmada says of its Cluster, since is when that began.
	ready bool
	since time.Time
}

// loadCells reads which cells the deployment's city has, and which cells of any city Karmada reaches.
func (p *pass) loadCells(ctx context.Context) error {
	var clusters clusterv1alpha1.ClusterList
	if err := p.Hub.List(ctx, &clusters); err != nil {
		return fmt.Errorf("list the hub's Clusters: %w", err)
	}
	p.reachable = map[string]bool{}
	for i := range clusters.Items {
		cluster := &clusters.Items[i]
		p.reachable[cluster.Name] = newCell(cluster).ready
		label := cluster.Labels[v1alpha.LabelTopologyCity]
		if cluster.DeletionTimestamp.IsZero() && label != "" && v1alpha.CityLabel(label) == v1alpha.CityLabel(p.deployment.Spec.CityCode) {
			p.cells = append(p.cells, newCell(cluster))
		}
	}
	return nil
}

func newCell(cluster *clusterv1alpha1.Cluster) cell {
	result := cell{name: cluster.Name, since: cluster.CreationTimestamp.Time}
	if condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady); condition != nil {
		result.ready = condition.Status == "True"
		result.since = condition.LastTransitionTime.Time
	}
	return result
}

// city is what the policy has to know. A cell is given up when it has not been Ready for as long as configured and
// another one is: what nobody could run stays where it is. When the next one may have to be given up is noted.
func (p *pass) city() policies.City {
	city := policies.City{Code: p.deployment.Spec.CityCode, Cells: len(p.cells)}
	if p.FailoverAfter <= 0 || !p.anyReady() {
		return city
	}
	for _, c := range p.cells {
		if c.ready {
			continue
		}
		if rest := c.since.Add(p.FailoverAfter).Sub(p.Clock.Now()); rest > 0 {
			p.lookAgain(rest)
		} else {
			city.Lost = append(city.Lost, c.name)
		}
	}
	return city
}

func (p *pass) anyReady() bool {
	for _, c := range p.cells {
		if c.ready {
			return true
		}
	}
	return false
}

// lookAgain has the deployment looked at again after a time, or earlier.
func (p *pass) lookAgain(after time.Duration) {
	if p.again == 0 || after < p.again {
		p.again = after
	}
}
