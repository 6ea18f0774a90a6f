// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"slices"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Conditions that share reasons.
var (
	starts      = []string{v1alpha.ConditionReady}
	current     = []string{v1alpha.ConditionStatusCurrent, v1alpha.ConditionReady, v1alpha.ConditionAvailable, v1alpha.ConditionReplicasReady}
	available   = []string{v1alpha.ConditionAvailable}
	programmed  = []string{v1alpha.ConditionProgrammed}
	data        = []string{v1alpha.ConditionReferencedDataReady}
	dataSources = []string{v1alpha.ConditionReferencedDataReady, v1alpha.ConditionDataCurrent}
	newestData  = []string{v1alpha.ConditionDataCurrent}
	// Causes of Instances are also the reasons of their deployments.
	obstacles  = []string{v1alpha.ConditionReady, v1alpha.ConditionAvailable, v1alpha.ConditionReplicasReady}
	refusals   = append([]string{v1alpha.ConditionProgrammed, v1alpha.ConditionTemplateAccepted}, obstacles...)
	unreceived = append([]string{v1alpha.ConditionSpecReceived, v1alpha.ConditionProgrammed}, obstacles...)
	quota      = []string{v1alpha.ConditionQuotaGranted}
	unplaced   = []string{v1alpha.ConditionScheduled, v1alpha.ConditionAvailable, v1alpha.ConditionReplicasReady}
	progress   = []string{v1alpha.ConditionProgressing}
	agent      = []string{v1alpha.ConditionComputeAgentReady}
	cordoned   = []string{v1alpha.ConditionComputeNodesSchedulable}
	confirmed  = []string{v1alpha.ConditionComputeCityConfirmed}
	restricted = []string{v1alpha.ConditionComputeAccessRestricted}
	forgotten  = []string{v1alpha.ConditionComputeForgotten}
	scaling    = []string{v1alpha.ConditionScalingActive}
	service    = []string{v1alpha.ConditionServiceProgrammed}
	dnsNames   = []string{v1alpha.ConditionNamesProgrammed}
)

// Normal durations.
const (
	atOnce  time.Duration = 0
	seconds               = 30 * time.Second
	minutes               = 2 * time.Minute
	start                 = 5 * time.Minute
	// anHour is the longest interval between two contents of data that changes often.
	anHour = time.Hour
)

// none is the late action of reasons that have no normal duration.
var none = Action{}

func nobody(advice string) Action { return Action{ActorNobody, advice} }

func consumer(advice string) Action { return Action{ActorConsumer, advice} }

func operator(advice string) Action { return Action{ActorOperator, advice} }

// remedies has every reason once for each set of conditions with the reason: of one rank, the most urgent reason first. A test finds
// a reason that is missing.
var remedies = slices.Concat(instanceRemedies, deploymentRemedies, serviceRemedies, sessionRemedies)

// instanceRemedies are for the reasons of an Instance alone.
var instanceRemedies = []Remedy{
	{v1alpha.ReasonAvailable, RankWell, Forever, nobody(""), none, []string{v1alpha.ConditionReady, v1alpha.ConditionAvailable}},
	{
		v1alpha.ReasonRuntimeClassNotServed, RankCause, atOnce,
		consumer("Choose a runtime.class that the cells of the city serve, or omit it: the message names the " +
			"classes. Or the operator adds the class to a cell."),
		none, refusals,
	},
	{
		v1alpha.ReasonConfigurationError, RankCause, atOnce,
		consumer("Correct the field of the template that the message names."),
		none, refusals,
	},
	{
		v1alpha.ReasonCellQuotaExceeded, RankCause, atOnce,
		operator("Raise the ResourceQuota that the message names in the namespace of the cell, or remove it."),
		none, refusals,
	},
	{
		v1alpha.ReasonPodRefused, RankCause, atOnce,
		operator("Let the policy, LimitRange or webhook of the cell that the message names accept the Pod, or restore a webhook that does not " +
			"answer. Or the consumer changes the field of the template that the message names."),
		none, refusals,
	},
	{
		v1alpha.ReasonNodeLost, RankCause, atOnce,
		operator("Restore the node that the message names. The Instance starts on another node within a minute, " +
			"unless its template has onNodeLoss Wait. If the node is shut down for good, add the taint " +
			"node.kubernetes.io/out-of-service=nodeshutdown:NoExecute to it: then such an Instance starts on another " +
			"node, too."),
		none, obstacles,
	},
	{
		v1alpha.ReasonImageUnavailable, RankCause, atOnce,
		consumer("Correct the image of the container, or add a pull Secret with access to the image to the template."),
		none, obstacles,
	},
	{
		v1alpha.ReasonEvicted, RankCause, atOnce,
		consumer("Keep to the limit that the message names, or raise the limit. If the message says that the node was " +
			"low on a resource, the operator adds capacity."),
		none, obstacles,
	},
	{
		v1alpha.ReasonInstanceCrashing, RankCause, atOnce,
		consumer("Correct the command, its arguments or the data that it reads: a container exits repeatedly. The " +
			"message has its exit code."),
		none, obstacles,
	},
	{
		v1alpha.ReasonOOMKilled, RankCause, atOnce,
		consumer("Raise the memory limit of the container that the message names, choose a larger instance type, " +
			"or let the container use less memory."),
		none, obstacles,
	},
	{
		v1alpha.ReasonProbeFailing, RankCause, atOnce,
		consumer("Correct the readiness probe that the message names, or the program that does not answer it. The " +
			"Instance is Ready as soon as the probe succeeds."),
		none, obstacles,
	},
	{
		v1alpha.ReasonUnschedulable, RankCause, minutes, nobody("The scheduler of the cell retries until a node has " +
			"capacity for the Pod."),
		operator("Add nodes to the cell, or free capacity on them. Or the consumer asks for fewer or smaller " +
			"Instances. The message is the scheduler's."),
		obstacles,
	},
	{
		v1alpha.ReasonSchedulingGatesPresent, RankSummary, minutes,
		nobody("The Instance starts when its scheduling gates are lifted: conditions QuotaGranted and " +
			"ReferencedDataReady name the missing quota and objects."),
		consumer("Provide the quota and the objects that conditions QuotaGranted and ReferencedDataReady name. If only gate Network is " +
			"left, ask the operator of the network."),
		starts,
	},
	{
		v1alpha.ReasonProvisioning, RankStep, start, nobody("The Instance becomes Ready when its containers run and pass " +
			"their probes."),
		consumer("Check the containers that the message names: their images, commands and probes. If the message " +
			"names none, ask the operator to check the Pod in the cell."),
		starts,
	},

	{
		v1alpha.ReasonStarting, RankSummary, start, nobody("The Instance becomes Available when it has been Ready for minReadySeconds."),
		consumer("See condition Ready of the Instance: it has the cause."), available,
	},
	{
		v1alpha.ReasonStopping, RankStep, minutes, nobody("The Instance is being deleted."),
		operator("Check the Pod in the cell: its node does not stop the Pod, or a finalizer holds the Pod."), available,
	},
	{
		v1alpha.ReasonStopped, RankStep, minutes, nobody("The cell replaces the Pod, which has ended."),
		operator("Check the Pod and the logs of karmada-compute-cell in the cell: the agent does not replace " +
			"the Pod."),
		available,
	},

	{
		v1alpha.ReasonPendingQuota, RankSummary, minutes, nobody("The Instance starts when its quota is granted: see " +
			"condition QuotaGranted."),
		consumer("Provide the quota that condition QuotaGranted names."), programmed,
	},
	{
		v1alpha.ReasonPendingProgramming, RankSummary, minutes, nobody("The Instance starts when its other gates are " +
			"lifted: see condition ReferencedDataReady."),
		consumer("Provide the objects that condition ReferencedDataReady names. If only gate Network is left, ask the " +
			"operator of the network."),
		programmed,
	},
	{
		v1alpha.ReasonProgrammingInProgress, RankSummary, minutes, nobody("The scheduler of the cell chooses a node for " +
			"the Pod."),
		operator("Check the Pod in the cell: condition Ready of the Instance has the cause."), programmed,
	},
	{v1alpha.ReasonProgrammed, RankWell, Forever, nobody(""), none, programmed},
	{
		v1alpha.ReasonFieldsNotHonoured, RankStep, atOnce,
		consumer("Remove the field that the message names from the template: it has no effect in this cell."),
		none, programmed,
	},

	{v1alpha.ReasonQuotaAvailable, RankWell, Forever, nobody(""), none, quota},
	{v1alpha.ReasonQuotaDisabled, RankWell, Forever, nobody("No quota is configured for the project."), none, quota},
	{
		v1alpha.ReasonPendingEvaluation, RankStep, seconds, nobody("Milo evaluates the claim."),
		operator("Check the ResourceClaim in the project and at Milo's quota controller: the claim is not " +
			"evaluated."),
		quota,
	},
	{
		v1alpha.ReasonQuotaExceeded, RankCause, atOnce,
		consumer("Ask for fewer or smaller Instances, or for a higher quota of the resource that the message " +
			"names. The add-on claims it again."),
		none, quota,
	},
	{
		v1alpha.ReasonQuotaNoBudget, RankCause, atOnce,
		consumer("Ask for a quota of the resource that the message names. The add-on claims it again."), none, quota,
	},
	{
		v1alpha.ReasonQuotaValidationFailed, RankCause, atOnce,
		operator("Milo refuses the claim: see the message, and condition Granted of the ResourceClaim in the project."),
		none, quota,
	},
	{
		v1alpha.ReasonQuotaMisconfigured, RankCause, atOnce,
		operator("Register the resource that the message names with Milo, or grant the add-on the right to claim it."),
		none, quota,
	},
	{
		v1alpha.ReasonQuotaBackendUnavailable, RankCause, atOnce,
		operator("Restore Milo's quota. The add-on then claims again. Running Instances keep running."), none, quota,
	},
	{
		v1alpha.ReasonQuotaProjectNotFound, RankCause, minutes, nobody("The project no longer exists: its leftover " +
			"objects are deleted."),
		operator("Check the logs of karmada-compute: the leftover objects of the project are not deleted."), quota,
	},
	{
		v1alpha.ReasonQuotaNamespaceNotFound, RankCause, minutes, nobody("The namespace no longer exists in the project: " +
			"its leftover objects are deleted."),
		operator("Check the logs of karmada-compute: the leftover objects of the namespace are not deleted."), quota,
	},

	{
		v1alpha.ReasonResolving, RankStep, seconds, nobody("The add-on reads the data from the project."),
		operator("Check the logs of karmada-compute: the data is not read from the project."), dataSources,
	},
	{
		v1alpha.ReasonAwaitingPropagation, RankStep, seconds, nobody("Karmada propagates the data to the cell."),
		operator("Check the ResourceBinding and the Work of the ConfigMap or Secret on the hub: the data does " +
			"not reach the cell."),
		data,
	},
	{
		v1alpha.ReasonSnapshotGone, RankCause, atOnce,
		consumer("Write the content that the message names into the ConfigMap or Secret, or roll back to another revision."),
		none, dataSources,
	},
	{
		v1alpha.ReasonSourceNotFound, RankCause, atOnce,
		consumer("Create the ConfigMap or Secret that the message names, or remove it from the template."),
		none, dataSources,
	},
	{
		v1alpha.ReasonSourceTooLarge, RankCause, atOnce,
		consumer("Reduce the data to at most 256 KiB for each object and 1 MiB in all, or put it into the image."),
		none, dataSources,
	},
	{
		v1alpha.ReasonSourceRefused, RankCause, atOnce,
		consumer("Use another type or name of object: the message names the refused object."),
		none, dataSources,
	},
	{
		v1alpha.ReasonSourceUnauthorized, RankCause, atOnce,
		operator("Grant the add-on access to the object in the project: see the roles of the chart for projects."),
		none, dataSources,
	},
	{
		v1alpha.ReasonReferencedDataTaken, RankCause, atOnce,
		operator("Exclude the hub namespaces of projects from the resourceSelectors of the policy that the message names: it sends data " +
			"of projects to its own cells."),
		none, data,
	},
	{
		v1alpha.ReasonReferencedDataDiffers, RankCause, atOnce,
		operator("Find out what changes the object in the cell: a ResourceInterpreterCustomization or webhook with retention on the hub, a " +
			"mutating webhook or a controller in the cell. Exclude objects with label compute.datumapis.com/data-hash from it. An " +
			"override policy that changes the object is honoured."),
		none, data,
	},
	{
		v1alpha.ReasonDataHeld, RankCause, atOnce,
		consumer("Correct the ConfigMap or Secret that the message names: the new content rolls out. To roll out the present content, " +
			"remove annotation compute.datumapis.com/rollout-data of the Workload."),
		none, newestData,
	},
	{
		v1alpha.ReasonDataWaits, RankStep, anHour, nobody("The newest content rolls out at the time in the message."),
		consumer("Change the ConfigMap or Secret less often, or list it in neither list of spec.rollout.onDataChange."), newestData,
	},
	{
		v1alpha.ReasonRestartPending, RankStep, atOnce,
		consumer("Restart the Instances: `kubectl compute restart NAME` replaces them one after the other. Or let a change of data " +
			"be a rollout: spec.rollout.onDataChange."),
		none, newestData,
	},
	{v1alpha.ReasonNewestData, RankWell, Forever, nobody(""), none, newestData},
	{v1alpha.ReasonReferencedDataPresent, RankWell, Forever, nobody(""), none, data},
}
