// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package autoscaler reads WorkloadDeployments that are scaled by metrics, and keeps a HorizontalPodAutoscaler for each
// of them. Kubernetes' autoscaler then sets spec.replicas of the deployment, through its scale subresource, with or
// without the hub.
package autoscaler
