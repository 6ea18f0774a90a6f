// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// Owned denies writes to WorkloadDeployments, Instances and InstanceTypes in a project to all users but the add-on: these objects
// mirror what the add-on does or offers, so changing one has no effect. It is safe for concurrent use.
type Owned struct {
	// Users returns the users that the add-on's controllers are at Milo. Its errors have the classes of those of Projects.
	Users func(context.Context) ([]string, error)
}

// Handle answers one admission request.
func (o *Owned) Handle(ctx context.Context, request admission.Request) admission.Response {
	advice, owned := advices[request.Kind.Kind]
	if request.Kind.Group != v1alpha.GroupVersion.Group || !owned {
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
	if suspends(request) {
		return admission.Denied(fmt.Sprintf("annotation %s of a %s %s", v1alpha.AnnotationSuspended, request.Kind.Kind, validation.SuspensionAdvice))
	}
	return admission.Denied(fmt.Sprintf("a %s is made and kept by karmada-compute; %s", request.Kind.Kind, advice))
}

// suspends reports whether a request sets v1alpha.AnnotationSuspended. What cannot be read does not.
func suspends(request admission.Request) bool {
	now, then := &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadata{}
	if json.Unmarshal(request.Object.Raw, now) != nil || len(request.OldObject.Raw) > 0 && json.Unmarshal(request.OldObject.Raw, then) != nil {
		return false
	}
	return validation.Suspends(now, then)
}

// advices are what to do instead of a write, by kind.
var advices = map[string]string{
	"WorkloadDeployment": "change the Workload that it comes from",
	"Instance":           "change the Workload that it comes from",
	"InstanceType":       "it shows what the operator offers, who changes it on the hub",
}
