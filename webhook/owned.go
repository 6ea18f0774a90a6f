// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Owned refuses writes to WorkloadDeployments and Instances in a project by anybody but the add-on: they show what the
// add-on does, and a change there changes nothing. It is safe for concurrent use.
type Owned struct {
	// Users are who the add-on's controllers are at Milo. An error says that Milo could not be asked.
	Users func(context.Context) ([]string, error)
}

// Handle answers one admission request.
func (o *Owned) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Kind.Group != v1alpha.GroupVersion.Group || request.Kind.Kind != "WorkloadDeployment" && request.Kind.Kind != "Instance" {
		return malformed(fmt.Errorf("kind %s of group %q is not validated here; correct the rules of the "+
			"ValidatingWebhookConfiguration", request.Kind.Kind, request.Kind.Group))
	}
	users, err := o.Users(ctx)
	if err != nil {
		return unavailable(fmt.Errorf("the users of the add-on are not known, try again: %w", err))
	}
	if slices.Contains(users, request.UserInfo.Username) {
		return admission.Allowed("")
	}
	return admission.Denied(fmt.Sprintf("a %s is made and kept by karmada-compute; change the Workload that it comes from", request.Kind.Kind))
}
