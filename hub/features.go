// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/component-base/featuregate"
)

// NetworkBinding connects the networks of deployments to their cities through NetworkBindings in the project: Instances
// start when their NetworkBindings are Ready. Enable it if the projects have a network service.
const NetworkBinding featuregate.Feature = "NetworkBinding"

// AddFeatures adds the features of the controllers, at their defaults, to a gate.
func AddFeatures(gate featuregate.MutableFeatureGate) {
	runtime.Must(gate.Add(map[featuregate.Feature]featuregate.FeatureSpec{
		NetworkBinding: {Default: false, PreRelease: featuregate.Alpha},
	}))
}
