// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// deploymentRemedies are for the reasons of Workloads, WorkloadDeployments and Clusters; Instances share some of them.
var deploymentRemedies = []Remedy{
	{v1alpha.ReasonStableInstanceFound, RankWell, Forever, nobody(""), none, available},
	{v1alpha.ReasonScaledToZero, RankWell, Forever, nobody(""), none, available},
	{
		v1alpha.ReasonInstancesProvisioning, RankSummary, start, nobody("The Instances start. If one cannot, the message " +
			"has the cause."),
		consumer("Act on the cause that the message names. If it names none, ask the operator to check the " +
			"cells of the city."),
		available,
	},
	{
		v1alpha.ReasonQuotaNotGranted, RankSummary, atOnce,
		consumer("Request fewer or smaller Instances, or a higher quota for the project: condition QuotaGranted " +
			"of the Instances names the resource."),
		none, available,
	},
	{
		v1alpha.ReasonReferencedDataNotReady, RankSummary, atOnce,
		consumer("Provide the ConfigMap or Secret that condition ReferencedDataReady names."),
		none, available,
	},
	{
		v1alpha.ReasonNoMatchingLocation, RankCause, atOnce,
		consumer("Choose a city that the project may use: the message lists them. Or ask the operator to allow the city to the project, and " +
			"for a cell there if it has none."),
		none, available,
	},
	{
		v1alpha.ReasonNoCapacity, RankCause, minutes,
		nobody("Karmada schedules the Instances within 15 seconds after a cell of the city has more capacity: a node joins, or other " +
			"Instances leave."),
		consumer("Ask for fewer or smaller Instances, or name another city. Or the operator adds nodes to the cells of the city. " +
			"The Instances then start without another change."),
		unplaced,
	},
	{
		v1alpha.ReasonCellsTainted, RankCause, atOnce,
		operator("Remove the taint from a Cluster of the city, for example with `karmadactl uncordon CLUSTER`: the message names it, and " +
			"`kubectl describe cluster CLUSTER` the NoExecute taint by which Karmada evicts. The Instances then start without another change."),
		none, unplaced,
	},

	{
		v1alpha.ReasonNetworkProvisioning, RankStep, minutes, nobody("The network service provisions the network in the " +
			"city: the message names the NetworkBinding and its state."),
		operator("Check the NetworkBinding that the message names: the network service does not " +
			"provision the network in the city."),
		available,
	},
	{
		v1alpha.ReasonNetworkNotFound, RankCause, atOnce,
		consumer("Create the network that the message names in the project, or name another one."),
		none, available,
	},
	{
		v1alpha.ReasonInstanceTypeNotFound, RankCause, atOnce, consumer("Choose an instance type that exists: " +
			"`kubectl get instancetypes` lists them."),
		none,
		[]string{v1alpha.ConditionAvailable, v1alpha.ConditionInstanceTypeDisabled},
	},
	{
		v1alpha.ReasonDefaultInstanceTypeNotFound, RankCause, atOnce,
		operator("Create the InstanceType that --default-instance-type names on the hub, or name another one. Or " +
			"the consumer names an instance type."),
		none,
		[]string{v1alpha.ConditionAvailable, v1alpha.ConditionInstanceTypeDisabled},
	},
	{
		v1alpha.ReasonInstanceTypeDisabled, RankCause, atOnce, consumer("Change to the type that the message names: running " +
			"Instances keep running, but the Workload cannot grow."),
		none,
		[]string{v1alpha.ConditionAvailable, v1alpha.ConditionInstanceTypeDisabled},
	},
	{
		v1alpha.ReasonInstanceTypeDeprecated, RankCause, atOnce, consumer("Plan the change to the type that the message " +
			"names: running Instances keep running."),
		none,
		[]string{v1alpha.ConditionInstanceTypeDeprecated},
	},
	{
		v1alpha.ReasonInstanceTypeUsable, RankWell, Forever,
		nobody(""),
		none,
		[]string{v1alpha.ConditionInstanceTypeDeprecated, v1alpha.ConditionInstanceTypeDisabled},
	},

	{v1alpha.ReasonBudgetInForce, RankWell, Forever, nobody(""), none, []string{v1alpha.ConditionDisruptionBudget}},
	{
		v1alpha.ReasonBudgetNotConfirmed, RankStep, minutes,
		nobody("The cells confirm their shares of the budget. Until then the earlier ones apply."),
		operator("Check the cells of the deployments that the message names: they are not reachable, or their agents are old or down."),
		[]string{v1alpha.ConditionDisruptionBudget},
	},
	{
		v1alpha.ReasonNoDisruptionAllowed, RankSummary, atOnce,
		consumer("Lower minAvailable, or repair the Instances that are not Available: until then the nodes of the cells cannot be drained."),
		none,
		[]string{v1alpha.ConditionDisruptionBudget},
	},

	{
		v1alpha.ReasonProjectSuspended, RankCause, atOnce,
		consumer("Ask an operator to resume the project: all of it then starts again."), none,
		[]string{
			v1alpha.ConditionReady, v1alpha.ConditionAvailable, v1alpha.ConditionProgrammed, v1alpha.ConditionReplicasReady,
			v1alpha.ConditionProgressing, v1alpha.ConditionSuspended,
		},
	},
	{
		v1alpha.ReasonSuspending, RankStep, minutes, nobody("The cells stop the Instances."),
		operator("Check the Pods in the cells that the message names: they do not stop."),
		[]string{v1alpha.ConditionSuspended, v1alpha.ConditionProgressing},
	},
	{
		v1alpha.ReasonNotConfirmed, RankCause, atOnce, operator("Restore the connection to the cell that the message " +
			"names: the cell stops the Instances when it is connected again."),
		none,
		[]string{v1alpha.ConditionSuspended, v1alpha.ConditionProgressing},
	},
	{
		v1alpha.ReasonFieldsMissing, RankCause, atOnce, operator("Upgrade the CRDs and the agent in the cell: the cell lacks " +
			"the fields that the message names. Karmada then sends the deployment again, and the cell starts the Instances."),
		none,
		unreceived,
	},
	{
		v1alpha.ReasonFieldsOverridden, RankCause, atOnce, operator("Remove the fields that the message names from the OverridePolicy or " +
			"ClusterOverridePolicy: it may change the template only. Karmada then sends the deployment again, and the cell starts the Instances."),
		none,
		unreceived,
	},
	{
		v1alpha.ReasonReportFieldsIgnored, RankCause, atOnce, operator("Upgrade the agent of the cell that the message names, and find out " +
			"who else writes the status of WorkloadDeployments in the cell or of its Works on the hub."),
		none,
		[]string{v1alpha.ConditionReportValid},
	},

	{v1alpha.ReasonAvailablePlacementFound, RankWell, Forever, nobody(""), none, available},
	{v1alpha.ReasonAvailableDeploymentFound, RankWell, Forever, nobody(""), none, available},
	{
		v1alpha.ReasonNoAvailablePlacements, RankSummary, start, nobody("The placements start: their conditions name what " +
			"each waits for."),
		consumer("Act on the cause that the conditions of the placements name."), available,
	},
	{
		v1alpha.ReasonTooFewAvailable, RankSummary, start,
		nobody("Instances start, or are being replaced: the message has their number, and the " +
			"conditions of the WorkloadDeployments name what each waits for."),
		consumer("Act on the cause that the conditions of the WorkloadDeployments name."), available,
	},
	{
		v1alpha.ReasonNoAvailableDeployments, RankSummary, start, nobody("The WorkloadDeployments start: their conditions " +
			"name what each waits for."),
		consumer("Act on the cause that the conditions of the WorkloadDeployments name."), available,
	},

	{
		v1alpha.ReasonRollingOut, RankSummary, start, nobody("Instances are being created, replaced or deleted."),
		consumer("Act on the cause that the message names. If it names none, ask the operator to check the cell."),
		progress,
	},
	{
		v1alpha.ReasonProgressDeadlineExceeded, RankSummary, atOnce,
		consumer("Act on the cause that the message names, or restore the previous template: `kubectl compute rollout undo NAME`. " +
			"The rollout continues when the cause is gone."),
		none,
		[]string{v1alpha.ConditionProgressing, v1alpha.ConditionStalled},
	},
	{
		v1alpha.ReasonRolloutPaused, RankStep, atOnce,
		consumer("Check the Instances with the new template, and continue: `kubectl compute rollout resume NAME`."),
		none, progress,
	},
	{
		v1alpha.ReasonRolloutUndone, RankSummary, atOnce,
		consumer("Correct the template: condition Degraded or the Events name what has failed. Applying the same template again " +
			"starts no rollout."),
		none,
		[]string{v1alpha.ConditionReady, v1alpha.ConditionStalled},
	},
	{
		v1alpha.ReasonTrafficLeaves, RankStep, anHour,
		nobody("The Instances stop at the time in the message. To stop them sooner, set spec.service.drainSeconds of the Workload to less."),
		operator("Check that replicas of karmada-compute run on the host, and that the hub reaches the cells."),
		progress,
	},
	{v1alpha.ReasonSettled, RankWell, Forever, nobody(""), none, []string{v1alpha.ConditionProgressing, v1alpha.ConditionReady}},
	{
		v1alpha.ReasonNotSettled, RankSummary, start, nobody("Conditions Available and Progressing name what the Workload waits for."),
		consumer("Act on the cause that conditions Available and Progressing name."), starts,
	},
	{v1alpha.ReasonAllReplicasReady, RankWell, Forever, nobody(""), none, []string{v1alpha.ConditionReplicasReady}},
	{
		v1alpha.ReasonReplicasNotReady, RankSummary, start, nobody("The Instances start. If one cannot, the message has " +
			"the cause."),
		consumer("Act on the cause that the message names. If it names none, ask the operator to check the " +
			"cells of the city."),
		[]string{v1alpha.ConditionReplicasReady},
	},

	{v1alpha.ReasonReported, RankWell, Forever, nobody(""), none, []string{v1alpha.ConditionStatusCurrent}},
	{
		v1alpha.ReasonAwaitingReport, RankStep, seconds, nobody("The cells report within seconds."),
		operator("Run `karmadactl compute status`: a replica of karmada-compute must run, and the cells of the city " +
			"and their agents must be Ready."),
		current,
	},
	{
		v1alpha.ReasonNotPropagated, RankCause, atOnce,
		operator("Run `karmadactl compute status` and see the logs of karmada-compute: a replica must own the " +
			"project, and the object that the message names must be deleted."),
		none, current,
	},
	{
		v1alpha.ReasonCellNotReady, RankCause, atOnce,
		operator("Restore the connection between Karmada and the cell. If the cell is gone for good, forget it: " +
			"see the runbook for cells. Instances in the cell keep running."),
		none, current,
	},
	{
		v1alpha.ReasonAgentAPIMissing, RankCause, atOnce,
		operator("If the cell was rebuilt under its name, restart karmada-controller-manager, and the karmada-agent of a cell in pull mode: " +
			"Karmada then writes all objects into the cell again."),
		none, agent,
	},
	{
		v1alpha.ReasonAgentNotReady, RankCause, atOnce,
		operator("Restore the agent in the cell: Deployment karmada-compute-cell in namespace " +
			"karmada-compute-system. Instances in the cell keep running."),
		none, current,
	},
	{
		v1alpha.ReasonNotBound, RankStep, minutes, nobody("The add-on triggers a Karmada reconcile of the deployment."),
		operator("Check karmada-controller-manager and karmada-scheduler: Karmada does not bind the deployment."),
		current,
	},
	{
		v1alpha.ReasonNotApplied, RankCause, atOnce,
		operator("See condition Applied of the Work that the message names: the cell rejects the write."),
		none, current,
	},
	{
		v1alpha.ReasonOverrideNotApplied, RankCause, atOnce,
		operator("Correct or delete the override policy that the message names. Karmada then sends the deployment to the cell."),
		none,
		[]string{v1alpha.ConditionStatusCurrent, v1alpha.ConditionAvailable},
	},
	{
		v1alpha.ReasonNoReport, RankStep, minutes, nobody("The add-on triggers a Karmada reconcile of the deployment."),
		operator("Check the agent of the cell: Deployment karmada-compute-cell in namespace karmada-compute-system."),
		current,
	},
	{
		v1alpha.ReasonReportOutdated, RankStep, minutes, nobody("The add-on triggers a Karmada reconcile of the deployment."),
		operator("Check the agent of the cell: Deployment karmada-compute-cell in namespace karmada-compute-system."),
		current,
	},
	{
		v1alpha.ReasonKarmadaNotRunning, RankCause, atOnce,
		operator("Start karmada-controller-manager: without it the state on the hub is not current."), none, current,
	},

	{
		v1alpha.ReasonAutoscalerStarting, RankStep, minutes, nobody("The autoscaler of the cell reads the metrics within " +
			"seconds."),
		operator("Check the HorizontalPodAutoscaler of the deployment in the cell: it does not read the metrics."),
		scaling,
	},
	{"ValidMetricFound", RankWell, Forever, nobody(""), none, scaling},
	{
		"FailedGetResourceMetric", RankCause, atOnce,
		operator("Install a metrics server in the cell, or repair it: the autoscaler gets no CPU metrics."),
		none, scaling,
	},

	{v1alpha.ReasonNodesSchedulable, RankWell, Forever, nobody(""), none, cordoned},
	{
		v1alpha.ReasonNodesCordoned, RankCause, atOnce,
		operator("Uncordon a node of the cell. Until then new deployments go to the other cells of the city that have capacity."),
		none, cordoned,
	},
	{
		v1alpha.ReasonCityUnconfirmed, RankCause, atOnce,
		operator("If the Cluster belongs to this city, label the namespace as the message says. If you do not know the Cluster, " +
			"delete it: an agent of another cell may have made it."),
		none, confirmed,
	},
	{
		v1alpha.ReasonCityInvalid, RankCause, atOnce,
		operator("Give the Cluster a label with a city code that a Workload can name: at most 16 letters, digits and hyphens, such as DFW."),
		none, confirmed,
	},
	{
		v1alpha.ReasonForeignSecret, RankCause, atOnce,
		operator("If none of you did this, delete the Cluster and replace the token in the Secret: Karmada has sent it to the endpoint. " +
			"Otherwise join the Cluster again with karmadactl and without --cluster-namespace."),
		none, confirmed,
	},
	{
		v1alpha.ReasonAgentMayCreateClusters, RankCause, atOnce,
		operator("Run the command of the message: the agent of a registered cell needs no right to create Clusters."),
		none, restricted,
	},
	{
		v1alpha.ReasonStrangersInNamespace, RankCause, atOnce,
		operator("Delete the RoleBindings of the message, and replace the Secrets of the cell's deployments if their subjects could read them."),
		none, restricted,
	},
	{v1alpha.ReasonAgentReady, RankWell, Forever, nobody(""), none, agent},
	{
		v1alpha.ReasonAgentMissing, RankCause, atOnce,
		operator("See ResourceBinding karmada-compute-cell on the hub: Karmada has not brought the agent to the cell."),
		none, agent,
	},
	{
		v1alpha.ReasonAgentNotReady, RankCause, atOnce,
		operator("See Deployment karmada-compute-cell in namespace karmada-compute-system of the cell: no replica " +
			"is available."),
		none, agent,
	},
	{
		v1alpha.ReasonAgentOutdated, RankStep, start, nobody("The agent is being rolled out."),
		operator("Check Deployment karmada-compute-cell in namespace karmada-compute-system of the cell: its " +
			"rollout does not end."),
		agent,
	},

	{v1alpha.ReasonForgotten, RankWell, Forever, nobody(""), none, forgotten},
	{
		v1alpha.ReasonDropping, RankStep, minutes, nobody("Karmada deletes the Works for the cell."),
		operator("Check karmada-controller-manager: it does not delete the Works for the cell."), forgotten,
	},
	{
		v1alpha.ReasonDraining, RankStep, start, nobody("Karmada reaches the cell: its Instances are being deleted."),
		operator("Check the Works for the cell and the agent in the cell: its Instances are not deleted."), forgotten,
	},
}
