// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// workloadPage bounds how many Workloads are read at once, and with it the memory of a count.
const workloadPage = 100

// asked is the demand of the Workloads of a project: the listed Workloads, and Workloads that this replica has admitted
// since the list.
type asked struct {
	mu    sync.Mutex
	total templates.Demand
}

// isNear reports whether a project would use more than half of its maximum with a reservation.
func (a *asked) isNear(reservation *templates.Reservation) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return reservation.IsNear(a.total.Plus(reservation.More))
}

// reserve returns the total including a reservation. It keeps the reservation unless the project is full.
func (a *asked) reserve(reservation *templates.Reservation) (total templates.Demand) {
	a.mu.Lock()
	defer a.mu.Unlock()
	total = a.total.Plus(reservation.More)
	if !reservation.IsFull(total) && !reservation.DryRun {
		a.total = total
	}
	return total
}

// Reserve returns what a project's Workloads ask for, including what a request adds. If the project is not full, the
// request counts from now on.
//
// The list of Workloads is up to 10 minutes old while the project uses at most half of its maximum: a list every few
// seconds would cost the project's API server and this replica the more, the more Workloads the project has. Otherwise
// the list is up to 5 s old, or up to 10 minutes while the project does not answer; a sum that is too large is always
// current. The sum does not include Workloads that other replicas have admitted since the list: with n replicas, a
// project may get at most n times its maximum, until the next list.
func (l *Lookup) Reserve(ctx context.Context, project *Project, reservation templates.Reservation) (total templates.Demand, err error) {
	fetch := func(ctx context.Context) (*asked, bool, error) {
		total, err := l.count(ctx, project)
		return &asked{total: total}, err == nil, err
	}
	counted, _, err := l.asked.get(ctx, identity(project), fetch)
	if err != nil {
		return total, err
	}
	if counted.isNear(&reservation) {
		if recent, _, err := l.asked.getFresh(ctx, identity(project), countedFor, fetch); err == nil {
			counted = recent
		}
	}
	if total = counted.reserve(&reservation); !reservation.IsFull(total) {
		return total, nil
	}
	if counted, _, err = l.asked.getFresh(ctx, identity(project), 0, fetch); err != nil {
		return templates.Demand{}, err
	}
	return counted.reserve(&reservation), nil
}

// workloadScales are the parts of a list of Workloads that determine what they ask for. Templates are not decoded.
type workloadScales struct {
	Metadata metav1.ListMeta `json:"metadata"`
	Items    []struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec struct {
			Template   json.RawMessage  `json:"template"`
			Placements []placementScale `json:"placements"`
		} `json:"spec"`
	} `json:"items"`
}

// placementScale is a WorkloadPlacement without its metrics, whose quantities may be too large to parse.
type placementScale struct {
	CityCodes        []string                    `json:"cityCodes"`
	Locations        []v1alpha.PlacementLocation `json:"locations"`
	LocationSelector *metav1.LabelSelector       `json:"locationSelector"`
	Spread           *v1alpha.PlacementSpread    `json:"spread"`
	ScaleSettings    struct {
		MinReplicas int32  `json:"minReplicas"`
		MaxReplicas *int32 `json:"maxReplicas"`
	} `json:"scaleSettings"`
}

func (p *placementScale) placement() v1alpha.WorkloadPlacement {
	return v1alpha.WorkloadPlacement{
		CityCodes: p.CityCodes, Locations: p.Locations, LocationSelector: p.LocationSelector, Spread: p.Spread,
		ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: p.ScaleSettings.MinReplicas, MaxReplicas: p.ScaleSettings.MaxReplicas},
	}
}

// count lists the Workloads of a project and returns what they ask for.
func (l *Lookup) count(ctx context.Context, project *Project) (sum templates.Demand, err error) {
	locations, _, err := l.Locations(ctx, project)
	if err != nil {
		return sum, err
	}
	for page := ""; ; {
		request, err := l.planes.List(project.Name, "workloads")
		if err != nil {
			return sum, err
		}
		raw, err := request.Param("limit", strconv.Itoa(workloadPage)).Param("continue", page).Do(ctx).Raw()
		if err != nil {
			return sum, l.unanswered("the project's Workloads", err)
		}
		var list workloadScales
		if err := json.Unmarshal(raw, &list); err != nil {
			return sum, l.unanswered("the project's Workloads", fmt.Errorf("decode the list: %w", err))
		}
		for i := range list.Items {
			item := &list.Items[i]
			var placements []v1alpha.WorkloadPlacement
			for j := range item.Spec.Placements {
				placements = append(placements, item.Spec.Placements[j].placement())
			}
			instances := cities.MostInstances(placements, locations)
			sum = sum.Plus(templates.Demand{
				Instances: instances,
				Bytes:     templates.WorkloadBytes(len(item.Spec.Template), templates.AnnotationBytes(item.Metadata.Annotations), instances),
			})
		}
		if page = list.Metadata.Continue; page == "" {
			return sum, nil
		}
	}
}

// allowance is how many Instances a project may have.
type allowance struct {
	limit int64
	// known is false if there is no limit.
	known bool
}

// InstanceAllowance is the sum of the Instances that the project's ResourceGrants allow. known is false, and limit 0,
// if no active grant of the project covers Instances, or Milo has no quota. It may be up to 5 s old. Call it only with
// a Project that Project returned.
//
// Use it for early warnings. Only a ResourceClaim shows whether quota is left.
func (l *Lookup) InstanceAllowance(ctx context.Context, project *Project) (limit int64, known bool, err error) {
	a, _, err := l.allowances.get(ctx, identity(project), func(ctx context.Context) (allowance, bool, error) {
		a, err := l.readAllowance(ctx, project)
		return a, err == nil, err
	})
	return a.limit, a.known, err
}

// readAllowance sums the project's grants.
func (l *Lookup) readAllowance(ctx context.Context, project *Project) (allowance, error) {
	reader, err := l.planes.Client(project.Name)
	if err != nil {
		return allowance{}, err
	}
	var grants ResourceGrantList
	switch err := reader.List(ctx, &grants); {
	case wire.IsUnserved(err):
		return allowance{}, nil
	case err != nil:
		return allowance{}, l.unanswered("the project's quota", err)
	}
	var sum allowance
	for i := range grants.Items {
		if grants.Items[i].countsFor(project) {
			sum.add(grants.Items[i].Spec.Allowances)
		}
	}
	return sum, nil
}

// countsFor reports whether a grant is for the project and is not inactive. A grant without the condition counts, since
// Milo has not evaluated it yet.
func (g *ResourceGrant) countsFor(project *Project) bool {
	consumer := g.Spec.ConsumerRef
	return consumer.Kind == "Project" && consumer.Name == project.Name &&
		!meta.IsStatusConditionFalse(g.Status.Conditions, ConditionActive)
}

// add adds the allowances for Instances. The sum is capped at math.MaxInt64.
func (a *allowance) add(allowances []Allowance) {
	for _, allowed := range allowances {
		if allowed.ResourceType != ResourceTypeInstances {
			continue
		}
		a.known = true
		for _, bucket := range allowed.Buckets {
			amount := max(bucket.Amount, 0)
			a.limit += min(amount, math.MaxInt64-a.limit)
		}
	}
}
