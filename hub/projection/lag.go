// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Lag measures the freshness of projects: how long a change of an Instance's condition Ready takes from its cell to its
// project. It is safe for concurrent use.
type Lag struct {
	seconds *prometheus.HistogramVec
}

// NewLag returns a Lag and registers its metric.
func NewLag(registerer prometheus.Registerer) *Lag {
	l := &Lag{seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "karmada_compute_status_lag_seconds",
		Help: "Time from a change of an Instance's condition Ready in its cell until the project shows the change, by city. " +
			"The time of the change is in whole seconds of the cell's clock. Conditions that the add-on sets on Instances in an " +
			"Unknown state are not counted.",
		Buckets: []float64{1, 2, 3, 5, 7.5, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600},
	}, []string{"city"})}
	registerer.MustRegister(l.seconds)
	return l
}

// measureLag is called when the conditions of an Instance replace others.
func (s *scope) measureLag(before, shown []metav1.Condition) {
	from, target := meta.FindStatusCondition(before, v1alpha.ConditionReady), meta.FindStatusCondition(shown, v1alpha.ConditionReady)
	if target == nil || target.Status == metav1.ConditionUnknown || !s.isNews(from, target) {
		return
	}
	// Two clocks: the cell's may be ahead.
	s.Lag.seconds.WithLabelValues(s.deployment.Spec.CityCode).Observe(max(0, s.Clock.Now().Sub(target.LastTransitionTime.Time).Seconds()))
}

// isNews reports whether an Instance has changed in its cell since the project showed it. A new projection is often of
// an Instance that was ready before: it is news only while the project shows fewer ready Instances than cells report,
// and not if a user had deleted the projection. After an Unknown phase the old condition returns with its old
// transition time.
func (s *facts) isNews(from, target *metav1.Condition) bool {
	if from == nil {
		return target.Status == metav1.ConditionTrue && s.copied.Status.ReadyReplicas > s.deployment.Status.ReadyReplicas
	}
	return from.Status != target.Status && !target.LastTransitionTime.Before(&from.LastTransitionTime)
}
