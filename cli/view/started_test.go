// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const (
	oldData = "0123456789abcdef"
	newData = "fedcba9876543210"
)

// startedWith returns an Instance that was started with data of a hash.
func startedWith(hash string, one v1alpha.Instance) v1alpha.Instance {
	one.Status.Controller = &v1alpha.InstanceControllerStatus{DataHash: hash}
	return one
}

// TestDataInTree: while Instances were started with different data, their lines have its hash, and no group mixes
// them.
func TestDataInTree(t *testing.T) {
	s := &Snapshot{Workload: workload(30, 30), Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 30, 30)}}
	for index := range 30 {
		s.Instances = append(s.Instances, startedWith(oldData, instance("DFW", index, isReady)))
	}
	if got := lines(s, Layout{}); len(got) != 3 || strings.Contains(got[2], "data") {
		t.Errorf("with the same data, they are\n%s", strings.Join(got, "\n"))
	}
	for index := 10; index < 20; index++ {
		s.Instances[index].Status.Controller.DataHash = newData
	}
	got := lines(s, Layout{})
	if len(got) != 5 || !strings.HasSuffix(got[2], "10 Instances  (data "+oldData+")") || !strings.HasSuffix(got[3], "(data "+newData+")") {
		t.Errorf("with different data, they are\n%s", strings.Join(got, "\n"))
	}
}

// TestNewerData: the tree and explain tell which Instances wait for a restart, who acts, and what to do; a rollout
// waits for nobody.
func TestNewerData(t *testing.T) {
	pending := condition(v1alpha.ConditionDataCurrent, "False", v1alpha.ReasonRestartPending, "newer data waits for a restart: ConfigMap app")
	s := &Snapshot{Workload: workload(2, 2), Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 2, 2)}}
	s.Instances = []v1alpha.Instance{
		startedWith(oldData, instance("DFW", 0, isReady, pending)), startedWith(oldData, instance("DFW", 1, isReady, pending)),
	}
	tree := strings.Join(lines(s, Layout{Wide: true}), "\n")
	if !strings.Contains(tree, "warning: RestartPending newer data waits for a restart: ConfigMap app  (data "+oldData+")") ||
		!strings.Contains(tree, "-> consumer: Restart the Instances: `kubectl compute restart NAME`") {
		t.Errorf("the tree is\n%s", tree)
	}
	ways := s.Ways()
	warnings := Warnings(ways)
	if len(Verdicts(ways)) > 0 || len(warnings) != 1 || len(warnings[0].Names) != 2 {
		t.Fatalf("the warnings are %+v", warnings)
	}
	text := strings.Join(warnings[0].Lines(time.Now(), 0), "\n")
	for _, part := range []string{
		"Warning about 2 Instances (project): RestartPending", "ConfigMap app", "-> consumer: Restart the Instances",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("explain lacks %q:\n%s", part, text)
		}
	}

	old := v1alpha.DataVersion{Kind: "ConfigMap", Name: "app", Hash: oldData}
	rolling := startedWith(oldData, instance("DFW", 0, isReady))
	snapshot := corev1.LocalObjectReference{Name: templates.SnapshotName(old.Name, old.Hash)}
	rolling.Spec.Volumes = []v1alpha.InstanceVolume{{InstanceVolumeSource: v1alpha.InstanceVolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: snapshot},
	}}}
	s.Instances = []v1alpha.Instance{rolling, startedWith(newData, instance("DFW", 1, isReady))}
	s.Workload.Status.Data = &v1alpha.WorkloadDataStatus{Objects: []v1alpha.DataVersion{{Kind: "ConfigMap", Name: "app", Hash: newData}}}
	if tree := strings.Join(lines(s, Layout{}), "\n"); strings.Count(tree, "newer waits for the rollout") != 1 {
		t.Errorf("during a rollout the tree is\n%s", tree)
	}
	if got := Warnings(s.Ways()); len(got) > 0 {
		t.Errorf("during a rollout it warns of %+v", got)
	}
}
