// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"fmt"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// NewAccessMetric creates the metric of Confirmations and registers it.
func NewAccessMetric(registerer prometheus.Registerer) *prometheus.GaugeVec {
	access := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "karmada_compute_cluster_access",
		Help: "1 for each Cluster that gives others more than they need, by the reason in its conditions.",
	}, []string{"cell", "reason"})
	registerer.MustRegister(access)
	return access
}

// foreignSecret returns the reference of a Cluster to a Secret that is not its own; "": it has none.
func foreignSecret(cluster *clusterv1alpha1.Cluster) string {
	if ref := cluster.Spec.SecretRef; ref != nil && !reasons.IsCredential(cluster.Name, ref.Namespace, ref.Name, false) {
		return fmt.Sprintf("spec.secretRef: %s/%s", ref.Namespace, ref.Name)
	}
	if ref := cluster.Spec.ImpersonatorSecretRef; ref != nil && !reasons.IsCredential(cluster.Name, ref.Namespace, ref.Name, true) {
		return fmt.Sprintf("spec.impersonatorSecretRef: %s/%s", ref.Namespace, ref.Name)
	}
	return ""
}

// foreign is the condition of a Cluster that names a Secret of others; nil for all other Clusters.
func foreign(cluster *clusterv1alpha1.Cluster) *metav1.Condition {
	reference := foreignSecret(cluster)
	if reference == "" {
		return nil
	}
	return &metav1.Condition{
		Type: v1alpha.ConditionComputeCityConfirmed, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonForeignSecret,
		ObservedGeneration: cluster.Generation,
		Message: fmt.Sprintf("%s is not the Secret that karmadactl creates for this Cluster, and Karmada sends its token to %s: if no operator "+
			"of yours did this, run kubectl delete cluster %s, and replace the token", reference, cluster.Spec.APIEndpoint, cluster.Name),
	}
}

// accessFor is how long what was found about the rights of others holds. Events of Clusters, which may have any rate, do
// not read the hub more often.
const accessFor = time.Minute

// accessFinding has the findings about the rights of others on the objects of a Cluster.
type accessFinding struct {
	until     time.Time
	condition *metav1.Condition
}

// access returns the condition about the rights of others; nil: they have no more than they need.
func (r *Confirmations) access(ctx context.Context, cluster *clusterv1alpha1.Cluster) (*metav1.Condition, error) {
	now := r.Clock.Now()
	if known, found := r.accessFindings[cluster.Name]; found && now.Before(known.until) {
		return known.condition.DeepCopy(), nil
	}
	condition, err := r.findAccess(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if r.accessFindings == nil {
		r.accessFindings = map[string]accessFinding{}
	}
	r.accessFindings[cluster.Name] = accessFinding{now.Add(accessFor), condition.DeepCopy()}
	return condition, nil
}

func (r *Confirmations) findAccess(ctx context.Context, cluster *clusterv1alpha1.Cluster) (*metav1.Condition, error) {
	condition := &metav1.Condition{
		Type: v1alpha.ConditionComputeAccessRestricted, Status: metav1.ConditionFalse, ObservedGeneration: cluster.Generation,
	}
	strangers, err := reasons.StrangersOfCell(ctx, r.Cities.APIReader, cluster.Name)
	if err != nil {
		return nil, err
	}
	if len(strangers) > 0 {
		condition.Reason, condition.Message = v1alpha.ReasonStrangersInNamespace, aboutStrangers(strangers)
		return condition, nil
	}
	if cluster.Spec.SyncMode != clusterv1alpha1.Pull {
		return nil, nil
	}
	if now := r.Clock.Now(); !now.Before(r.rolesUntil) {
		if r.roles, err = reasons.AgentRoles(ctx, r.Cities.APIReader); err != nil {
			return nil, err
		}
		r.rolesUntil = now.Add(accessFor)
	}
	var own []reasons.AgentRole
	for _, role := range r.roles {
		if role.Agent == "" || role.Agent == cluster.Name {
			own = append(own, role)
		}
	}
	if len(own) == 0 {
		return nil, nil
	}
	condition.Reason, condition.Message = v1alpha.ReasonAgentMayCreateClusters, reasons.AboutAgentRoles(own)
	return condition, nil
}

func aboutStrangers(strangers []string) string {
	return fmt.Sprintf("others have rights in the namespace of the cell's Works, which hold the Secrets of its deployments: RoleBindings %s; "+
		"delete them with kubectl delete rolebinding -n <namespace> <name>", reasons.Some(strangers))
}

// measure reports the conditions of a Cluster about rights.
func (r *Confirmations) measure(cell string, conditions ...*metav1.Condition) {
	if r.Access == nil {
		return
	}
	r.Access.DeletePartialMatch(prometheus.Labels{"cell": cell})
	for _, c := range conditions {
		if c != nil {
			r.Access.WithLabelValues(cell, c.Reason).Set(1)
		}
	}
}
