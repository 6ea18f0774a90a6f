// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Values of Node.NewerData.
const (
	newerRestart = "Restart"
	newerRollout = "Rollout"
)

// hasData reports whether Instances were started with different data, or newer data waits for a restart of one.
func (s *Snapshot) hasData() bool {
	known := map[string]bool{}
	for i := range s.Instances {
		if controller := s.Instances[i].Status.Controller; controller != nil && controller.DataHash != "" {
			known[controller.DataHash] = true
		}
		if meta.IsStatusConditionFalse(s.Instances[i].Status.Conditions, v1alpha.ConditionDataCurrent) {
			return true
		}
	}
	return len(known) > 1
}

// newerData returns what newer data of an Instance waits for: the restart of its containers, which keep what they were
// started with, or the rollout of the data that the Workload has chosen.
func (s *Snapshot) newerData(node *Node) string {
	if meta.IsStatusConditionFalse(node.Conditions, v1alpha.ConditionDataCurrent) {
		return newerRestart
	}
	if s.Workload == nil || s.Workload.Status.Data == nil {
		return ""
	}
	for _, newest := range s.Workload.Status.Data.Objects {
		if slices.ContainsFunc(node.Data, func(v v1alpha.DataVersion) bool {
			return v.Kind == newest.Kind && v.Name == newest.Name && v.Hash != newest.Hash
		}) {
			return newerRollout
		}
	}
	return ""
}

// data returns the text of a line about the data of an Instance; "" while all Instances have the same data.
func (n *Node) data() string {
	if !n.showsData || n.DataHash == "" {
		return ""
	}
	text := "data " + n.DataHash
	if n.NewerData == newerRollout {
		text += ", newer waits for the rollout"
	}
	return text
}
