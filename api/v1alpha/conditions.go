// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

// Condition types. The status types list which kind has which.
const (
	// ConditionAvailable is True while at least one Instance is Ready.
	ConditionAvailable = "Available"
	// ConditionProgressing is True while Instances are being created, replaced or deleted to match the spec.
	ConditionProgressing = "Progressing"
	// ConditionReplicasReady is True when every desired Instance is Ready.
	ConditionReplicasReady = "ReplicasReady"
	// ConditionReady is True while the Pod of an Instance is ready.
	ConditionReady = "Ready"
	// ConditionProgrammed is True when the Pod of an Instance has a node.
	ConditionProgrammed = "Programmed"
	// ConditionQuotaGranted is True when the quota of an Instance is granted, or no quota is configured.
	ConditionQuotaGranted = "QuotaGranted"
	// ConditionReferencedDataReady is True when every ConfigMap and Secret that the template needs is in the cell. WorkloadDeployments
	// and Instances whose template names none do not have it.
	ConditionReferencedDataReady = "ReferencedDataReady"
)

// Reasons of Ready on an Instance.
const (
	// ReasonSchedulingGatesPresent says that the Instance waits for its scheduling gates to be lifted.
	ReasonSchedulingGatesPresent = "SchedulingGatesPresent"
	// ReasonProvisioning says that the Instance is starting.
	ReasonProvisioning = "Provisioning"
	// ReasonImageUnavailable says that an image cannot be pulled.
	ReasonImageUnavailable = "ImageUnavailable"
	// ReasonInstanceCrashing says that a container exits repeatedly.
	ReasonInstanceCrashing = "InstanceCrashing"
	// ReasonConfigurationError says that the Instance cannot run until its template is corrected.
	ReasonConfigurationError = "ConfigurationError"
	// ReasonAvailable says that the Instance is ready. It is a reason of Available on an Instance as well.
	ReasonAvailable = "Available"
)

// Reasons of Available on an Instance.
const (
	// ReasonStarting says that the Instance is not ready yet.
	ReasonStarting = "Starting"
	// ReasonStopping says that the Instance is being deleted.
	ReasonStopping = "Stopping"
	// ReasonStopped says that the Instance has ended.
	ReasonStopped = "Stopped"
)

// Reasons of Programmed on an Instance.
const (
	// ReasonPendingQuota says that the Instance waits for the gate Quota to be lifted.
	ReasonPendingQuota = "PendingQuota"
	// ReasonPendingProgramming says that the Instance waits for another gate to be lifted.
	ReasonPendingProgramming = "PendingProgramming"
	// ReasonProgrammingInProgress says that the Pod has no node yet.
	ReasonProgrammingInProgress = "ProgrammingInProgress"
	// ReasonProgrammed says that the Pod has a node.
	ReasonProgrammed = "Programmed"
)

// Reasons of QuotaGranted on an Instance.
const (
	// ReasonPendingEvaluation says that the quota is not granted yet.
	ReasonPendingEvaluation = "PendingEvaluation"
	// ReasonQuotaAvailable says that the quota is granted.
	ReasonQuotaAvailable = "QuotaAvailable"
	// ReasonQuotaDisabled says that no quota is configured.
	ReasonQuotaDisabled = "QuotaDisabled"
)

// Reasons of ReferencedDataReady.
const (
	// ReasonResolving says that the data has not been read yet.
	ReasonResolving = "Resolving"
	// ReasonAwaitingPropagation says that the data has not reached the cell yet.
	ReasonAwaitingPropagation = "AwaitingPropagation"
	// ReasonSourceNotFound says that the project does not have an object that the template needs.
	ReasonSourceNotFound = "SourceNotFound"
	// ReasonSourceUnauthorized says that the add-on may not read an object in the project.
	ReasonSourceUnauthorized = "SourceUnauthorized"
	// ReasonSourceTooLarge says that an object, or all objects together, exceed the size that is propagated to cells.
	ReasonSourceTooLarge = "SourceTooLarge"
	// ReasonSourceRefused says that an object has a type or name that is not propagated to cells.
	ReasonSourceRefused = "SourceRefused"
	// ReasonReferencedDataPresent says that the data is in the cell.
	ReasonReferencedDataPresent = "Ready"
)

// Reasons of Available on a WorkloadDeployment.
const (
	// ReasonStableInstanceFound says that at least one Instance is Ready.
	ReasonStableInstanceFound = "StableInstanceFound"
	// ReasonInstancesProvisioning says that no Instance is Ready yet.
	ReasonInstancesProvisioning = "InstancesProvisioning"
	// ReasonQuotaNotGranted says that no Instance is Ready and one waits for quota.
	ReasonQuotaNotGranted = "QuotaNotGranted"
	// ReasonReferencedDataNotReady says that no Instance is Ready and one waits for data.
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
	// ReasonRollingOut says that Instances are being created, replaced or deleted.
	ReasonRollingOut = "RollingOut"
	// ReasonSettled says that the Instances match the spec.
	ReasonSettled = "Settled"
	// ReasonAllReplicasReady says that every desired Instance is Ready.
	ReasonAllReplicasReady = "AllReplicasReady"
	// ReasonReplicasNotReady says that a desired Instance is missing or not Ready.
	ReasonReplicasNotReady = "ReplicasNotReady"
)

// Names of scheduling gates.
const (
	// GateQuota is lifted when the quota of the Instance is granted.
	GateQuota = "Quota"
	// GateNetwork is lifted when the network of the Instance exists.
	GateNetwork = "Network"
	// GateReferencedData is lifted when the data that the template needs is in the cell.
	GateReferencedData = "ReferencedData"
)
