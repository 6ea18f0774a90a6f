// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// behind is the maximum age of the cells' state behind a count in the project. early is the maximum time by which the
// watch of a project may be ahead of the watch of a cell. reconnect is the maximum time that Karmada's watch of a cell
// stays broken after the cell's API server has returned: client-go's backoff. Until then a count is older.
const (
	behind    = 45 * time.Second
	early     = 5 * time.Second
	reconnect = time.Minute
)

// History is every version of the Workloads and WorkloadDeployments in a namespace of a project, and how many Instances
// their cells had. The watches of several planes have no common order, so it is judged at the end. It is safe for
// concurrent use.
type History struct {
	mu          sync.Mutex
	workloads   []version
	deployments map[types.UID][]version
	// cells are the Instances in each cell, and samples how many of each deployment there were after each change.
	cells   map[string]map[string]seen
	samples map[string]map[string][]sample
	// blind are the times at which a cell was not watched.
	blind map[string][]time.Time
	found []string
}

// version is one version of an object.
type version struct {
	at       time.Time
	revision int64
	name     string
	owner    types.UID
	deleted  bool
	// most is the number of Instances that the spec requests, and hash the hash of its template.
	most   int32
	hash   string
	counts v1alpha.ReplicaCounts
	// cells are the cells that report.
	cells []string
}

// seen is one Instance.
type seen struct {
	deployment, hash string
	ready, available bool
}

// sample is how many Instances of a deployment a cell had.
type sample struct {
	at                     time.Time
	existing, ready, avail int32
	byHash                 map[string]int32
}

// NewHistory returns an empty History.
func NewHistory() *History {
	return &History{
		deployments: map[types.UID][]version{}, cells: map[string]map[string]seen{},
		samples: map[string]map[string][]sample{}, blind: map[string][]time.Time{},
	}
}

// Workload adds a version of a Workload.
func (h *History) Workload(at time.Time, w *v1alpha.Workload) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note("Workload "+w.Name, w.ResourceVersion, OfWorkload(w))
	h.workloads = append(h.workloads, version{
		at: at, revision: revision(w.ResourceVersion), name: w.Name, owner: w.UID, counts: w.Status.ReplicaCounts,
	})
}

// Deployment adds a version of a WorkloadDeployment, or its end.
func (h *History) Deployment(at time.Time, d *v1alpha.WorkloadDeployment, deleted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := version{
		at: at, revision: revision(d.ResourceVersion), name: d.Name, owner: d.Spec.WorkloadRef.UID, deleted: deleted,
		most: d.Spec.DesiredReplicas(), counts: d.Status.ReplicaCounts,
	}
	if d.Spec.Autoscaled() {
		v.most = max(v.most, d.Spec.ScaleSettings.MostReplicas())
	}
	v.hash, _ = templates.Hash(&d.Spec.Template) // an encodable template
	for i := range d.Status.Indices {
		v.cells = append(v.cells, d.Status.Indices[i].Cell)
	}
	if !deleted {
		h.note("WorkloadDeployment "+d.Name, d.ResourceVersion, OfDeployment(d))
	}
	h.deployments[d.UID] = append(h.deployments[d.UID], v)
}

// Instance adds a change of an Instance in a cell.
func (h *History) Instance(at time.Time, cell string, i *v1alpha.Instance, deleted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	of := h.cell(cell)
	delete(of, i.Name)
	if !deleted {
		of[i.Name] = seenOf(i)
	}
	h.sample(at, cell, i.Labels[v1alpha.LabelDeploymentName])
}

// Cell replaces all Instances of a cell: its watch begins.
func (h *History) Cell(at time.Time, cell string, instances []v1alpha.Instance) {
	h.mu.Lock()
	defer h.mu.Unlock()
	of, names := h.cell(cell), map[string]bool{}
	for _, known := range of {
		names[known.deployment] = true
	}
	clear(of)
	for i := range instances {
		of[instances[i].Name] = seenOf(&instances[i])
		names[instances[i].Labels[v1alpha.LabelDeploymentName]] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		h.sample(at, cell, name)
	}
}

// Blind notes that a cell is not watched at a time.
func (h *History) Blind(at time.Time, cell string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cell(cell)
	h.blind[cell] = append(h.blind[cell], at)
}

func (h *History) cell(name string) map[string]seen {
	if h.cells[name] == nil {
		h.cells[name], h.samples[name] = map[string]seen{}, map[string][]sample{}
	}
	return h.cells[name]
}

func (h *History) sample(at time.Time, cell, deployment string) {
	s := sample{at: at, byHash: map[string]int32{}}
	for _, one := range h.cells[cell] {
		if one.deployment != deployment {
			continue
		}
		s.existing++
		s.byHash[one.hash]++
		if one.ready {
			s.ready++
		}
		if one.available {
			s.avail++
		}
	}
	h.samples[cell][deployment] = append(h.samples[cell][deployment], s)
}

func (h *History) note(object, resourceVersion string, found []string) {
	for _, one := range found {
		h.found = append(h.found, fmt.Sprintf("%s, version %s: %s", object, resourceVersion, one))
	}
}

// revision is a resource version as a number. The versions of one plane are comparable: they come from one etcd.
func revision(resourceVersion string) int64 {
	number, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return number
}
