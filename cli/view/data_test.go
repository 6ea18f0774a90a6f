// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// TestDataOfAnInstance: the tree has the data that each Instance was started with, also after the Workload has newer data.
func TestDataOfAnInstance(t *testing.T) {
	started := v1alpha.DataVersion{Kind: "ConfigMap", Name: "app", Hash: "0123456789abcdef"}
	one := instance("DFW", 0, isReady)
	for _, name := range []string{templates.SnapshotName(started.Name, started.Hash), "other"} {
		one.Spec.Volumes = append(one.Spec.Volumes, v1alpha.InstanceVolume{InstanceVolumeSource: v1alpha.InstanceVolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		}})
	}
	s := Snapshot{Name: "web", Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 1, 1)}, Instances: []v1alpha.Instance{one}}
	root := s.Tree()
	if got := root.Children[0].Children[0].Data; !slices.Equal(got, []v1alpha.DataVersion{started}) {
		t.Errorf("it was started with %v", got)
	}
}

// TestAHoldInExplain: the hold of an undo is a warning with its remedy while all Instances are Ready.
func TestAHoldInExplain(t *testing.T) {
	found := cause([]metav1.Condition{
		condition(v1alpha.ConditionAvailable, "True", v1alpha.ReasonAvailablePlacementFound, ""),
		condition(v1alpha.ConditionDataCurrent, "False", v1alpha.ReasonDataHeld, "an undo holds ConfigMap app"),
	}, workloadConditions, time.Now())
	if found == nil || found.Reason != v1alpha.ReasonDataHeld || !found.Warning || found.Do == "" {
		t.Errorf("found is %+v", found)
	}
}
