// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"fmt"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
)

// eventRestored is the reason of the Event about a copy that is older than what its cells have confirmed.
const eventRestored = "HubRestored"

// tellOfRestore records an Event when the hub's copy is older than the generation that its cells have confirmed to the
// project: the hub was restored from a backup. The project decides: what is in the middle there, such as a rollout,
// continues. Without Milo, the project is part of the hub, and may be of the same backup.
func (s *scope) tellOfRestore(ctx context.Context) error {
	sent, known := s.generationOf(s.existing)
	confirmed := s.deployment.Status.ObservedGeneration
	if !known || sent >= confirmed {
		return nil
	}
	// The cache may be behind.
	fresh := &v1alpha.WorkloadDeployment{}
	if err := s.APIReader.Get(ctx, client.ObjectKeyFromObject(s.existing), fresh); err != nil {
		return client.IgnoreNotFound(err)
	}
	if sent, known = s.generationOf(fresh); !known || sent >= confirmed {
		return nil
	}
	rollout := ""
	if s.deployment.Spec.Partition != nil {
		rollout = fmt.Sprintf("; its rollout continues with the Instances from index %d on", s.deployment.Spec.Partition.Index)
	}
	s.warn(eventRestored,
		"the hub has generation %d of the deployment, and its cells have confirmed generation %d: the hub was restored from a backup. "+
			"Instances keep what they run until the turn of their city, unless an agent of an earlier version has created them; "+
			"the project's generation %d is sent again%s",
		sent, confirmed, s.deployment.Generation, rollout)
	return nil
}

// generationOf returns the generation of the original from which a copy was written.
func (s *scope) generationOf(copied *v1alpha.WorkloadDeployment) (generation int64, known bool) {
	if copied.UID == "" || !path.IsCopy(copied, s.deployment) {
		return 0, false
	}
	generation, err := strconv.ParseInt(copied.Annotations[v1alpha.AnnotationProjectGeneration], 10, 64)
	return generation, err == nil
}
