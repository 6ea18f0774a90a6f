// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// sessionRemedies are for the reasons of an InstanceSession.
var sessionRemedies = []Remedy{
	{v1alpha.ReasonSessionReady, RankWell, Forever, nobody(""), none, starts},
	{v1alpha.ReasonSessionConnected, RankWell, Forever, nobody(""), none, starts},
	{v1alpha.ReasonSessionCompleted, RankWell, Forever, nobody(""), none, starts},
	{
		v1alpha.ReasonSessionFailed, RankCause, atOnce,
		consumer("Correct what the message names, such as the command or the port, and create another session."), none, starts,
	},
	{
		v1alpha.ReasonSessionIdle, RankCause, atOnce,
		consumer("Create another session. The operator limits how long a session may be open without data."), none, starts,
	},
	{
		v1alpha.ReasonSessionExpired, RankCause, atOnce,
		consumer("Create another session. Set spec.ttlSeconds for a longer one, up to an hour."), none, starts,
	},
	{
		v1alpha.ReasonSessionRevoked, RankCause, atOnce,
		consumer("Ask an administrator of the project for a role with the permission that the message names, and create another session."),
		none, starts,
	},
	{
		v1alpha.ReasonSessionInstanceGone, RankCause, atOnce,
		consumer("List the Instances of the Workload, and create a session for one that exists."), none, starts,
	},
	{
		v1alpha.ReasonSessionUnreachable, RankCause, atOnce,
		operator("Provide a path from the hub to the cell that the message names: for a cell in pull mode, Karmada's tunnel; for a cell in " +
			"push mode, its API server and Karmada's aggregated API server must answer."),
		none, starts,
	},
	{
		v1alpha.ReasonSessionReplicaStopped, RankCause, atOnce,
		consumer("Create another session. The replica that carried this one was stopped, for example by an upgrade."), none, starts,
	},
}
