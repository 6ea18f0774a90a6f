// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// SurgePatience is how long additional Instances may wait for quota or capacity. Then the rollout of the city continues
// without them.
const SurgePatience = 30 * time.Second

// mostInstances is how many Instances a deployment may have.
const mostInstances = 5000

// addSurge adds to a city what is known of its additional Instances. The autoscaler of a cell counts all Instances, and
// would remove others in place of additional ones.
func (r *Reading) addSurge(o *Objects, city *City, d *Deployment) (err error) {
	spec := o.Workload.Spec.Rollout
	_, explicit := spec.Surge(0)
	waits := o.Workload.Spec.Template.Spec.OnNodeLoss == v1alpha.NodeLossWait && !explicit
	desired := v1alpha.WorkloadDeploymentSpec{ScaleSettings: d.Scale}
	city.Surge = int(d.Existing.Spec.Surge)
	city.NoSurge = desired.Autoscaled() || d.Existing.Spec.Autoscaled() || waits || 2*city.Desired > mostInstances
	switch {
	case city.Surge == 0:
	case city.NoSurge || spec.RefusesSurge():
		city.SurgeLate = true
	case city.Observed:
		city.SurgeLate, err = r.isSurgeLate(o, city, d.Existing)
	}
	return err
}

// isSurgeLate reports whether the cells have not started all Instances of a city for too long, for lack of quota or of
// capacity.
func (r *Reading) isSurgeLate(o *Objects, city *City, existing *v1alpha.WorkloadDeployment) (bool, error) {
	started := 0
	for _, instance := range city.Instances {
		waits, err := o.awaitsCapacity(city, instance)
		if err != nil {
			return false, err
		}
		if !waits {
			started++
		}
	}
	since := existing.Status.LastProgressTime
	if started >= city.Desired+city.Surge || since == nil {
		return false, nil
	}
	remaining := since.Add(SurgePatience).Sub(o.Now)
	if remaining > 0 && (r.Again == 0 || remaining < r.Again) {
		r.Again = remaining
	}
	return remaining <= 0, nil
}

// full are the reasons of Ready on an Instance that its cell has no capacity for.
var full = []string{v1alpha.ReasonUnschedulable, v1alpha.ReasonCellQuotaExceeded}

// awaitsCapacity reports whether an Instance waits for quota, of the project or of the cell, or for a node.
func (o *Objects) awaitsCapacity(city *City, known Instance) (bool, error) {
	if known.Available || known.Held {
		return known.Held, nil
	}
	instance, err := o.Instance(naming.InstanceName(city.Name, known.Index))
	if err != nil || instance == nil {
		return false, err
	}
	ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionReady)
	return ready != nil && slices.Contains(full, ready.Reason), nil
}
