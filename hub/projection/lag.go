// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Lag measures how fresh it is what projects show: how long a change of an Instance's condition Ready takes from its cell to its
// project. It is safe for concurrent use.
type Lag struct {
	seconds *prometheus.HistogramVec
}

// NewLag registers the metric.
func NewLag(registerer prometheus.Registerer) (*Lag, error) {
	l := &Lag{seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "karmada_compute_status_lag_seconds",
		Help:    "From a change of an Instance's condition Ready in its cell until the project shows it, by city. The cell's time is in whole seconds, and by its clock. What the add-on itself says of Instances that it knows nothing of is not counted.",
		Buckets: []float64{1, 2, 3, 5, 7.5, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600},
	}, []string{"city"})}
	if err := registerer.Register(l.seconds); err != nil {
		return nil, fmt.Errorf("register the metric of the lag of what is shown: %w", err)
	}
	return l, nil
}

// measureLag is called when the conditions of an Instance are shown in the place of others. One that is shown for the first time, or
// again after a doubt, has not changed now.
func (s *scope) measureLag(before, shown []metav1.Condition) {
	from, to := meta.FindStatusCondition(before, v1alpha.ConditionReady), meta.FindStatusCondition(shown, v1alpha.ConditionReady)
	if from == nil || to == nil || from.Status == to.Status || to.Status == metav1.ConditionUnknown ||
		!to.LastTransitionTime.After(from.LastTransitionTime.Time) {
		return
	}
	// Two clocks: the cell's may be ahead.
	s.Lag.seconds.WithLabelValues(s.deployment.Spec.CityCode).Observe(max(0, s.Clock.Now().Sub(to.LastTransitionTime.Time).Seconds()))
}
