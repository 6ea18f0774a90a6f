// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// surgePatience is how long additional Instances may wait for quota or capacity. Then the rollout of the city continues
// without them.
const surgePatience = 30 * time.Second

// mostInstances is how many Instances a deployment may have.
const mostInstances = 5000

// addSurge adds to a city what is known of its additional Instances. The autoscaler of a cell counts all Instances, and
// would remove others in place of additional ones.
func (s *scope) addSurge(ctx context.Context, city *rollout.City, existing, desired *v1alpha.WorkloadDeployment) (err error) {
	_, explicit := s.workload.Spec.Rollout.Surge(0)
	waits := s.workload.Spec.Template.Spec.OnNodeLoss == v1alpha.NodeLossWait
	city.Surge = int(existing.Spec.Surge)
	city.NoSurge = desired.Spec.Autoscaled() || existing.Spec.Autoscaled() || waits && !explicit || 2*city.Desired > mostInstances
	switch {
	case city.Surge == 0:
	case city.NoSurge || s.workload.Spec.Rollout.RefusesSurge():
		city.SurgeLate = true
	case city.Observed:
		city.SurgeLate, err = s.isSurgeLate(ctx, city, existing)
	}
	return err
}

// isSurgeLate reports whether the cells have not started all Instances of a city for too long, for lack of quota or of
// capacity.
func (s *scope) isSurgeLate(ctx context.Context, city *rollout.City, existing *v1alpha.WorkloadDeployment) (bool, error) {
	started := 0
	for _, of := range city.Instances {
		waits, err := s.awaitsCapacity(ctx, city, of)
		if err != nil {
			return false, err
		}
		if !waits {
			started++
		}
	}
	if since := existing.Status.LastProgressTime; started >= city.Desired+city.Surge || since == nil {
		return false, nil
	}
	if rest := existing.Status.LastProgressTime.Add(surgePatience).Sub(s.Clock.Now()); rest > 0 {
		s.requeueAfter.AtMost(rest)
		return false, nil
	}
	return true, nil
}

// awaitsCapacity reports whether an Instance waits for quota or for a node.
func (s *scope) awaitsCapacity(ctx context.Context, city *rollout.City, of rollout.Instance) (bool, error) {
	if of.Available || of.Held {
		return of.Held, nil
	}
	instance := &v1alpha.Instance{}
	key := client.ObjectKey{Namespace: s.workload.Namespace, Name: naming.InstanceName(city.Name, of.Index)}
	if err := s.client.Get(ctx, key, instance); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("get Instance %s, which is not Available: %w", key.Name, err)
	}
	ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionReady)
	return ready != nil && ready.Reason == v1alpha.ReasonUnschedulable, nil
}
