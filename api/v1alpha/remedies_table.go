// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import "time"

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
var remedies = []Remedy{
	{ReasonAvailable, RankWell, Forever, nobody(""), none, []string{ConditionReady, ConditionAvailable}},
	{
		ReasonSchedulingGatesPresent, RankSummary, minutes,
		nobody("The Instance starts when its scheduling gates are lifted: conditions QuotaGranted and " +
			"ReferencedDataReady name what is missing."),
		consumer("Provide what conditions QuotaGranted and ReferencedDataReady name. If only gate Network is " +
			"left, ask the operator of the network."),
		starts,
	},
	{
		ReasonProvisioning, RankStep, start, nobody("The Instance becomes Ready when its containers run and pass " +
			"their probes."),
		consumer("Check the containers that the message names: their images, commands and probes. If the message " +
			"names none, ask the operator to look at the Pod in the cell."),
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
		consumer("Correct the image of the container, or add a pull Secret that may read it to the template."),
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
		ReasonEvicted, RankCause, atOnce,
		consumer("Keep to the limit that the message names, or raise it. If the message says that the node was " +
			"low on a resource, the operator adds capacity."),
		none, starts,
	},
	{
		ReasonNodeLost, RankCause, atOnce,
		operator("Restore the node that the message names. If it is shut down for good, add the taint " +
			"node.kubernetes.io/out-of-service=nodeshutdown:NoExecute to it: the Instance then starts on another " +
			"node."),
		none, starts,
	},
	{
		ReasonConfigurationError, RankCause, atOnce,
		consumer("Correct the field of the template that the message names."),
		none,
		[]string{ConditionReady, ConditionProgrammed},
	},

	{
		ReasonStarting, RankSummary, start, nobody("The Instance becomes available when it is Ready."),
		consumer("See condition Ready of the Instance: it has the cause."), available,
	},
	{
		ReasonStopping, RankStep, minutes, nobody("The Instance is being deleted."),
		operator("Look at the Pod in the cell: its node does not stop it, or a finalizer holds it."), available,
	},
	{
		ReasonStopped, RankStep, minutes, nobody("The cell replaces the Pod, which has ended."),
		operator("Look at the Pod and the logs of karmada-compute-cell in the cell: the agent does not replace " +
			"the Pod."),
		available,
	},

	{
		ReasonPendingQuota, RankSummary, minutes, nobody("The Instance starts when its quota is granted: see " +
			"condition QuotaGranted."),
		consumer("Provide what condition QuotaGranted names."), programmed,
	},
	{
		ReasonPendingProgramming, RankSummary, minutes, nobody("The Instance starts when its other gates are " +
			"lifted: see condition ReferencedDataReady."),
		consumer("Provide what condition ReferencedDataReady names. If only gate Network is left, ask the " +
			"operator of the network."),
		programmed,
	},
	{
		ReasonProgrammingInProgress, RankSummary, minutes, nobody("The scheduler of the cell chooses a node for " +
			"the Pod."),
		operator("Look at the Pod in the cell: condition Ready of the Instance has the cause."), programmed,
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
		operator("Look at the ResourceClaim in the project and at Milo's quota controller: the claim is not " +
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
		operator("Restore Milo's quota. The add-on then claims again. Instances that run keep running."), none, quota,
	},
	{
		ReasonQuotaProjectNotFound, RankCause, minutes, nobody("The project does not exist any more: its leftover " +
			"objects are deleted."),
		operator("Look at the logs of karmada-compute: the leftover objects of the project are not deleted."), quota,
	},
	{
		ReasonQuotaNamespaceNotFound, RankCause, minutes, nobody("The namespace does not exist in the project any " +
			"more: its leftover objects are deleted."),
		operator("Look at the logs of karmada-compute: the leftover objects of the namespace are not deleted."), quota,
	},

	{
		ReasonResolving, RankStep, seconds, nobody("The add-on reads the data from the project."),
		operator("Look at the logs of karmada-compute: the data is not read from the project."), data,
	},
	{
		ReasonAwaitingPropagation, RankStep, seconds, nobody("Karmada propagates the data to the cell."),
		operator("Look at the ResourceBinding and the Work of the ConfigMap or Secret on the hub: the data does " +
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
		consumer("Use another type or name of object: the message names what is not propagated."),
		none, data,
	},
	{ReasonReferencedDataPresent, RankWell, Forever, nobody(""), none, data},

	{ReasonStableInstanceFound, RankWell, Forever, nobody(""), none, available},
	{
		ReasonInstancesProvisioning, RankSummary, start, nobody("The Instances start. If one cannot, the message " +
			"has the cause."),
		consumer("Act on the cause that the message names. If it names none, ask the operator to look at the " +
			"cells of the city."),
		available,
	},
	{
		ReasonQuotaNotGranted, RankSummary, atOnce,
		consumer("Ask for less, or for a higher quota of the project: condition QuotaGranted of the Instances " +
			"names the resource."),
		none, available,
	},
	{
		ReasonReferencedDataNotReady, RankSummary, atOnce,
		consumer("Provide the ConfigMap or Secret that condition ReferencedDataReady names."),
		none, available,
	},
	{
		ReasonNoMatchingLocation, RankCause, atOnce,
		consumer("Choose a city that the project may use, or ask for its location. If the project has the " +
			"location, no cell serves the city: the operator adds one."),
		none, available,
	},

	{
		ReasonNetworkProvisioning, RankStep, minutes, nobody("The network service brings the network to the city: " +
			"the message names the NetworkBinding and its state."),
		operator("Look at the NetworkBinding that the message names: the network service does not bring the " +
			"network to the city."),
		available,
	},
	{
		ReasonNetworkNotFound, RankCause, atOnce,
		consumer("Create the network that the message names in the project, or name another one."),
		none, available,
	},
	{
		ReasonInstanceTypeNotFound, RankCause, atOnce, consumer("Choose an instance type that exists: kubectl get " +
			"instancetypes lists them."),
		none,
		[]string{ConditionAvailable, ConditionInstanceTypeDisabled},
	},
	{
		ReasonDefaultInstanceTypeNotFound, RankCause, atOnce,
		operator("Create the InstanceType that --default-instance-type names on the hub, or name another one. Or " +
			"the consumer names a type."),
		none,
		[]string{ConditionAvailable, ConditionInstanceTypeDisabled},
	},
	{
		ReasonInstanceTypeDisabled, RankCause, atOnce, consumer("Change to the type that the message names: what " +
			"runs stays, but the Workload cannot grow."),
		none,
		[]string{ConditionAvailable, ConditionInstanceTypeDisabled},
	},
	{
		ReasonInstanceTypeDeprecated, RankCause, atOnce, consumer("Plan the change to the type that the message " +
			"names: what runs stays."),
		none,
		[]string{ConditionInstanceTypeDeprecated},
	},
	{
		ReasonInstanceTypeUsable, RankWell, Forever,
		nobody(""),
		none,
		[]string{ConditionInstanceTypeDeprecated, ConditionInstanceTypeDisabled},
	},

	{ReasonProjectSuspended, RankCause, atOnce, consumer("Ask for the project to be resumed at Milo: all of it " +
		"then starts again."), none, []string{
		ConditionReady, ConditionAvailable, ConditionProgrammed, ConditionReplicasReady, ConditionProgressing, ConditionSuspended,
	}},
	{
		ReasonSuspending, RankStep, minutes, nobody("The cells stop the Instances."),
		operator("Look at the Pods in the cells that the message names: they do not stop."),
		[]string{ConditionSuspended, ConditionProgressing},
	},
	{
		ReasonNotConfirmed, RankCause, atOnce, operator("Restore the connection to the cell that the message " +
			"names: it stops the Instances when it is reached."),
		none,
		[]string{ConditionSuspended, ConditionProgressing},
	},
	{
		ReasonFieldsMissing, RankCause, atOnce, operator("Upgrade the CRDs and the agent in the cell: it lacks the " +
			"fields that the message names. Karmada then sends the deployment again, and the cell starts the Instances."),
		none,
		[]string{ConditionSpecReceived, ConditionReady, ConditionProgrammed},
	},

	{ReasonAvailablePlacementFound, RankWell, Forever, nobody(""), none, available},
	{ReasonAvailableDeploymentFound, RankWell, Forever, nobody(""), none, available},
	{
		ReasonNoAvailablePlacements, RankSummary, start, nobody("The placements start: their conditions name what " +
			"each waits for."),
		consumer("Act on the cause that the conditions of the placements name."), available,
	},
	{
		ReasonNoAvailableDeployments, RankSummary, start, nobody("The WorkloadDeployments start: their conditions " +
			"name what each waits for."),
		consumer("Act on the cause that the conditions of the WorkloadDeployments name."), available,
	},

	{
		ReasonRollingOut, RankSummary, start, nobody("Instances are being created, replaced or deleted."),
		consumer("Act on the cause that the message names. If it names none, ask the operator to look at the cell."),
		progress,
	},
	{
		ReasonProgressDeadlineExceeded, RankSummary, atOnce,
		consumer("Act on the cause that the message names, or restore the previous template. The rollout " +
			"continues when the cause is gone."),
		none, progress,
	},
	{ReasonSettled, RankWell, Forever, nobody(""), none, progress},
	{ReasonAllReplicasReady, RankWell, Forever, nobody(""), none, []string{ConditionReplicasReady}},
	{
		ReasonReplicasNotReady, RankSummary, start, nobody("The Instances start. If one cannot, the message has " +
			"the cause."),
		consumer("Act on the cause that the message names. If it names none, ask the operator to look at the " +
			"cells of the city."),
		[]string{ConditionReplicasReady},
	},

	{ReasonReported, RankWell, Forever, nobody(""), none, []string{ConditionStatusCurrent}},
	{
		ReasonAwaitingReport, RankStep, seconds, nobody("The cells report within seconds."),
		operator("Run karmadactl compute status: a replica of karmada-compute must run, and the cells of the city " +
			"and their agents must be Ready."),
		current,
	},
	{
		ReasonNotPropagated, RankCause, atOnce,
		operator("Run karmadactl compute status and see the logs of karmada-compute: a replica must have the " +
			"project, and the object that the message names must be gone."),
		none, current,
	},
	{
		ReasonCellNotReady, RankCause, atOnce,
		operator("Restore the connection between Karmada and the cell. If the cell is gone for good, forget it: " +
			"see the runbook of cells. Instances there keep running."),
		none, current,
	},
	{
		ReasonAgentNotReady, RankCause, atOnce,
		operator("Restore the agent in the cell: Deployment karmada-compute-cell in namespace " +
			"karmada-compute-system. Instances there keep running."),
		none, current,
	},
	{
		ReasonNotBound, RankStep, minutes, nobody("The add-on triggers a Karmada reconcile of the deployment."),
		operator("Look at karmada-controller-manager and karmada-scheduler: Karmada does not bind the deployment."),
		current,
	},
	{
		ReasonNotApplied, RankCause, atOnce,
		operator("See condition Applied of the Work that the message names: the cell refuses what Karmada writes."),
		none, current,
	},
	{
		ReasonNoReport, RankStep, minutes, nobody("The add-on triggers a Karmada reconcile of the deployment."),
		operator("Look at the agent of the cell: Deployment karmada-compute-cell in namespace karmada-compute-system."),
		current,
	},
	{
		ReasonReportOutdated, RankStep, minutes, nobody("The add-on triggers a Karmada reconcile of the deployment."),
		operator("Look at the agent of the cell: Deployment karmada-compute-cell in namespace karmada-compute-system."),
		current,
	},
	{
		ReasonKarmadaNotRunning, RankCause, atOnce,
		operator("Start karmada-controller-manager: without it the state on the hub is not current."), none, current,
	},

	{
		ReasonAutoscalerStarting, RankStep, minutes, nobody("The autoscaler of the cell reads the metrics within " +
			"seconds."),
		operator("Look at the HorizontalPodAutoscaler of the deployment in the cell: it does not read the metrics."),
		scaling,
	},
	{"ValidMetricFound", RankWell, Forever, nobody(""), none, scaling},
	{
		"FailedGetResourceMetric", RankCause, atOnce,
		operator("Install a metrics server in the cell, or repair it: the autoscaler gets no CPU metrics."),
		none, scaling,
	},

	{ReasonAgentReady, RankWell, Forever, nobody(""), none, agent},
	{
		ReasonAgentMissing, RankCause, atOnce,
		operator("See ResourceBinding karmada-compute-cell on the hub: Karmada has not brought the agent to the cell."),
		none, agent,
	},
	{
		ReasonAgentNotReady, RankCause, atOnce,
		operator("See Deployment karmada-compute-cell in namespace karmada-compute-system of the cell: no replica " +
			"is available."),
		none, agent,
	},
	{
		ReasonAgentOutdated, RankStep, start, nobody("The agent is being rolled out."),
		operator("Look at Deployment karmada-compute-cell in namespace karmada-compute-system of the cell: its " +
			"rollout does not end."),
		agent,
	},

	{ReasonForgotten, RankWell, Forever, nobody(""), none, forgotten},
	{
		ReasonDropping, RankStep, minutes, nobody("Karmada deletes the Works for the cell."),
		operator("Look at karmada-controller-manager: it does not delete the Works for the cell."), forgotten,
	},
	{
		ReasonDraining, RankStep, start, nobody("The cell is reached: its Instances are being deleted."),
		operator("Look at the Works for the cell and the agent there: its Instances are not deleted."), forgotten,
	},
}
