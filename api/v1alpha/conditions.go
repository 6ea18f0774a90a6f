// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

// Condition types. The status types list the condition types of each kind.
const (
	// ConditionAvailable is True while enough Instances are Available: all that are wanted, but for as many as
	// rollout.maxUnavailable and the disruption budget allow, and at least one. An Instance is Available when it has been
	// Ready for minReadySeconds.
	ConditionAvailable = "Available"
	// ConditionProgressing is True while Instances are being created, replaced or deleted to match the spec. It is
	// False when they match, and with reason ProgressDeadlineExceeded when there is no progress.
	ConditionProgressing = "Progressing"
	// ConditionDegraded, on a Workload, is True while a cause keeps Instances from becoming Available, with the most urgent
	// cause as its reason, such as ImageUnavailable. The message names the city and the Instance. While it is False, its reason
	// is the one of condition Progressing.
	ConditionDegraded = "Degraded"
	// ConditionReplicasReady is True when every desired Instance is Ready.
	ConditionReplicasReady = "ReplicasReady"
	// ConditionReady is True while the Pod of an Instance is ready: its readiness probes succeed. On a Workload it is True
	// while the Workload is Available and all its Instances match the newest spec. kstatus waits for it.
	ConditionReady = "Ready"
	// ConditionStalled, on a Workload, is True while the progress deadline is exceeded, and while the rollout of the newest
	// template is undone because it has failed. It is absent otherwise. kstatus fails at it.
	ConditionStalled = "Stalled"
	// ConditionProgrammed is True when the Pod of an Instance has a node.
	ConditionProgrammed = "Programmed"
	// ConditionQuotaGranted is True when the quota of an Instance is granted, or no quota is configured.
	ConditionQuotaGranted = "QuotaGranted"
	// ConditionReferencedDataReady is True when every ConfigMap and Secret that the template needs is in the cell.
	// WorkloadDeployments and Instances whose template names none do not have it.
	ConditionReferencedDataReady = "ReferencedDataReady"
	// ConditionDataCurrent, on a Workload with policy Rollout of spec.rollout.onDataChange, is True while Instances are
	// started with the newest data of the project. The condition is absent without the policy. On an Instance it is False
	// while newer data waits for a restart, and absent otherwise.
	ConditionDataCurrent = "DataCurrent"
	// ConditionSuspended, on a WorkloadDeployment of a suspended project, is True when every cell has confirmed that the
	// Instances are stopped. The condition is absent while the project is not suspended.
	ConditionSuspended = "Suspended"
	// ConditionSpecReceived, on a WorkloadDeployment, is False while a cell lacks fields of its spec. The condition is
	// absent otherwise.
	ConditionSpecReceived = "SpecReceived"
	// ConditionScheduled, on a WorkloadDeployment and a Workload, is False since Karmada found no cell for Instances. The
	// condition is absent otherwise.
	ConditionScheduled = "Scheduled"
	// ConditionTemplateAccepted, on a WorkloadDeployment, is False while a cell would refuse the Pods of its template, so
	// that Instances keep running with the earlier one. The condition is absent otherwise.
	ConditionTemplateAccepted = "TemplateAccepted"
	// ConditionReportValid, on a WorkloadDeployment, is False while fields of a cell's report have a wrong type or range.
	// The condition is absent otherwise.
	ConditionReportValid = "ReportValid"
	// ConditionStatusCurrent, on a project WorkloadDeployment, is True while its status and its Instances show what the
	// cells report now. The other reasons of StatusCurrent name where the path from the cells is interrupted. They are
	// also the reasons of Ready on an Instance whose state is Unknown.
	ConditionStatusCurrent = "StatusCurrent"
	// ConditionScalingActive, on a WorkloadDeployment that is scaled by metrics, is True while the autoscaler of its cell
	// gets these metrics. Its reasons are the reasons of Kubernetes' HorizontalPodAutoscaler, and
	// ReasonAutoscalerStarting.
	ConditionScalingActive = "ScalingActive"
	// ConditionServiceProgrammed, on a WorkloadDeployment and a Workload with spec.service, is True while every cell has the
	// Service. The condition is absent without spec.service.
	ConditionServiceProgrammed = "ServiceProgrammed"
	// ConditionNamesProgrammed, on an exposed Workload with DNS names, is True while each name has the addresses of the
	// cities that serve.
	ConditionNamesProgrammed = "NamesProgrammed"
	// ConditionInstanceTypeDeprecated, on a Workload, is True when the instance type that it names is Deprecated. It is
	// missing or False otherwise.
	ConditionInstanceTypeDeprecated = "InstanceTypeDeprecated"
	// ConditionInstanceTypeDisabled, on a Workload, is True when the instance type that it names is Disabled or does not
	// exist: running Instances keep running, and no more can be requested. It is missing or False otherwise.
	ConditionInstanceTypeDisabled = "InstanceTypeDisabled"
	// ConditionDisruptionBudget, on a Workload with spec.disruption, is True while the floors that the cells have
	// confirmed guarantee the minimum. A raised minimum is in force when the condition is True for the generation that has
	// it.
	ConditionDisruptionBudget = "DisruptionBudget"
)

// Reasons of DisruptionBudget on a Workload.
const (
	// ReasonBudgetInForce says that the cells keep the minimum, and voluntary disruptions are possible.
	ReasonBudgetInForce = "BudgetInForce"
	// ReasonBudgetNotConfirmed says that cells have not confirmed their newest floors.
	ReasonBudgetNotConfirmed = "BudgetNotConfirmed"
	// ReasonNoDisruptionAllowed says that no voluntary disruption is possible: the minimum needs every Instance, or too
	// few are Available.
	ReasonNoDisruptionAllowed = "NoDisruptionAllowed"
)

// Reasons of InstanceTypeDeprecated and InstanceTypeDisabled on a Workload. The first two are also the reason of
// Available on a placement that cannot start.
const (
	// ReasonInstanceTypeNotFound says that the instance type that the template names does not exist.
	ReasonInstanceTypeNotFound = "InstanceTypeNotFound"
	// ReasonDefaultInstanceTypeNotFound says that the template names no instance type, and the operator's default type
	// does not exist.
	ReasonDefaultInstanceTypeNotFound = "DefaultInstanceTypeNotFound"
	// ReasonInstanceTypeDisabled says that the instance type is Disabled.
	ReasonInstanceTypeDisabled = "InstanceTypeDisabled"
	// ReasonInstanceTypeDeprecated says that the instance type is Deprecated.
	ReasonInstanceTypeDeprecated = "InstanceTypeDeprecated"
	// ReasonInstanceTypeUsable says that the instance type is usable again, or the template names another one.
	ReasonInstanceTypeUsable = "InstanceTypeUsable"
)

// ReasonAutoscalerStarting says that the autoscaler of the cell has not read the metrics yet. It is a reason of
// ScalingActive=Unknown.
const ReasonAutoscalerStarting = "AutoscalerStarting"

// Reasons of StatusCurrent, and of Ready=Unknown on an Instance.
const (
	// ReasonReported says that all cells report the current generation of the deployment.
	ReasonReported = "Reported"
	// ReasonAwaitingReport says that the cells have not yet reported on a recent change.
	ReasonAwaitingReport = "AwaitingReport"
	// ReasonNotPropagated says that the hub has no copy of the deployment.
	ReasonNotPropagated = "NotPropagated"
	// ReasonCellNotReady says that Karmada cannot reach a cell.
	ReasonCellNotReady = "CellNotReady"
	// ReasonAgentNotReady says that the agent of a cell is not running, so the cell does not report.
	ReasonAgentNotReady = "AgentNotReady"
	// ReasonNotBound says that Karmada has no ResourceBinding for the deployment, or the ResourceBinding belongs to an
	// earlier deployment with the same name.
	ReasonNotBound = "NotBound"
	// ReasonNotApplied says that Karmada could not write the deployment into a cell.
	ReasonNotApplied = "NotApplied"
	// ReasonOverrideNotApplied says that Karmada cannot apply an override policy, and sends no change of the deployment to a cell.
	// Instances keep running, and their state is as the cell reports it.
	ReasonOverrideNotApplied = "OverrideNotApplied"
	// ReasonNoReport says that a cell does not report on the deployment.
	ReasonNoReport = "NoReport"
	// ReasonReportOutdated says that a cell has reported only an earlier generation for too long.
	ReasonReportOutdated = "ReportOutdated"
	// ReasonKarmadaNotRunning says that karmada-controller-manager is not running, so the state on the hub is not current.
	ReasonKarmadaNotRunning = "KarmadaNotRunning"
)

// Reasons of Ready on an Instance.
const (
	// ReasonSchedulingGatesPresent says that the Instance has scheduling gates that are not lifted yet.
	ReasonSchedulingGatesPresent = "SchedulingGatesPresent"
	// ReasonProvisioning says that the Instance is starting.
	ReasonProvisioning = "Provisioning"
	// ReasonImageUnavailable says that an image cannot be pulled.
	ReasonImageUnavailable = "ImageUnavailable"
	// ReasonUnschedulable says that no node of the cell can take the Pod. The message is the scheduler's.
	ReasonUnschedulable = "Unschedulable"
	// ReasonInstanceCrashing says that a container exits repeatedly.
	ReasonInstanceCrashing = "InstanceCrashing"
	// ReasonOOMKilled says that a container was killed because it used more memory than its limit.
	ReasonOOMKilled = "OOMKilled"
	// ReasonProbeFailing says that a container runs, and its readiness probe fails. The message has the answer that the
	// probe got.
	ReasonProbeFailing = "ProbeFailing"
	// ReasonEvicted says that the node evicted the Pod, which is replaced. The message is the kubelet's.
	ReasonEvicted = "Evicted"
	// ReasonNodeLost says that the node of the Pod does not respond.
	ReasonNodeLost = "NodeLost"
	// ReasonConfigurationError says that the Instance cannot run until its template is corrected.
	ReasonConfigurationError = "ConfigurationError"
	// ReasonCellQuotaExceeded says that a ResourceQuota of the cell, which is not the project's quota, refuses the Pod.
	ReasonCellQuotaExceeded = "CellQuotaExceeded"
	// ReasonPodRefused says that the admission of the cell refuses the Pod: its Pod security, a LimitRange, a policy or a
	// webhook, or a webhook that does not answer.
	ReasonPodRefused = "PodRefused"
	// ReasonAvailable says that the Instance is ready. It is a reason of Available on an Instance as well.
	ReasonAvailable = "Available"
)

// ReasonProjectSuspended says that the project is suspended: its Instances are stopped until an operator resumes the
// project, and then start again automatically. It is a reason of Ready, Available and Programmed on an Instance, and of
// Available on a WorkloadDeployment, a placement and a Workload.
const ReasonProjectSuspended = "ProjectSuspended"

// ReasonFieldsMissing says that the CRD or the agent of a cell is older than the hub and lacks fields of the deployment
// that the hub has set. The cell starts nothing new, and what runs continues. It is the reason of SpecReceived on a
// WorkloadDeployment and a reason of Ready and Programmed on an Instance.
const ReasonFieldsMissing = "FieldsMissing"

// ReasonFieldsOverridden says that an override policy has changed fields of the deployment that the hub counts on, such
// as the indices of Instances. The cell starts nothing new, and what runs continues. It is a reason of SpecReceived on a
// WorkloadDeployment and of Ready on an Instance.
const ReasonFieldsOverridden = "FieldsOverridden"

// ReasonReportFieldsIgnored says that fields of a cell's report have a wrong type or range. They are ignored, and the
// rest of the report counts. It is the reason of ReportValid on a WorkloadDeployment.
const ReasonReportFieldsIgnored = "ReportFieldsIgnored"

// Reasons of Suspended on a WorkloadDeployment, beside ReasonProjectSuspended.
const (
	// ReasonSuspending says that Instances are being stopped.
	ReasonSuspending = "Suspending"
	// ReasonNotConfirmed says that a cell has not confirmed yet that it has stopped the Instances. The message names the
	// cell and the cause.
	ReasonNotConfirmed = "NotConfirmed"
)

// Reasons of Available on an Instance.
const (
	// ReasonStarting says that the Instance is not Ready, or has not been Ready for minReadySeconds.
	ReasonStarting = "Starting"
	// ReasonStopping says that the Instance is being deleted.
	ReasonStopping = "Stopping"
	// ReasonStopped says that the Pod of the Instance has ended.
	ReasonStopped = "Stopped"
)

// Reasons of Programmed on an Instance.
const (
	// ReasonPendingQuota says that the Instance waits for scheduling gate Quota.
	ReasonPendingQuota = "PendingQuota"
	// ReasonPendingProgramming says that the Instance waits for a scheduling gate other than Quota.
	ReasonPendingProgramming = "PendingProgramming"
	// ReasonProgrammingInProgress says that the Pod is not scheduled to a node yet.
	ReasonProgrammingInProgress = "ProgrammingInProgress"
	// ReasonProgrammed says that the Pod is scheduled to a node.
	ReasonProgrammed = "Programmed"
	// ReasonFieldsNotHonoured says that the Pod is scheduled, but a field of the template has no effect in this cell.
	ReasonFieldsNotHonoured = "FieldsNotHonoured"
	// ReasonRuntimeClassNotServed says that this cell does not serve the runtime.class of the template. It is a reason of
	// Ready as well.
	ReasonRuntimeClassNotServed = "RuntimeClassNotServed"
)

// Reasons of QuotaGranted on an Instance.
const (
	// ReasonPendingEvaluation says that the quota is not granted yet.
	ReasonPendingEvaluation = "PendingEvaluation"
	// ReasonQuotaAvailable says that the quota is granted.
	ReasonQuotaAvailable = "QuotaAvailable"
	// ReasonQuotaDisabled says that no quota is configured.
	ReasonQuotaDisabled = "QuotaDisabled"
	// ReasonQuotaExceeded says that the remaining quota of the project is too small.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonQuotaNoBudget says that the project has no quota for a resource.
	ReasonQuotaNoBudget = "QuotaNoBudget"
	// ReasonQuotaValidationFailed says that Milo does not accept the claim.
	ReasonQuotaValidationFailed = "ValidationFailed"
	// ReasonQuotaMisconfigured says that Milo has no quota for the resource, or the add-on may not claim it.
	ReasonQuotaMisconfigured = "QuotaMisconfigured"
	// ReasonQuotaBackendUnavailable says that Milo does not respond.
	ReasonQuotaBackendUnavailable = "QuotaBackendUnavailable"
	// ReasonQuotaProjectNotFound says that the project no longer exists.
	ReasonQuotaProjectNotFound = "QuotaProjectNotFound"
	// ReasonQuotaNamespaceNotFound says that the namespace no longer exists in the project.
	ReasonQuotaNamespaceNotFound = "QuotaNamespaceNotFound"
)

// Reasons of ReferencedDataReady.
const (
	// ReasonResolving says that the data has not been read from the project yet.
	ReasonResolving = "Resolving"
	// ReasonAwaitingPropagation says that the data has not reached the cell yet.
	ReasonAwaitingPropagation = "AwaitingPropagation"
	// ReasonSourceNotFound says that the project does not have an object that the template needs.
	ReasonSourceNotFound = "SourceNotFound"
	// ReasonSourceUnauthorized says that the add-on may not read an object in the project.
	ReasonSourceUnauthorized = "SourceUnauthorized"
	// ReasonSourceTooLarge says that an object, or all objects together, exceed the size limit for propagation to cells.
	ReasonSourceTooLarge = "SourceTooLarge"
	// ReasonSourceRefused says that an object has a type or a name that the add-on does not propagate to cells.
	ReasonSourceRefused = "SourceRefused"
	// ReasonReferencedDataTaken says that the data is in the cell, but a policy of another party propagates it, too.
	ReasonReferencedDataTaken = "TakenByPolicy"
	// ReasonReferencedDataDiffers says that a cell keeps another content than the project has: a customization of Karmada
	// or a party in the cell retains it. On an Instance, whose cell cannot know the cause, it may also be an override policy.
	ReasonReferencedDataDiffers = "ContentDiffers"
	// ReasonReferencedDataPresent says that the data is in the cell.
	ReasonReferencedDataPresent = "Ready"
)

// Reasons of DataCurrent. The reasons of ReferencedDataReady about the sources are its reasons, too.
const (
	// ReasonNewestData says that Instances are started with the newest data of the project.
	ReasonNewestData = "NewestData"
	// ReasonDataWaits says that the data changes often: a newer content is taken later, so that the rollout can proceed.
	ReasonDataWaits = "NewerDataWaits"
	// ReasonDataHeld says that an undo holds the data: the content in the project differs from it.
	ReasonDataHeld = "DataHeld"
	// ReasonRestartPending says that the data of an Instance has changed since the Instance was started. Environment
	// variables and mounts with a subPath do not follow a change.
	ReasonRestartPending = "RestartPending"
	// ReasonSnapshotGone says that the data of an earlier revision is no longer kept.
	ReasonSnapshotGone = "SnapshotGone"
)

// Reasons of Available on a WorkloadDeployment.
const (
	// ReasonStableInstanceFound says that enough Instances are Available: all but as many as rollout.maxUnavailable
	// allows, at least one.
	ReasonStableInstanceFound = "StableInstanceFound"
	// ReasonInstancesProvisioning says that too few Instances are Available yet.
	ReasonInstancesProvisioning = "InstancesProvisioning"
	// ReasonQuotaNotGranted says that too few Instances are Available, and at least one waits for quota.
	ReasonQuotaNotGranted = "QuotaNotGranted"
	// ReasonReferencedDataNotReady says that too few Instances are Available, and at least one waits for a ConfigMap or
	// Secret.
	ReasonReferencedDataNotReady = "ReferencedDataNotReady"
	// ReasonNoMatchingLocation says that the city has no location or no cell.
	ReasonNoMatchingLocation = "NoMatchingLocation"
)

// Reasons of Scheduled. They are also reasons of Available on a WorkloadDeployment, a placement and a Workload, and of
// ReplicasReady.
const (
	// ReasonNoCapacity says that no cell of the city has enough capacity for the Instances.
	ReasonNoCapacity = "NoCapacity"
	// ReasonCellsTainted says that a taint keeps new Instances from cells of the city: an operator has cordoned them.
	ReasonCellsTainted = "CellsTainted"
)

// Reasons of Available on a Workload and on its placements.
const (
	// ReasonAvailablePlacementFound says that enough Instances of the Workload are Available: all but as many as
	// rollout.maxUnavailable and the disruption budget allow, at least one.
	ReasonAvailablePlacementFound = "AvailablePlacementFound"
	// ReasonNetworkProvisioning says that too few Instances are Available, and at least one waits for its network.
	ReasonNetworkProvisioning = "NetworkProvisioning"
	// ReasonNetworkNotFound says that the project does not have a network that the template names. Create it, or name
	// another.
	ReasonNetworkNotFound = "NetworkNotFound"
	// ReasonNoAvailablePlacements says that no placement is available.
	ReasonNoAvailablePlacements = "NoAvailablePlacements"
	// ReasonAvailableDeploymentFound says that enough Instances of the placement are Available, counted as for the
	// Workload.
	ReasonAvailableDeploymentFound = "AvailableDeploymentFound"
	// ReasonTooFewAvailable says that some Instances are Available, and too few of all that the cities want together.
	ReasonTooFewAvailable = "TooFewAvailable"
	// ReasonNoAvailableDeployments says that no deployment of the placement is available.
	ReasonNoAvailableDeployments = "NoAvailableDeployments"
)

// ReasonScaledToZero says that no Instance is wanted: minReplicas is 0. It is a reason of Available=True on a
// WorkloadDeployment, a placement and a Workload.
const ReasonScaledToZero = "ScaledToZero"

// ReasonNotSettled says that the Workload is not Available, or its Instances do not match its newest spec. It is a
// reason of Ready on a Workload, which is otherwise True because of Settled.
const ReasonNotSettled = "NotSettled"

// ReasonRolloutUndone says that the rollout of the newest template has failed and is undone: Instances have the last
// complete template, and no further Instance gets the newest one. It is a reason of Ready and Stalled on a Workload.
const ReasonRolloutUndone = "RolloutUndone"

// Reasons of Progressing and ReplicasReady.
const (
	// ReasonRollingOut says that Instances are being created, replaced or deleted.
	ReasonRollingOut = "RollingOut"
	// ReasonProgressDeadlineExceeded says that the Instances do not match the spec, and there has been no progress for
	// progressDeadlineSeconds.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonTrafficLeaves says that the Instances of a deleted Workload run until clients have left its addresses.
	ReasonTrafficLeaves = "TrafficLeaves"
	// ReasonSettled says that the Instances match the spec.
	ReasonSettled = "Settled"
	// ReasonAllReplicasReady says that every desired Instance is Ready.
	ReasonAllReplicasReady = "AllReplicasReady"
	// ReasonReplicasNotReady says that a desired Instance is missing or not Ready.
	ReasonReplicasNotReady = "ReplicasNotReady"
)

// ReasonRolloutPaused says that the rollout of a Workload's template waits for a user. It is a reason of Progressing on
// a Workload.
const ReasonRolloutPaused = "RolloutPaused"

// Names of scheduling gates.
const (
	// GateQuota is lifted when the quota of the Instance is granted.
	GateQuota = "Quota"
	// GateNetwork is lifted when the network of the Instance exists.
	GateNetwork = "Network"
	// GateReferencedData is lifted when the data that the template needs is in the cell.
	GateReferencedData = "ReferencedData"
)

// MaxMessage is the longest message of a condition on an Instance, in bytes. Each report of a deployment has all of
// them, and Karmada writes it several times.
const MaxMessage = 512
