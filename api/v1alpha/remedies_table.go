// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"slices"
	"time"
)

// Conditions that share reasons.
var (
	starts     = []string{ConditionReady}
	current    = []string{ConditionStatusCurrent, ConditionReady, ConditionAvailable, ConditionReplicasReady}
	available  = []string{ConditionAvailable}
	programmed = []string{ConditionProgrammed}
	data       = []string{ConditionReferencedDataReady}
	quota      = []string{ConditionQuotaGranted}
	progress   = []string{ConditionProgressing}
	agent      = []string{ConditionComputeAgentReady}
	forgotten  = []string{ConditionComputeForgotten}
	scaling    = []string{ConditionScalingActive}
)

// Normal durations.
const (
	atOnce  time.Duration = 0
	seconds               = 30 * time.Second
	minutes               = 2 * time.Minute
	start                 = 5 * time.Minute
)

// none is the late action of reasons that have no normal duration.
var none = Action{}

func nobody(do string) Action   { return Action{ActorNobody, do} }
func consumer(do string) Action { return Action{ActorConsumer, do} }
func operator(do string) Action { return Action{ActorOperator, do} }

// remedies has every reason once for each set of conditions with the reason. A test finds a reason that is missing.
var remedies = slices.Concat(instanceRemedies, deploymentRemedies, sessionRemedies)

// instanceRemedies are for the reasons of an Instance alone.
var instanceRemedies = []Remedy{
	{ReasonAvailable, RankWell, Forever, nobody(""), none, []string{ConditionReady, ConditionAvailable}},
	{
		ReasonSchedulingGatesPresent, RankSummary, minutes,
		nobody("The Instance starts when its scheduling gates are lifted: conditions QuotaGranted and " +
			"ReferencedDataReady name the missing quota and objects."),
		consumer("Provide the quota and the objects that conditions QuotaGranted and ReferencedDataReady name. If only gate Network is " +
			"left, ask the operator of the network."),
		starts,
	},
	{
		ReasonProvisioning, RankStep, start, nobody("The Instance becomes Ready when its containers run and pass " +
			"their probes."),
		consumer("Check the containers that the message names: their images, commands and probes. If the message " +
			"names none, ask the operator to check the Pod in the cell."),
		starts,
	},
	{
		ReasonUnschedulable, RankCause, minutes, nobody("The scheduler of the cell retries until a node has " +
			"capacity for the Pod."),
		operator("Add nodes to the cell, or free capacity on them. Or the consumer asks for fewer or smaller " +
			"Instances. The message is the scheduler's."),
		starts,
	},
	{
		ReasonImageUnavailable, RankCause, atOnce,
		consumer("Correct the image of the container, or add a pull Secret with access to the image to the template."),
		none, starts,
	},
	{
		ReasonInstanceCrashing, RankCause, atOnce,
		consumer("Correct the command, its arguments or the data that it reads: a container exits repeatedly. The " +
			"message has its exit code."),
		none, starts,
	},
	{
		ReasonOOMKilled, RankCause, atOnce,
		consumer("Raise the memory limit of the container that the message names, choose a larger instance type, " +
			"or let the container use less memory."),
		none, starts,
	},
	{
		ReasonProbeFailing, RankCause, atOnce,
		consumer("Correct the readiness probe that the message names, or the program that does not answer it. The " +
			"Instance is Ready as soon as the probe succeeds."),
		none, starts,
	},
	{
		ReasonEvicted, RankCause, atOnce,
		consumer("Keep to the limit that the message names, or raise the limit. If the message says that the node was " +
			"low on a resource, the operator adds capacity."),
		none, starts,
	},
	{
		ReasonNodeLost, RankCause, atOnce,
		operator("Restore the node that the message names. The Instance starts on another node within a minute, " +
			"unless its template has onNodeLoss Wait. If the node is shut down for good, add the taint " +
			"node.kubernetes.io/out-of-service=nodeshutdown:NoExecute to it: then such an Instance starts on another " +
			"node, too."),
		none, starts,
	},
	{
		ReasonConfigurationError, RankCause, atOnce,
		consumer("Correct the field of the template that the message names."),
		none,
		[]string{ConditionReady, ConditionProgrammed},
	},

	{
		ReasonStarting, RankSummary, start, nobody("The Instance becomes Available when it has been Ready for minReadySeconds."),
		consumer("See condition Ready of the Instance: it has the cause."), available,
	},
	{
		ReasonStopping, RankStep, minutes, nobody("The Instance is being deleted."),
		operator("Check the Pod in the cell: its node does not stop the Pod, or a finalizer holds the Pod."), available,
	},
	{
		ReasonStopped, RankStep, minutes, nobody("The cell replaces the Pod, which has ended."),
		operator("Check the Pod and the logs of karmada-compute-cell in the cell: the agent does not replace " +
			"the Pod."),
		available,
	},

	{
		ReasonPendingQuota, RankSummary, minutes, nobody("The Instance starts when its quota is granted: see " +
			"condition QuotaGranted."),
		consumer("Provide the quota that condition QuotaGranted names."), programmed,
	},
	{
		ReasonPendingProgramming, RankSummary, minutes, nobody("The Instance starts when its other gates are " +
			"lifted: see condition ReferencedDataReady."),
		consumer("Provide the objects that condition ReferencedDataReady names. If only gate Network is left, ask the " +
			"operator of the network."),
		programmed,
	},
	{
		ReasonProgrammingInProgress, RankSummary, minutes, nobody("The scheduler of the cell chooses a node for " +
			"the Pod."),
		operator("Check the Pod in the cell: condition Ready of the Instance has the cause."), programmed,
	},
	{ReasonProgrammed, RankWell, Forever, nobody(""), none, programmed},
	{
		ReasonFieldsNotHonoured, RankStep, atOnce,
		consumer("Remove the field that the message names from the template: it has no effect in this cell."),
		none, programmed,
	},
	{
		ReasonRuntimeClassNotServed, RankCause, atOnce,
		consumer("Choose a runtime.class that the cells of the city serve, or omit it: the message names the " +
			"classes. Or the operator adds the class to a cell."),
		none,
		[]string{ConditionReady, ConditionProgrammed},
	},

	{ReasonQuotaAvailable, RankWell, Forever, nobody(""), none, quota},
	{ReasonQuotaDisabled, RankWell, Forever, nobody("No quota is configured for the project."), none, quota},
	{
		ReasonPendingEvaluation, RankStep, seconds, nobody("Milo evaluates the claim."),
		operator("Check the ResourceClaim in the project and at Milo's quota controller: the claim is not " +
			"evaluated."),
		quota,
	},
	{
		ReasonQuotaExceeded, RankCause, atOnce,
		consumer("Ask for fewer or smaller Instances, or for a higher quota of the resource that the message " +
			"names. The add-on claims it again."),
		none, quota,
	},
	{
		ReasonQuotaNoBudget, RankCause, atOnce,
		consumer("Ask for a quota of the resource that the message names. The add-on claims it again."), none, quota,
	},
	{
		ReasonQuotaValidationFailed, RankCause, atOnce,
		operator("Milo refuses the claim: see the message, and condition Granted of the ResourceClaim in the project."),
		none, quota,
	},
	{
		ReasonQuotaMisconfigured, RankCause, atOnce,
		operator("Register the resource that the message names with Milo, or grant the add-on the right to claim it."),
		none, quota,
	},
	{
		ReasonQuotaBackendUnavailable, RankCause, atOnce,
		operator("Restore Milo's quota. The add-on then claims again. Running Instances keep running."), none, quota,
	},
	{
		ReasonQuotaProjectNotFound, RankCause, minutes, nobody("The project no longer exists: its leftover " +
			"objects are deleted."),
		operator("Check the logs of karmada-compute: the leftover objects of the project are not deleted."), quota,
	},
	{
		ReasonQuotaNamespaceNotFound, RankCause, minutes, nobody("The namespace no longer exists in the project: " +
			"its leftover objects are deleted."),
		operator("Check the logs of karmada-compute: the leftover objects of the namespace are not deleted."), quota,
	},

	{
		ReasonResolving, RankStep, seconds, nobody("The add-on reads the data from the project."),
		operator("Check the logs of karmada-compute: the data is not read from the project."), data,
	},
	{
		ReasonAwaitingPropagation, RankStep, seconds, nobody("Karmada propagates the data to the cell."),
		operator("Check the ResourceBinding and the Work of the ConfigMap or Secret on the hub: the data does " +
			"not reach the cell."),
		data,
	},
	{
		ReasonSourceNotFound, RankCause, atOnce,
		consumer("Create the ConfigMap or Secret that the message names, or remove it from the template."),
		none, data,
	},
	{
		ReasonSourceUnauthorized, RankCause, atOnce,
		operator("Grant the add-on access to the object in the project: see the roles of the chart for Milo."),
		none, data,
	},
	{
		ReasonSourceTooLarge, RankCause, atOnce,
		consumer("Reduce the data to at most 256 KiB for each object and 1 MiB in all, or put it into the image."),
		none, data,
	},
	{
		ReasonSourceRefused, RankCause, atOnce,
		consumer("Use another type or name of object: the message names the refused object."),
		none, data,
	},
	{ReasonReferencedDataPresent, RankWell, Forever, nobody(""), none, data},
}
