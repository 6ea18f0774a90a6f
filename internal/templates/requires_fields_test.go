// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/leaves"
)

// notRequired are the fields of a deployment that a cell may lack, each with the reason.
var notRequired = map[string]string{
	// Parts of a field that is required. Schema and part came with it.
	"AvailabilityFloor": part, "CellAssignment": part, "IndexRange": part, "PendingFloor": part, "WorkloadDeploymentAssignment": part,
	"ContainerSecurityContext": part, "SandboxSecurityContext": part, "QuotaSize": part, "QuotaWithheld": part,
	"WorkloadDeploymentQuota": part, "WorkloadDeploymentNetworks": part, "WorkloadDeploymentPartition": part,

	// Fields of the first API.
	"HorizontalScaleSettings.instanceManagementPolicy": first, "HorizontalScaleSettings.minReplicas": first,
	"HorizontalScaleSettings.maxReplicas": first, "HorizontalScaleSettings.metrics": first, "MetricSpec.resource": first,
	"MetricTarget": first, "ResourceMetricSource": first,
	"InstanceRuntimeResources": first, "InstanceRuntimeSpec": first, "InstanceTemplateSpec": first, "InstanceVolume": first,
	"InstanceNetworkInterface": first, "InterfaceNetworkPolicy": first, "NetworkReference": first, "LocationReference": first,
	"InstanceSpec.networkInterfaces": first, "InstanceSpec.location": first, "InstanceVolumeSource.configMap": first,
	"InstanceVolumeSource.secret": first, "NamedPort": first, "ContainerResourceRequirements": first,
	"SandboxContainer.name": first, "SandboxContainer.image": first, "SandboxContainer.command": first, "SandboxContainer.args": first,
	"SandboxContainer.envFrom": first, "SandboxContainer.ports": first, "SandboxContainer.resources": first,
	"SandboxRuntime.containers": first, "SandboxRuntime.imagePullSecrets": first, "ImagePullSecretReference": first,
	"VolumeAttachment.name": first, "VolumeAttachment.mountPath": first,
	"WorkloadDeploymentSpec.workloadRef": first, "WorkloadDeploymentSpec.placementName": first, "WorkloadDeploymentSpec.cityCode": first,
	"WorkloadDeploymentSpec.template": first, "WorkloadReference": first, "InstanceController": first, "InstanceSpec.controller": first,
	"SchedulingGate": first,

	// Fields without which less runs, or as much.
	"SandboxContainer.restartPolicy":           "a sidecar is an init container that does not end: the Instance does not start",
	"WorkloadDeploymentSpec.replicas":          "it repeats scaleSettings for Karmada, which has decided already",
	"WorkloadDeploymentSpec.slices":            "without its slice an Instance does not start",
	"WorkloadDeploymentSpec.surge":             "the cell starts no additional Instance",
	"WorkloadDeploymentSpec.overrides":         "the cell waits for its turn",
	"OverrideTurn":                             "the cell waits for its turn",
	"WorkloadDeploymentSpec.service":           "Instances start, and are not reached",
	"WorkloadDeploymentSpec.serviceGeneration": "Instances start, and are not reached",
	"WorkloadService":                          "Instances start, and are not reached",
	"ServicePort":                              "Instances start, and are not reached",

	// Fields that the cell refuses, whether or not its schema has them.
	"InterfaceAddress": refused, "VirtualMachineRuntime": refused, "InstanceVolumeSource.disk": refused, "DiskVolumeSource": refused,
	"DiskTemplate": refused, "DiskSpec": refused, "DiskPopulator": refused, "DiskResourceRequirements": refused,
	"ImageDiskPopulator": refused, "FilesystemDiskPopulator": refused,

	// Fields that only the hub reads.
	"WorkloadRollout": hub, "OnDataChange": hub, "ServiceProbe": hub,
}

const (
	part    = "it is a part of a required field"
	first   = "every agent has it"
	refused = "the cell refuses it by name"
	hub     = "only the hub reads it"
)

// TestEveryFieldIsRequired: a cell whose CRD drops a field of a deployment starts nothing, unless the list has the reason
// why it may.
func TestEveryFieldIsRequired(t *testing.T) {
	deployment := &v1alpha.WorkloadDeployment{}
	leaves.Fill(&deployment.Spec)
	for _, template := range deployment.Spec.Templates() {
		for _, container := range template.Spec.Runtime.Sandbox.AllContainers() {
			container.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		template.Spec.OnNodeLoss = v1alpha.NodeLossWait
	}
	deployment.Annotations = map[string]string{v1alpha.AnnotationRequires: Requires(&deployment.Spec)}
	var without, missed []string
	leaves.Without(&deployment.Spec, func(field string) {
		missing := MissingFields(deployment)
		if missed = append(missed, missing...); len(missing) == 0 {
			without = append(without, field)
		}
	})
	for name := range holding {
		if !slices.Contains(missed, name) && name != "template.fieldRef" && name != "template.resourceFieldRef" {
			t.Errorf("no field of a deployment is %s", name)
		}
	}
	unlisted, stale := leaves.Lost(without, notRequired)
	for _, path := range unlisted {
		t.Errorf("a cell without %s starts Instances: add it to requires.go, or say here why it may", path)
	}
	for _, path := range stale {
		t.Errorf("%s is required: remove its entry", path)
	}
}
