// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// findSuspension determines whether the project is suspended. The WorkloadDeployment reports it: while it is being
// replaced by another of its name, the state is unknown, and no Instance is started.
func (s *scope) findSuspension(context.Context) error {
	switch {
	case s.deployment != nil:
		refused := templates.RefusalOf(s.deployment)
		if refused.Of("suspended") {
			s.blocked = &finding{refused.Reason(), refused.Message()}
			return nil
		}
		s.suspended = s.deployment.Spec.Suspended
	case metav1.GetControllerOfNoCopy(s.instance) != nil:
		s.blocked = &finding{v1alpha.ReasonProvisioning, "waiting for the WorkloadDeployment of the Instance"}
	}
	return nil
}

// stopPod deletes the Pod of an Instance whose project is suspended. The Instance stays, and gets another Pod when the
// project is resumed.
func (s *scope) stopPod(ctx context.Context) error {
	if !s.suspended || s.pod == nil || !s.pod.DeletionTimestamp.IsZero() || !s.instance.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := s.Client.Delete(ctx, s.pod, client.Preconditions{UID: &s.pod.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Pod %s, whose project is suspended: %w", client.ObjectKeyFromObject(s.pod), err)
	}
	log.FromContext(ctx).Info("Deleted the Pod, since the project is suspended")
	return nil
}
