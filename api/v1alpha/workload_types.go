// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadSpec describes the Instances of a Workload and their places.
type WorkloadSpec struct {
	// template of the Instances.
	// +required
	Template InstanceTemplateSpec `json:"template"`

	// placements are the sets of cities that the Workload runs in, each with its own scale.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=48
	Placements []WorkloadPlacement `json:"placements"`

	// rollout controls the update of the Instances to a new template.
	// +optional
	Rollout *WorkloadRollout `json:"rollout,omitempty"`

	// disruption limits how many Instances, in all cities together, voluntary disruptions may make unavailable: drains,
	// evictions, rollouts and moves between cells.
	// +optional
	Disruption *WorkloadDisruption `json:"disruption,omitempty"`

	// minReadySeconds is how long an Instance must be Ready, without a restart, before it is Available. It is less than
	// the progress deadline. Without it, it is 0 if a container has a readiness probe, and otherwise 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// service gives the Instances one name in each cell, so that Workloads of a project reach each other by name in a
	// city. Without it, Instances have addresses and no name. A change of it replaces no Instance, and applies in all
	// cities at once.
	// +optional
	Service *WorkloadService `json:"service,omitempty"`

	// replicas cannot be set, because each placement has its own number: scaleSettings.minReplicas. The field exists so
	// that kubectl scale and manifests that set it get an error with the command that scales the Workload.
	// +optional
	// +kubebuilder:validation:XValidation:rule="false",message="a Workload has a number of Instances for each placement: run kubectl compute scale NAME --replicas=N, or set spec.placements[].scaleSettings.minReplicas"
	Replicas *int32 `json:"replicas,omitempty"`
}

// WorkloadPlacement is a set of cities and the scale in each of them.
// +kubebuilder:validation:ExactlyOneOf=cityCodes;locations;locationSelector
type WorkloadPlacement struct {
	// name is unique in the Workload.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// cityCodes are the cities, for example DFW. They are compared without regard to case.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=48
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=16
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.lowerAscii() == b.lowerAscii()))",message="city codes must be unique without regard to case"
	CityCodes []string `json:"cityCodes,omitempty"`

	// locations name the locations instead of the cities.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=48
	Locations []PlacementLocation `json:"locations,omitempty"`

	// locationSelector selects locations by their topology, such as topology.datum.net/city-code or
	// topology.datum.net/region. Every location that is available gets Instances, also one that the project gets later.
	// +optional
	LocationSelector *metav1.LabelSelector `json:"locationSelector,omitempty"`

	// spread makes the cities candidates, of which some run the Instances. Without it, all of them do.
	// +optional
	Spread *PlacementSpread `json:"spread,omitempty"`

	// scaleSettings is the scale in each of the cities.
	// +required
	ScaleSettings HorizontalScaleSettings `json:"scaleSettings"`
}

// PlacementLocation names a location of the project.
type PlacementLocation struct {
	// name of the location, as spec.locationRef.name of a LocationBinding in the project.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// InstanceManagementPolicy is the order in which the Instances of a deployment are created and replaced.
// +kubebuilder:validation:Enum=OrderedReady;Parallel
type InstanceManagementPolicy string

const (
	// OrderedReady creates Instance i when 0..i-1 are Ready, and replaces from the highest index down, one at a time.
	OrderedReady InstanceManagementPolicy = "OrderedReady"
	// Parallel creates all Instances at once, and replaces as many at a time as rollout.maxUnavailable allows.
	Parallel InstanceManagementPolicy = "Parallel"
)

// HorizontalScaleSettings is how many Instances run in one city.
// +kubebuilder:validation:XValidation:rule="!has(self.maxReplicas) || self.maxReplicas >= self.minReplicas",message="must be at least minReplicas",fieldPath=".maxReplicas"
// +kubebuilder:validation:XValidation:rule="!has(self.maxReplicas) || self.minReplicas > 0",message="must be at least 1 with maxReplicas, because no metric of an Instance can start the first one",fieldPath=".minReplicas"
// +kubebuilder:validation:XValidation:rule="!has(self.maxReplicas) || (has(self.metrics) && size(self.metrics) > 0)",message="needs metrics to scale by",fieldPath=".maxReplicas"
type HorizontalScaleSettings struct {
	// minReplicas is the number of Instances that always run. 0 stops the placement: nothing of it runs or uses quota, and
	// all of it is kept.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	MinReplicas int32 `json:"minReplicas"`

	// maxReplicas is the most Instances that scaling by metrics may reach.
	// +optional
	// +kubebuilder:validation:Maximum=5000
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`

	// metrics that scaling between minReplicas and maxReplicas uses. They need maxReplicas.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Metrics []MetricSpec `json:"metrics,omitempty"`

	// behavior limits the speed of scaling by metrics, in each direction, as in autoscaling/v2. It needs
	// metrics.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`

	// instanceManagementPolicy is OrderedReady or Parallel. Without it, it is OrderedReady.
	// +optional
	InstanceManagementPolicy InstanceManagementPolicy `json:"instanceManagementPolicy,omitempty"`
}

// MostReplicas is how many Instances the settings allow in one city.
func (s *HorizontalScaleSettings) MostReplicas() int32 {
	if s.MaxReplicas == nil {
		return max(s.MinReplicas, 0)
	}
	return max(s.MinReplicas, *s.MaxReplicas, 0)
}

// Zero reports whether the settings want no Instance, now and later.
func (s *HorizontalScaleSettings) Zero() bool { return s.MostReplicas() == 0 }

// MetricSpec is a metric to scale by.
type MetricSpec struct {
	// resource is a resource that the Instances use.
	// +required
	Resource *ResourceMetricSource `json:"resource,omitempty"`
}

// ResourceMetricSource names a resource and the use of it that scaling aims at.
type ResourceMetricSource struct {
	// name of the resource.
	// +required
	// +kubebuilder:validation:Enum=cpu;memory
	Name string `json:"name"`

	// target is the use to aim at.
	// +required
	Target MetricTarget `json:"target"`
}

// PerInstance reports whether the target is a use per Instance, which Kubernetes' autoscaler can aim at. r may be nil.
func (r *ResourceMetricSource) PerInstance() bool {
	return r != nil && (r.Target.AverageUtilization != nil || r.Target.AverageValue != nil)
}

// MetricTarget is a use of a resource: exactly one of its fields is set, and it is positive. Admission checks the
// quantities: comparing them in the schema exceeds the cost budget of the API server.
// +kubebuilder:validation:ExactlyOneOf=value;averageValue;averageUtilization
type MetricTarget struct {
	// value is the use of all Instances together. Nothing scales by it, and admission refuses it.
	// +optional
	Value *resource.Quantity `json:"value,omitempty"`

	// averageValue is the use per Instance.
	// +optional
	AverageValue *resource.Quantity `json:"averageValue,omitempty"`

	// averageUtilization is the use per Instance, in percent of what it requests.
	// +optional
	// +kubebuilder:validation:Minimum=1
	AverageUtilization *int32 `json:"averageUtilization,omitempty"`
}

// ReplicaCounts are the counts in the statuses of Workloads, placements and deployments.
type ReplicaCounts struct {
	// replicas is how many Instances exist.
	// +optional
	Replicas int32 `json:"replicas"`
	// currentReplicas is how many of them have the template that they should have now: during a rollout, Instances wait
	// for their turn with the earlier one.
	// +optional
	CurrentReplicas int32 `json:"currentReplicas"`
	// desiredReplicas is how many Instances should exist.
	// +optional
	DesiredReplicas int32 `json:"desiredReplicas"`
	// readyReplicas is how many Instances are Ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// availableReplicas is how many Instances are Available: they have been Ready for minReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas,omitempty"`
	// updatedReplicas is how many Instances have the newest template of the Workload or, in the status of a deployment, of
	// the deployment. It is set in projects only.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty"`
	// updatedAvailableReplicas is how many of them are Available. It is set in projects only.
	// +optional
	UpdatedAvailableReplicas int32 `json:"updatedAvailableReplicas,omitempty"`
}

// Add returns the sum of both counts.
func (c ReplicaCounts) Add(other ReplicaCounts) ReplicaCounts {
	return ReplicaCounts{
		Replicas:          c.Replicas + other.Replicas,
		CurrentReplicas:   c.CurrentReplicas + other.CurrentReplicas,
		DesiredReplicas:   c.DesiredReplicas + other.DesiredReplicas,
		ReadyReplicas:     c.ReadyReplicas + other.ReadyReplicas,
		AvailableReplicas: c.AvailableReplicas + other.AvailableReplicas,

		UpdatedReplicas:          c.UpdatedReplicas + other.UpdatedReplicas,
		UpdatedAvailableReplicas: c.UpdatedAvailableReplicas + other.UpdatedAvailableReplicas,
	}
}

// WorkloadStatus is the sum of what the cities report.
type WorkloadStatus struct {
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Available, Progressing and Ready, Degraded and Stalled during a rollout that fails, ServiceProgrammed
	// with spec.service, DataCurrent with policy Rollout of spec.rollout.onDataChange, Scheduled while Instances wait for
	// capacity, and InstanceTypeDeprecated and InstanceTypeDisabled when they apply.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deployments is the number of WorkloadDeployments.
	// +optional
	Deployments int32 `json:"deployments"`

	ReplicaCounts `json:",inline"`

	// suspended reports that the project is suspended: no Instance may run. The message of condition Available names the
	// cells that have not confirmed it.
	// +optional
	Suspended bool `json:"suspended,omitempty"`

	// lastProgressTime is when the Workload last made progress towards its spec. It is not set while the Instances
	// match the spec.
	// +optional
	LastProgressTime *metav1.Time `json:"lastProgressTime,omitempty"`

	// rollout is the state of the rollout of the template.
	// +optional
	Rollout *WorkloadRolloutStatus `json:"rollout,omitempty"`

	// data is the data that Instances are started with. It is set with policy Rollout of spec.rollout.onDataChange, and
	// may be newer than what runs while the rollout of the data is not complete.
	// +optional
	Data *WorkloadDataStatus `json:"data,omitempty"`

	// disruption is the division of the disruption budget among the deployments. Without it the Workload has no budget.
	// +optional
	Disruption *WorkloadDisruptionStatus `json:"disruption,omitempty"`

	// placements have the status of each placement.
	// +optional
	// +listType=map
	// +listMapKey=name
	Placements []WorkloadPlacementStatus `json:"placements,omitempty"`

	// endpoints are the addresses of the Workload for clients outside of its cells, by city, with spec.service.exposure
	// LoadBalancer.
	// +optional
	// +listType=map
	// +listMapKey=city
	// +kubebuilder:validation:MaxItems=48
	Endpoints []CityEndpoint `json:"endpoints,omitempty"`

	// hostnames are the DNS names of the Workload that the add-on keeps: of the operator's pattern, and of
	// spec.service.hostnames.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=9
	Hostnames []string `json:"hostnames,omitempty"`
}

// WorkloadPlacementStatus is the sum of what the cities of one placement report.
type WorkloadPlacementStatus struct {
	// name of the placement.
	// +required
	Name string `json:"name"`

	// conditions hold Available.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// cities are the candidates that a placement with spread has chosen, and the ones that it has replaced. They are written
	// before anything follows from the choice.
	// +optional
	// +listType=map
	// +listMapKey=city
	// +kubebuilder:validation:MaxItems=48
	Cities []PlacementCity `json:"cities,omitempty"`

	ReplicaCounts `json:",inline"`
}

// Workload is a template and the cities to run it in. Consumers write it.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:resource:shortName={wl,cwl},categories=compute
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.status.desiredReplicas`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Degraded")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Available",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Deployments",type=integer,priority=1,JSONPath=`.status.deployments`
// +kubebuilder:printcolumn:name="Replicas",type=integer,priority=1,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,priority=1,JSONPath=`.status.updatedReplicas`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Available")].message`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be a DNS label: at most 63 lower-case letters, digits and '-'",fieldPath=".metadata.name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.service) || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="must begin with a letter, as the name of a Service does, because spec.service is set",fieldPath=".metadata.name"
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec WorkloadSpec `json:"spec"`
	// A Workload that no controller has seen yet has a status: tools would take one without for complete.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status WorkloadStatus `json:"status,omitempty"`
}

// WorkloadList is a list of Workloads.
//
// +kubebuilder:object:root=true
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Workload `json:"items"`
}
