// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// Plan has the next writes of a Workload.
type Plan struct {
	*Facts
	// Writes in their order: one that fails ends the others.
	Writes []Write
	// TakesStep says that the plan gives a template to another city. Facts from a cache do not suffice for this: a step that was
	// taken already must not be taken in another city as well.
	TakesStep bool
	// Again is after what time another plan is due without an event.
	Again pace.After

	placed
	rolling rolling
	shares  shares
	// deployments are the Workload's as the writes so far leave them.
	deployments map[string]*v1alpha.WorkloadDeployment
	// withdrawing: the Workload is no longer exposed, or otherwise, and its traffic has not left all deployments yet.
	withdrawing bool
	// leaving is until when traffic leaves a city, at the latest.
	leaving map[string]time.Time
}

// Make plans for a Workload.
func Make(f *Facts) (*Plan, error) {
	p := &Plan{Facts: f, deployments: maps.Clone(f.Deployments), leaving: map[string]time.Time{}}
	if p.deployments == nil {
		p.deployments = map[string]*v1alpha.WorkloadDeployment{}
	}
	if !f.Workload.DeletionTimestamp.IsZero() {
		p.remove()
		return p, nil
	}
	if !p.choose() {
		// The event of this write is the next fact: the deployments follow the choice when it is stored.
		return p, nil
	}
	p.placed = place(f)
	if err := p.size(); err != nil {
		return nil, err
	}
	if err := p.roll(); err != nil {
		return nil, err
	}
	if !p.divide() {
		// The event of this write is the next fact: the deployments get their floors when the division is stored.
		return p, nil
	}
	p.withdraw()
	for _, i := range p.intents {
		p.keep(i)
	}
	p.Writes = append(p.Writes, Write{Kind: AddFinalizer})
	p.remove()
	return p, nil
}

// remove lets traffic leave the deployments that the Workload does not want, and deletes the ones that it has left.
func (p *Plan) remove() {
	for _, name := range slices.Sorted(maps.Keys(p.deployments)) {
		if d := p.deployments[name]; !p.wants(d) && p.mayRemove(d) && p.leave(d).Phase == Free && d.DeletionTimestamp.IsZero() {
			p.Writes = append(p.Writes, Write{Kind: Delete, Name: name})
		}
	}
}

// wants reports whether the Workload wants a deployment.
func (p *Plan) wants(d *v1alpha.WorkloadDeployment) bool {
	return p.Workload.DeletionTimestamp.IsZero() && p.placed.wants(d)
}

// Write is one write of a plan.
type Write struct {
	Kind WriteKind
	// Name of the deployment.
	Name string
	// Desired is the object of Apply.
	Desired *v1alpha.WorkloadDeployment
	// Note is the message of the Event of a step of the rollout.
	Note string
	// Annotations of Record and Offer.
	Annotations map[string]string
	// Division of Divide.
	Division *v1alpha.WorkloadDisruptionStatus
	// Chosen of Choose are the records of placements by name.
	Chosen map[string][]v1alpha.PlacementCity
	// Notes of Choose are the Events of its decisions.
	Notes []Event
}

// WriteKind is the kind of a Write.
type WriteKind string

// Kinds of writes.
const (
	// Record adds annotations to a deployment: where its traffic is.
	Record WriteKind = "record"
	// Offer removes them: clients may be sent to its city again.
	Offer WriteKind = "offer"
	// Choose stores the choice among candidates in the Workload's status, and is the last write of its plan.
	Choose WriteKind = "choose"
	// Divide stores the division of the disruption budget in the Workload's status, and is the last write of its plan.
	Divide WriteKind = "divide"
	// Apply creates a deployment or gives it its metadata and spec.
	Apply WriteKind = "apply"
	// AddFinalizer adds the finalizer to the Workload, after the first deployments exist: they do not wait for it. If it has to be
	// added, no other write follows.
	AddFinalizer WriteKind = "finalizer"
	// Delete deletes a deployment.
	Delete WriteKind = "delete"
)
