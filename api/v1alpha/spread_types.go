// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PlacementSpread makes the cities of a placement candidates: some of them run its Instances.
type PlacementSpread struct {
	// cities is how many of the candidates run the Instances, each with scaleSettings. The first candidates of the placement
	// are chosen: in the order of cityCodes or locations, and with a locationSelector in the order of their codes. A city
	// that is chosen stays chosen while it is a candidate.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=48
	Cities int32 `json:"cities"`

	// failover replaces a chosen city that serves nothing by another candidate. Without it, such a city stays chosen.
	// +optional
	Failover *PlacementFailover `json:"failover,omitempty"`

	// overflow also replaces a chosen city whose cells lack the capacity for its Instances, by a candidate that has it. It needs
	// failover, which has the rules of the return. Without it, the missing Instances wait for capacity.
	// +optional
	Overflow *PlacementOverflow `json:"overflow,omitempty"`
}

// PlacementOverflow is when a city without capacity is replaced by another candidate.
type PlacementOverflow struct {
	// after is how long Instances of a city must lack capacity before it is replaced. Without it, it is 5m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]+(h|m|s))+$`
	After *metav1.Duration `json:"after,omitempty"`
}

// AfterOrDefault is how long Instances of a city must lack capacity before it is replaced. o may be nil.
func (o *PlacementOverflow) AfterOrDefault() time.Duration {
	if o == nil || o.After == nil {
		return DefaultOverflowAfter
	}
	return o.After.Duration
}

// PlacementFailover is when a city is replaced by another candidate, and when it runs the Instances again.
type PlacementFailover struct {
	// after is how long a city must serve nothing before it is replaced: none of its Instances is Available, and Karmada
	// reaches no cell of it, all of its nodes are cordoned, or the project may not use it. Without it, it is 60s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]+(h|m|s))+$`
	After *metav1.Duration `json:"after,omitempty"`

	// stableFor is how long a city that was replaced must be able to run Instances before it runs them again. Without it,
	// it is 10m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]+(h|m|s))+$`
	StableFor *metav1.Duration `json:"stableFor,omitempty"`

	// return is WhenHealthy or Never. Without it, it is WhenHealthy: the Instances return to the city that was replaced, and
	// the other city loses them when all of these Instances are Available.
	// +optional
	Return FailoverReturn `json:"return,omitempty"`
}

// Annotations of a Workload by which a consumer decides by hand what failover decides by itself.
const (
	// AnnotationLeaveCities has the cities in which no Instance of the Workload should run while another candidate can, divided by commas.
	// A city may have the candidate behind it that should run its Instances: "DFW,ORD=LAX".
	AnnotationLeaveCities = "compute.datumapis.com/leave-cities"
	// AnnotationReturnRequested has a time, in RFC 3339. From then on, for stableFor, cities that were replaced get their Instances again
	// as soon as they can run them.
	AnnotationReturnRequested = "compute.datumapis.com/return-requested"
)

// FailoverReturn is whether Instances return to a city that was replaced.
// +kubebuilder:validation:Enum=WhenHealthy;Never
type FailoverReturn string

const (
	// ReturnWhenHealthy returns the Instances to a city that has been able to run them for stableFor.
	ReturnWhenHealthy FailoverReturn = "WhenHealthy"
	// ReturnNever leaves the Instances where they are.
	ReturnNever FailoverReturn = "Never"
)

// Defaults and bounds of a failover. A shorter time than MinFailover is below what the hub can notice for certain.
const (
	DefaultFailoverAfter = time.Minute
	DefaultOverflowAfter = 5 * time.Minute
	DefaultStableFor     = 10 * time.Minute
	MinFailover          = 30 * time.Second
	MaxFailover          = 24 * time.Hour
)

// AfterOrDefault is how long a city must serve nothing before it is replaced.
func (f *PlacementFailover) AfterOrDefault() time.Duration {
	if f.After == nil {
		return DefaultFailoverAfter
	}
	return f.After.Duration
}

// StableOrDefault is how long a city must be able to run Instances before it runs them again.
func (f *PlacementFailover) StableOrDefault() time.Duration {
	if f.StableFor == nil {
		return DefaultStableFor
	}
	return f.StableFor.Duration
}

// Returns reports whether Instances return to a city that was replaced. f may be nil.
func (f *PlacementFailover) Returns() bool { return f != nil && f.Return != ReturnNever }

// PlacementCity is a candidate that a placement has chosen, or that it has replaced.
type PlacementCity struct {
	// city is its code, in upper case.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	City string `json:"city"`

	// phase is the state of the placement in the city.
	// +required
	Phase PlacementCityPhase `json:"phase"`

	// replacedBy is the city that runs the Instances instead. It is not set in phase Running.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	ReplacedBy string `json:"replacedBy,omitempty"`

	// since is when the clock of the next decision began: in phase Running, since when the city has served nothing, or has lacked
	// capacity; in the other ones, since when it has been able to run Instances. Without it, the clock does not run.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// reason is why the city was replaced, or is about to be.
	// +optional
	Reason PlacementCityReason `json:"reason,omitempty"`
}

// PlacementCityReason is why a city is replaced by another candidate.
// +kubebuilder:validation:Enum=ServesNothing;NoCapacity;ByHand
type PlacementCityReason string

const (
	// CityServesNothing is a city without Available Instances: it is the cause itself.
	CityServesNothing PlacementCityReason = "ServesNothing"
	// CityNoCapacity is a city whose cells lack the capacity for its Instances.
	CityNoCapacity PlacementCityReason = "NoCapacity"
	// CityLeftByHand is a city that the consumer has named in AnnotationLeaveCities.
	CityLeftByHand PlacementCityReason = "ByHand"
)

// PlacementCityPhase is the state of a placement in a candidate.
// +kubebuilder:validation:Enum=Running;Lost;Leaving;Away;Returning
type PlacementCityPhase string

const (
	// CityRunning is a chosen city.
	CityRunning PlacementCityPhase = "Running"
	// CityLost is a city that was replaced. Its deployment stays until the other city serves and the cells can be told.
	CityLost PlacementCityPhase = "Lost"
	// CityLeaving is CityLost of a city that the Instances do not return to.
	CityLeaving PlacementCityPhase = "Leaving"
	// CityAway is a city without a deployment. Its Instances return when it has been able to run them for stableFor.
	CityAway PlacementCityPhase = "Away"
	// CityReturning is a city that has its Instances again, beside the ones of the other city.
	CityReturning PlacementCityPhase = "Returning"
)

// HasDeployment reports whether the placement has a deployment in the city.
func (c *PlacementCity) HasDeployment() bool { return c.Phase != CityAway }

// RecordOf returns the recorded choice of a placement.
func (s *WorkloadStatus) RecordOf(placement string) []PlacementCity {
	for i := range s.Placements {
		if s.Placements[i].Name == placement {
			return s.Placements[i].Cities
		}
	}
	return nil
}
