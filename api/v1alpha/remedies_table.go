// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

// Conditions that share reasons.
var (
	starts    = []string{ConditionReady}
	current   = []string{ConditionStatusCurrent, ConditionReady}
	available = []string{ConditionAvailable}
	data      = []string{ConditionReferencedDataReady}
	quota     = []string{ConditionQuotaGranted}
	progress  = []string{ConditionProgressing}
	agent     = []string{ConditionComputeAgentReady}
	forgotten = []string{ConditionComputeForgotten}
	scaling   = []string{ConditionScalingActive}
)

// remedies has every reason once for each set of conditions that have it. A test finds a reason that is missing.
var remedies = []Remedy{
	{ReasonAvailable, ActorNobody, "", []string{ConditionReady, ConditionAvailable}},
	{ReasonSchedulingGatesPresent, ActorNobody, "The Instance starts when its gates are lifted: conditions QuotaGranted and ReferencedDataReady say what they wait for.", starts},
	{ReasonProvisioning, ActorNobody, "The Instance becomes Ready when its containers run.", starts},
	{ReasonImageUnavailable, ActorConsumer, "Correct the image of the container, or give the template a pull Secret that may read it.", starts},
	{ReasonInstanceCrashing, ActorConsumer, "Correct the command, its arguments or what it reads: a container exits again and again. The message has its exit code.", starts},
	{ReasonConfigurationError, ActorConsumer, "Correct the field of the template that the message names.", starts},

	{ReasonStarting, ActorNobody, "The Instance becomes available when it is Ready.", available},
	{ReasonStopping, ActorNobody, "The Instance is being deleted.", available},
	{ReasonStopped, ActorNobody, "The cell replaces an Instance that has ended.", available},

	{ReasonPendingQuota, ActorNobody, "The Instance starts when its quota is granted: see condition QuotaGranted.", []string{ConditionProgrammed}},
	{ReasonPendingProgramming, ActorNobody, "The Instance starts when its other gates are lifted: see condition ReferencedDataReady.", []string{ConditionProgrammed}},
	{ReasonProgrammingInProgress, ActorNobody, "The Pod gets a node. If it takes minutes, the cell has no room: the operator adds nodes.", []string{ConditionProgrammed}},
	{ReasonProgrammed, ActorNobody, "", []string{ConditionProgrammed}},
	{ReasonConfigurationError, ActorConsumer, "Correct the field of the template that the message names.", []string{ConditionProgrammed}},
	{ReasonFieldsNotHonoured, ActorConsumer, "Remove the field that the message names from the template: it has no effect in this cell.", []string{ConditionProgrammed}},
	{ReasonRuntimeClassNotServed, ActorConsumer, "Choose a runtime.class that the cells of the city serve, or leave it out: the message names them. Or the operator gives the cell one.", []string{ConditionReady, ConditionProgrammed}},

	{ReasonQuotaAvailable, ActorNobody, "", quota},
	{ReasonQuotaDisabled, ActorNobody, "No quota is configured for the project.", quota},
	{ReasonPendingEvaluation, ActorNobody, "The quota is being claimed.", quota},
	{ReasonQuotaExceeded, ActorConsumer, "Ask for fewer or smaller Instances, or have the project's quota raised: the message names the resource. It is claimed again by itself.", quota},
	{ReasonQuotaNoBudget, ActorConsumer, "Have quota granted to the project for the resource that the message names. It is claimed again by itself.", quota},
	{ReasonQuotaValidationFailed, ActorOperator, "Milo refuses the claim: see the message, and condition Granted of the ResourceClaim in the project.", quota},
	{ReasonQuotaMisconfigured, ActorOperator, "Register the resource that the message names with Milo, or give the add-on the rights to claim it.", quota},
	{ReasonQuotaBackendUnavailable, ActorOperator, "Restore Milo's quota. It is claimed again by itself, and what runs goes on.", quota},
	{ReasonQuotaProjectNotFound, ActorNobody, "The project does not exist any more: what is left of it is withdrawn.", quota},
	{ReasonQuotaNamespaceNotFound, ActorNobody, "The namespace does not exist in the project any more: what is left of it is withdrawn.", quota},

	{ReasonResolving, ActorNobody, "The data is being read from the project.", data},
	{ReasonAwaitingPropagation, ActorNobody, "The data is on its way to the cell.", data},
	{ReasonSourceNotFound, ActorConsumer, "Create the ConfigMap or Secret that the message names, or remove it from the template.", data},
	{ReasonSourceUnauthorized, ActorOperator, "Grant the add-on access to the object in the project: see the roles of the chart for Milo.", data},
	{ReasonSourceTooLarge, ActorConsumer, "Make the data smaller, at most 256 KiB an object and 1 MiB together, or put it into the image.", data},
	{ReasonSourceRefused, ActorConsumer, "Use another type or name of object: the message says which are not carried.", data},
	{ReasonReferencedDataPresent, ActorNobody, "", data},

	{ReasonStableInstanceFound, ActorNobody, "", available},
	{ReasonInstancesProvisioning, ActorNobody, "Instances are starting; if they cannot, the message says why.", available},
	{ReasonQuotaNotGranted, ActorConsumer, "Ask for less, or have the project's quota raised: condition QuotaGranted of the Instances names the resource.", available},
	{ReasonReferencedDataNotReady, ActorConsumer, "Condition ReferencedDataReady names the ConfigMap or Secret that is missing.", available},
	{ReasonNoMatchingLocation, ActorConsumer, "Choose a city that the project may use, or have the location enabled for it. If it is enabled, no cell serves the city: the operator adds one.", available},

	{ReasonNetworkProvisioning, ActorNobody, "The network service brings the network to the city; the message names the NetworkBinding and what it says. If that does not end, tell whoever runs the network.", available},
	{ReasonNetworkNotFound, ActorConsumer, "Create the network that the message names in the project, or name another one.", available},
	{ReasonInstanceTypeNotFound, ActorConsumer, "Choose an instance type that exists: kubectl get instancetypes lists them.", []string{ConditionAvailable, ConditionInstanceTypeDisabled}},
	{ReasonDefaultInstanceTypeNotFound, ActorOperator, "Create the InstanceType that --default-instance-type names on the hub, or name another one. A consumer names a type.", []string{ConditionAvailable, ConditionInstanceTypeDisabled}},
	{ReasonInstanceTypeDisabled, ActorConsumer, "Change to the type that the message names: what runs stays, and nothing more can be asked for.", []string{ConditionAvailable, ConditionInstanceTypeDisabled}},
	{ReasonInstanceTypeDeprecated, ActorConsumer, "Plan the change to the type that the message names: what runs stays.", []string{ConditionInstanceTypeDeprecated}},
	{ReasonInstanceTypeUsable, ActorNobody, "", []string{ConditionInstanceTypeDeprecated, ConditionInstanceTypeDisabled}},

	{ReasonProjectSuspended, ActorConsumer, "Have the project resumed at Milo: all of it starts again by itself.", []string{
		ConditionReady, ConditionAvailable, ConditionProgrammed, ConditionReplicasReady, ConditionProgressing, ConditionSuspended,
	}},
	{ReasonSuspending, ActorNobody, "Instances are being stopped.", []string{ConditionSuspended, ConditionProgressing}},
	{ReasonNotConfirmed, ActorOperator, "Restore the connection to the cell that the message names: it stops the Instances when it is reached.", []string{ConditionSuspended, ConditionProgressing}},

	{ReasonFieldsMissing, ActorOperator, "Upgrade the CRDs and the agent in the cell: it lacks the fields that the message names. Karmada then sends the deployment again, and the cell starts what waits.", []string{
		ConditionSpecReceived, ConditionReady, ConditionProgrammed,
	}},

	{ReasonAvailablePlacementFound, ActorNobody, "", available},
	{ReasonAvailableDeploymentFound, ActorNobody, "", available},
	{ReasonNoAvailablePlacements, ActorNobody, "See the conditions of the placements: they say what each waits for.", available},
	{ReasonNoAvailableDeployments, ActorNobody, "See the conditions of the WorkloadDeployments: they say what each waits for.", available},

	{ReasonRollingOut, ActorNobody, "Instances are being created, replaced or deleted.", progress},
	{ReasonSettled, ActorNobody, "", progress},
	{ReasonAllReplicasReady, ActorNobody, "", []string{ConditionReplicasReady}},
	{ReasonReplicasNotReady, ActorNobody, "The message says what the Instances wait for.", []string{ConditionReplicasReady}},

	{ReasonReported, ActorNobody, "", []string{ConditionStatusCurrent}},
	{ReasonAwaitingReport, ActorNobody, "The cells report within seconds.", current},
	{ReasonCellNotReady, ActorOperator, "Restore the connection between Karmada and the cell, or, if the cell is gone for good, have it forgotten. What runs there goes on.", current},
	{ReasonAgentNotReady, ActorOperator, "Restore the agent in the cell: Deployment karmada-compute-cell in namespace karmada-compute-system. What runs goes on.", current},
	{ReasonNotBound, ActorNobody, "Karmada is made to bind the deployment again. If that does not help, the operator looks at the karmada-controller-manager.", current},
	{ReasonNotApplied, ActorOperator, "See condition Applied of the Work that the message names: the cell refuses what Karmada writes.", current},
	{ReasonNoReport, ActorNobody, "Karmada is made to report again. If that does not help, the operator looks at the agent of the cell.", current},
	{ReasonReportOutdated, ActorNobody, "Karmada is made to report again. If that does not help, the operator looks at the agent of the cell.", current},
	{ReasonKarmadaNotRunning, ActorOperator, "Start the karmada-controller-manager: nothing that the hub says is current without it.", current},

	{ReasonAutoscalerStarting, ActorNobody, "The autoscaler of the cell looks at the metrics within seconds.", scaling},
	{"ValidMetricFound", ActorNobody, "", scaling},
	{"FailedGetResourceMetric", ActorOperator, "Install a metrics server in the cell, or repair it: the autoscaler gets no CPU metrics.", scaling},

	{ReasonAgentReady, ActorNobody, "", agent},
	{ReasonAgentMissing, ActorOperator, "See ResourceBinding karmada-compute-cell on the hub: Karmada has not brought the agent to the cell.", agent},
	{ReasonAgentNotReady, ActorOperator, "See Deployment karmada-compute-cell in namespace karmada-compute-system of the cell: no replica is available.", agent},
	{ReasonAgentOutdated, ActorNobody, "The rollout of the agent is under way. If it does not end, the operator looks at its Deployment in the cell.", agent},

	{ReasonForgotten, ActorNobody, "", forgotten},
	{ReasonDropping, ActorNobody, "Karmada is deleting the Works for the cell.", forgotten},
	{ReasonDraining, ActorNobody, "The cell is reached: what it ran is being deleted there.", forgotten},
}
