// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/component-base/featuregate"
)

const (
	// NetworkAccessReview reviews whether the user may use the networks of a Workload. Turn it off where the project's
	// authorizer does not know networks.
	NetworkAccessReview featuregate.Feature = "NetworkAccessReview"
	// ReferencedDataAccessReview reviews whether the user may get the ConfigMaps and Secrets of a Workload. Without it a
	// Workload is a way to read Secrets that its user may not get.
	ReferencedDataAccessReview featuregate.Feature = "ReferencedDataAccessReview"
	// InstanceLogs offers InstanceSessions of type Logs.
	InstanceLogs featuregate.Feature = "InstanceLogs"
	// InstanceExec offers InstanceSessions of types Exec, Attach and PortForward.
	InstanceExec featuregate.Feature = "InstanceExec"
)

// NewFeatureGate returns a gate with every feature of admission at its default.
func NewFeatureGate() featuregate.MutableVersionedFeatureGate {
	gate := featuregate.NewFeatureGate()
	runtime.Must(gate.Add(map[featuregate.Feature]featuregate.FeatureSpec{
		NetworkAccessReview:        {Default: true, PreRelease: featuregate.Beta},
		ReferencedDataAccessReview: {Default: true, PreRelease: featuregate.Beta},
		InstanceLogs:               {Default: false, PreRelease: featuregate.Alpha},
		InstanceExec:               {Default: false, PreRelease: featuregate.Alpha},
	}))
	return gate
}
