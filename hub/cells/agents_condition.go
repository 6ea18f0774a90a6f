// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"encoding/json"
	"fmt"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// reported is Karmada's report of a Deployment in a cluster.
type reported struct {
	Replicas                   int32 `json:"replicas,omitempty"`
	UpdatedReplicas            int32 `json:"updatedReplicas,omitempty"`
	AvailableReplicas          int32 `json:"availableReplicas,omitempty"`
	Generation                 int64 `json:"generation,omitempty"`
	ObservedGeneration         int64 `json:"observedGeneration,omitempty"`
	ResourceTemplateGeneration int64 `json:"resourceTemplateGeneration,omitempty"`
}

// agentCondition returns the desired condition of a Cluster; nil: no condition. Without a binding, Karmada did not
// install the agents, and their state is unknown.
func agentCondition(cluster *clusterv1alpha1.Cluster, binding *workv1alpha2.ResourceBinding) *metav1.Condition {
	if !isCell(cluster) || binding.Name == "" {
		return nil
	}
	c := &metav1.Condition{Type: v1alpha.ConditionComputeAgentReady, Status: metav1.ConditionFalse, ObservedGeneration: cluster.Generation}
	newest := int64(0)
	var own *reported
	for _, item := range binding.Status.AggregatedStatus {
		r := parse(item)
		newest = max(newest, r.ResourceTemplateGeneration)
		if item.ClusterName == cluster.Name {
			own = &r
		}
	}
	switch {
	case own == nil:
		c.Reason = v1alpha.ReasonAgentMissing
		c.Message = "Karmada has not brought the agent of karmada-compute here; see ResourceBinding " + Binding.String()
	case own.AvailableReplicas == 0:
		c.Reason = v1alpha.ReasonAgentNotReady
		c.Message = fmt.Sprintf("no replica of the agent is available; see Deployment karmada-compute-cell in namespace %s of the cell", Binding.Namespace)
	case own.ResourceTemplateGeneration < newest || own.UpdatedReplicas < own.Replicas || own.ObservedGeneration < own.Generation:
		c.Reason = v1alpha.ReasonAgentOutdated
		c.Message = fmt.Sprintf("the agent runs generation %d of its template; other cells have %d", own.ResourceTemplateGeneration, newest)
		if own.ResourceTemplateGeneration >= newest {
			c.Message = fmt.Sprintf("%d of %d replicas of the agent are updated", own.UpdatedReplicas, own.Replicas)
		}
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, v1alpha.ReasonAgentReady, "the agent of karmada-compute is available and current"
	}
	return c
}

// parse decodes a cluster's report; a report that cannot be decoded counts as empty.
func parse(item workv1alpha2.AggregatedStatusItem) reported {
	var r reported
	if item.Status != nil && json.Unmarshal(item.Status.Raw, &r) != nil {
		return reported{}
	}
	return r
}
