// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Eviction is a cell that Karmada empties, or would empty, because of the taints of its Cluster.
type Eviction struct {
	Cell string `json:"cell"`
	// NoExecute are the taints with effect NoExecute, as key=value.
	NoExecute []string `json:"noExecute,omitempty"`
	// Leaving is the number of deployments that leave the cell by graceful eviction, the first of them since Since.
	Leaving int          `json:"leaving,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
}

// evictions returns the cells that Karmada empties or would empty, in the order of the Clusters.
func evictions(o *HubObjects) []Eviction {
	var result []Eviction
	for i := range o.Clusters {
		cluster := &o.Clusters[i]
		if _, labelled := cluster.Labels[v1alpha.LabelTopologyCity]; !labelled {
			continue
		}
		found := Eviction{Cell: cluster.Name}
		for _, taint := range cluster.Spec.Taints {
			if taint.Effect == corev1.TaintEffectNoExecute {
				found.NoExecute = append(found.NoExecute, taintName(&taint))
			}
		}
		slices.Sort(found.NoExecute)
		found.addLeaving(o)
		if len(found.NoExecute) > 0 || found.Leaving > 0 {
			result = append(result, found)
		}
	}
	return result
}

func taintName(taint *corev1.Taint) string {
	if taint.Value == "" {
		return taint.Key
	}
	return taint.Key + "=" + taint.Value
}

// addLeaving counts the deployments with an eviction from the cell. Karmada keeps an eviction when the taint is removed.
func (e *Eviction) addLeaving(o *HubObjects) {
	for i := range o.Bindings {
		if o.Bindings[i].Spec.Resource.Kind != v1alpha.KindWorkloadDeployment {
			continue
		}
		for _, task := range o.Bindings[i].Spec.GracefulEvictionTasks {
			if task.FromCluster != e.Cell {
				continue
			}
			e.Leaving++
			if at := task.CreationTimestamp; at != nil && (e.Since == nil || at.Before(e.Since)) {
				e.Since = at
			}
		}
	}
}

// Warnings are lines that describe the eviction to an operator, with the actions.
func (e *Eviction) Warnings(now time.Time) []string {
	var lines []string
	for _, taint := range e.NoExecute {
		lines = append(lines, fmt.Sprintf("warning: cell %s has the NoExecute taint %s: with --enable-no-execute-taint-eviction, "+
			"Karmada removes its deployments without a disruption budget", e.Cell, taint), "  -> remove it, or use NoSchedule")
	}
	if e.Leaving > 0 {
		since := ""
		if e.Since != nil {
			since = " since " + duration.HumanDuration(now.Sub(e.Since.Time))
		}
		count := reasons.Count(int32(e.Leaving), "deployment leaves", "deployments leave") //nolint:gosec // at most as many as bindings
		lines = append(lines, fmt.Sprintf("warning: %s cell %s%s: changes have no effect there until Karmada has ended the eviction, "+
			"which removes the Instances", count, e.Cell, since),
			"  -> let another cell of the city take the Instances before that: docs/reference/failover.md#noexecute-taints")
	}
	return lines
}
