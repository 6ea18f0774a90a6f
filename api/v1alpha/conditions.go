// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

// Condition types. Which kind carries which is said at the kinds' statuses.
const (
	// ConditionAvailable is True while at least one Instance serves.
	ConditionAvailable = "Available"
	// ConditionProgressing is True while what runs is being changed to what is asked for.
	ConditionProgressing = "Progressing"
	// ConditionReplicasReady is True when every desired Instance is Ready.
	ConditionReplicasReady = "ReplicasReady"
	// ConditionReady is True while an Instance serves.
	ConditionReady = "Ready"
	// ConditionProgrammed is True when the runtime of the cell has taken an Instance over.
	ConditionProgrammed = "Programmed"
	// ConditionQuotaGranted is True when an Instance may start as far as quota goes.
	ConditionQuotaGranted = "QuotaGranted"
	// ConditionReferencedDataReady is True when every ConfigMap and Secret that the template names is where the Instances
	// run. WorkloadDeployments and Instances whose template names none do not carry it.
	ConditionReferencedDataReady = "ReferencedDataReady"
)

// Reasons of Ready on an Instance.
const (
	// ReasonSchedulingGatesPresent says that a gate holds the Instance.
	ReasonSchedulingGatesPresent = "SchedulingGatesPresent"
	// ReasonProvisioning says that the runtime is starting the Instance.
	ReasonProvisioning = "Provisioning"
	// ReasonImageUnavailable says that an image cannot be pulled.
	ReasonImageUnavailable = "ImageUnavailable"
	// ReasonInstanceCrashing says that a container ends again and again.
	ReasonInstanceCrashing = "InstanceCrashing"
	// ReasonConfigurationError says that the template cannot run as it is.
	ReasonConfigurationError = "ConfigurationError"
	// ReasonAvailable says that the Instance serves. Available on an Instance uses it too.
	ReasonAvailable = "Available"
)

// Reasons of Available on an Instance.
const (
	// ReasonStarting says that the Instance is not up yet.
	ReasonStarting = "Starting"
	// ReasonStopping says that the Instance is being deleted.
	ReasonStopping = "Stopping"
	// ReasonStopped says that the Instance has ended.
	ReasonStopped = "Stopped"
)

// Reasons of Programmed on an Instance.
const (
	// ReasonPendingQuota says that the Quota gate holds the Instance.
	ReasonPendingQuota = "PendingQuota"
	// ReasonPendingProgramming says that another gate holds the Instance.
	ReasonPendingProgramming = "PendingProgramming"
	// ReasonProgrammingInProgress says that the runtime has not placed the Instance yet.
	ReasonProgrammingInProgress = "ProgrammingInProgress"
	// ReasonProgrammed says that the runtime has placed the Instance.
	ReasonProgrammed = "Programmed"
)

// Reasons of QuotaGranted on an Instance.
const (
	// ReasonPendingEvaluation says that the grant has not arrived.
	ReasonPendingEvaluation = "PendingEvaluation"
	// ReasonQuotaAvailable says that the grant has arrived.
	ReasonQuotaAvailable = "QuotaAvailable"
	// ReasonQuotaDisabled says that no quota is configured.
	ReasonQuotaDisabled = "QuotaDisabled"
)

// Reasons of ReferencedDataReady.
const (
	// ReasonResolving says that the data has not been looked up yet.
	ReasonResolving = "Resolving"
	// ReasonAwaitingPropagation says that the data is on its way to the cell.
	ReasonAwaitingPropagation = "AwaitingPropagation"
	// ReasonSourceNotFound says that the project has no object of a name that the template needs.
	ReasonSourceNotFound = "SourceNotFound"
	// ReasonSourceUnauthorized says that the add-on may not read an object in the project.
	ReasonSourceUnauthorized = "SourceUnauthorized"
	// ReasonSourceTooLarge says that an object, or all together, are too large to be carried to cells.
	ReasonSourceTooLarge = "SourceTooLarge"
	// ReasonSourceRefused says that an object is of a type, or has a name, that is not carried to cells.
	ReasonSourceRefused = "SourceRefused"
	// ReasonReferencedDataPresent says that the data is there.
	ReasonReferencedDataPresent = "Ready"
)

// Reasons of Available on a WorkloadDeployment.
const (
	// ReasonStableInstanceFound says that at least one Instance is Ready.
	ReasonStableInstanceFound = "StableInstanceFound"
	// ReasonInstancesProvisioning says that no Instance is Ready yet.
	ReasonInstancesProvisioning = "InstancesProvisioning"
	// ReasonQuotaNotGranted says that no Instance is Ready and quota holds one.
	ReasonQuotaNotGranted = "QuotaNotGranted"
	// ReasonReferencedDataNotReady says that no Instance is Ready and missing data holds one.
	ReasonReferencedDataNotReady = "ReferencedDataNotReady"
	// ReasonNoMatchingLocation says that no location, or no cell, serves the city.
	ReasonNoMatchingLocation = "NoMatchingLocation"
)

// Reasons of Available on a Workload and on its placements.
const (
	// ReasonAvailablePlacementFound says that at least one placement is available.
	ReasonAvailablePlacementFound = "AvailablePlacementFound"
	// ReasonNoAvailablePlacements says that no placement is available.
	ReasonNoAvailablePlacements = "NoAvailablePlacements"
	// ReasonAvailableDeploymentFound says that at least one deployment of the placement is available.
	ReasonAvailableDeploymentFound = "AvailableDeploymentFound"
	// ReasonNoAvailableDeployments says that no deployment of the placement is available.
	ReasonNoAvailableDeployments = "NoAvailableDeployments"
)

// Reasons of Progressing and ReplicasReady.
const (
	// ReasonRollingOut says that Instances are being made, replaced or removed.
	ReasonRollingOut = "RollingOut"
	// ReasonSettled says that what runs is what is asked for.
	ReasonSettled = "Settled"
	// ReasonAllReplicasReady says that every desired Instance is Ready.
	ReasonAllReplicasReady = "AllReplicasReady"
	// ReasonReplicasNotReady says that a desired Instance is missing or not Ready.
	ReasonReplicasNotReady = "ReplicasNotReady"
	// ReasonFederationBlocked says that the hub refuses the deployment; the message says what to change.
	ReasonFederationBlocked = "FederationBlocked"
)

// Names of scheduling gates.
const (
	// GateQuota holds an Instance until its quota is granted.
	GateQuota = "Quota"
	// GateNetwork holds an Instance until its network is there.
	GateNetwork = "Network"
	// GateReferencedData holds an Instance until what its template names has arrived.
	GateReferencedData = "ReferencedData"
)
