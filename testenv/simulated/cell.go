// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Cell holds the Instances of deployments, one cell in each city, and reports them as hub/projection does.
type Cell struct {
	// Templates are the hashes of the templates of the Instances, by their names.
	Templates map[string]string
	// Broken are the hashes of templates whose Instances never become Available.
	Broken []string
	// Full is the reason why additional Instances wait; "": they start.
	Full string
	// Suspended says that the project is suspended: all Instances are stopped, and none is created or replaced.
	Suspended bool
	// Load is how many Instances an autoscaler wants in a city, where it decides.
	Load map[string]int32
	// Lost is the city whose cells have no contact: they neither act nor report.
	Lost string
	// Tells adds conditions to the reports; nil: none.
	Tells func(*v1alpha.WorkloadDeployment)

	progressed metav1.Time
}

// New returns a Cell without Instances. progressed is the last progress of Instances that are not Available.
func New(progressed time.Time) Cell {
	return Cell{Templates: map[string]string{}, progressed: metav1.NewTime(progressed)}
}

// Hash is the hash of a template.
func Hash(t testing.TB, template *v1alpha.InstanceTemplateSpec) string {
	t.Helper()
	hash, err := templates.Hash(template)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// Report gives every Instance of a deployment its template, all at once, and sets the status to the result.
func (c *Cell) Report(t testing.TB, d *v1alpha.WorkloadDeployment) {
	t.Helper()
	if d.Spec.CityCode == c.Lost {
		return
	}
	newest := Hash(t, &d.Spec.Template)
	var existing, available, current, held []int
	desired := c.desired(&d.Spec)
	assigned := desired + d.Spec.Surge
	maps.DeleteFunc(c.Templates, func(name, _ string) bool {
		index, own := naming.InstanceIndex(d.Name, name)
		return own && index >= int(assigned)
	})
	for index := range int(assigned) {
		waits := ""
		if index >= int(desired) {
			waits = c.Full
		}
		if waits == "the cell" {
			break
		}
		hash := c.replace(t, d, index)
		existing = append(existing, index)
		if waits == "quota" {
			held = append(held, index)
		}
		if waits == "" && c.starts(hash) {
			available = append(available, index)
		}
		if hash == newest {
			current = append(current, index)
		}
	}
	counts := v1alpha.ReplicaCounts{
		Replicas: count(existing), DesiredReplicas: desired, CurrentReplicas: count(existing),
		ReadyReplicas: count(available), AvailableReplicas: count(available), UpdatedReplicas: count(current),
	}
	d.Status.ObservedGeneration, d.Status.AssignedReplicas, d.Status.ReplicaCounts = d.Generation, assigned, counts
	d.Status.Suspended = c.Suspended
	confirmFloor(d)
	d.Status.LastProgressTime = nil
	if counts.AvailableReplicas < assigned && !c.Suspended {
		d.Status.LastProgressTime = c.progressed.DeepCopy()
	}
	d.Status.Indices = []v1alpha.CellIndices{{
		Cell: strings.ToLower(d.Spec.CityCode), Existing: naming.Format(existing),
		AvailableIndices: naming.Format(available), Held: naming.Format(held),
		Current: naming.Format(current), TemplateHash: newest,
	}}
	if c.Tells != nil {
		c.Tells(d)
	}
}

// desired is how many Instances a deployment has without additional ones.
func (c *Cell) desired(spec *v1alpha.WorkloadDeploymentSpec) int32 {
	if !spec.Autoscaled() {
		return spec.DesiredReplicas()
	}
	return max(spec.ScaleSettings.MinReplicas, min(*spec.ScaleSettings.MaxReplicas, c.Load[spec.CityCode]))
}

func count(indices []int) int32 { return int32(len(indices)) } //nolint:gosec // a few

// replace gives the Instance at an index the template that it should have now, and returns its hash.
func (c *Cell) replace(t testing.TB, d *v1alpha.WorkloadDeployment, index int) string {
	t.Helper()
	name := naming.InstanceName(d.Name, index)
	if hash := c.Templates[name]; !c.Suspended && (hash == "" || !d.Spec.Partition.Keeps(index) || slices.Contains(c.Broken, hash)) {
		wanted, _ := d.Spec.TemplateAt(index)
		c.Templates[name] = Hash(t, wanted)
	}
	return c.Templates[name]
}

func (c *Cell) starts(hash string) bool { return !slices.Contains(c.Broken, hash) && !c.Suspended }

// confirmFloor reports that the cell acts on its newest floor.
func confirmFloor(d *v1alpha.WorkloadDeployment) {
	if floor := d.Spec.Floor; floor != nil {
		d.Status.FloorSequence, d.Status.FloorAvailable, d.Status.FloorInForce = floor.Sequence, d.Status.AvailableReplicas, floor.MinAvailable
	}
}

// State returns how many Instances of each city have the Workload's template, such as "DFW 1/2 ORD 0/2".
func (c *Cell) State(t testing.TB, workload *v1alpha.Workload, deployments []v1alpha.WorkloadDeployment) string {
	t.Helper()
	started, _ := templates.StartedWith(workload)
	wanted := Hash(t, started)
	var cities []string
	for i := range deployments {
		d, updated := &deployments[i], 0
		desired := c.desired(&d.Spec)
		for index := range int(desired + d.Spec.Surge) {
			if c.Templates[naming.InstanceName(d.Name, index)] == wanted {
				updated++
			}
		}
		city := fmt.Sprintf("%s %d/%d", d.Spec.CityCode, updated, desired)
		if d.Spec.Surge > 0 {
			city += fmt.Sprintf("+%d", d.Spec.Surge)
		}
		cities = append(cities, city)
	}
	return strings.Join(cities, " ")
}

// World is a project whose cells and controller act in turns.
type World struct {
	// Run lets the cells act, and Reconcile the controller, of whose writes it returns the number.
	Run       func()
	Reconcile func() int
	// State is the state of the cities.
	State func() string
}

// Settle lets cells and controller act until nothing changes, and returns the states of the cities in between.
func (w World) Settle(t testing.TB) []string {
	t.Helper()
	var states []string
	for range 20 {
		w.Run()
		if state := w.State(); len(states) == 0 || states[len(states)-1] != state {
			states = append(states, state)
		}
		if w.Reconcile() == 0 {
			return states
		}
	}
	t.Fatalf("it does not settle: %v", states)
	return nil
}
