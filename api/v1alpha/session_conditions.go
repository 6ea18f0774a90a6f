// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

// Reasons of condition Ready of an InstanceSession. Every reason with which the condition is False is lasting.
const (
	// ReasonSessionReady says that the client may connect to the URL.
	ReasonSessionReady = "SessionReady"
	// ReasonSessionConnected says that a client is connected.
	ReasonSessionConnected = "SessionConnected"
	// ReasonSessionCompleted says that the stream ended, or the client closed it.
	ReasonSessionCompleted = "SessionCompleted"
	// ReasonSessionFailed says that the cell refused the stream or the command.
	ReasonSessionFailed = "SessionFailed"
	// ReasonSessionIdle says that no data passed for too long.
	ReasonSessionIdle = "SessionIdle"
	// ReasonSessionExpired says that the time to live of the session is over.
	ReasonSessionExpired = "SessionExpired"
	// ReasonSessionRevoked says that the user of the session may not have it any more.
	ReasonSessionRevoked = "SessionRevoked"
	// ReasonSessionInstanceGone says that the Instance does not exist any more, has moved to another cell, or was
	// replaced.
	ReasonSessionInstanceGone = "SessionInstanceGone"
	// ReasonSessionUnreachable says that streams do not reach the cell of the Instance.
	ReasonSessionUnreachable = "SessionUnreachable"
	// ReasonSessionReplicaStopped says that the replica that carried the stream was stopped.
	ReasonSessionReplicaStopped = "SessionReplicaStopped"
)
