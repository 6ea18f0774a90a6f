// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// Owned denies writes to WorkloadDeployments, Instances, WorkloadRevisions and InstanceTypes in a project, their
// subresources included, to all users but the add-on: these objects show what the add-on does or offers, and the add-on
// acts on them. It denies deletions of WorkloadDeployments by mistake. It is safe for concurrent use.
type Owned struct {
	// Users returns the users of the add-on's controllers at Milo. Its errors have the same classes as the errors of
	// Projects.
	Users func(context.Context) ([]string, error)
}

// Handle answers one admission request.
func (o *Owned) Handle(ctx context.Context, request admission.Request) admission.Response {
	// The resource and not the kind: the kind of a scale subresource is Scale.
	kept, owned := ownedKinds[request.Resource.Resource]
	if request.Resource.Group != v1alpha.GroupVersion.Group || !owned {
		return malformed(fmt.Errorf("resource %s of group %q is not validated here; correct the rules of the "+
			"ValidatingWebhookConfiguration", request.Resource.Resource, request.Resource.Group))
	}
	users, err := o.Users(ctx)
	if err != nil {
		return unavailable(fmt.Errorf("the users of the add-on are not known, try again: %w", err))
	}
	if slices.Contains(users, request.UserInfo.Username) {
		return admission.Allowed("")
	}
	if request.Operation == admissionv1.Delete {
		return deletion(request)
	}
	if suspends(request) {
		return admission.Denied(fmt.Sprintf("annotation %s of %s %s", v1alpha.AnnotationSuspended, kept.name, validation.SuspensionAdvice))
	}
	return admission.Denied(fmt.Sprintf("%s is created and kept by karmada-compute; %s", kept.name, kept.advice))
}

// deletion answers the deletion of a WorkloadDeployment. Controllers, such as a garbage collector, delete an object by
// its UID; people do not. People need a reason, which is audited.
func deletion(request admission.Request) admission.Response {
	options, deleted := &metav1.DeleteOptions{}, &metav1.PartialObjectMetadata{}
	isRead := len(request.Options.Raw) > 0 && json.Unmarshal(request.Options.Raw, options) == nil
	if isRead && options.Preconditions != nil && options.Preconditions.UID != nil {
		return admission.Allowed("")
	}
	if err := json.Unmarshal(request.OldObject.Raw, deleted); err != nil {
		return malformed(fmt.Errorf("decode the object that is deleted: %w", err))
	}
	if reason := deleted.Annotations[v1alpha.AnnotationBreakGlass]; reason != "" {
		response := admission.Allowed("")
		response.AuditAnnotations = map[string]string{
			"break-glass": fmt.Sprintf("%s deletes workloaddeployments/%s: %s", request.UserInfo.Username, request.Name, reason),
		}
		return response
	}
	return admission.Denied(fmt.Sprintf("deleting WorkloadDeployment %s recreates all Instances in its city: delete or "+
		"change the Workload that "+
		"it comes from; in an emergency annotate the WorkloadDeployment with %s=<reason> before, which is audited",
		request.Name, v1alpha.AnnotationBreakGlass))
}

// suspends reports whether a request sets v1alpha.AnnotationSuspended. It is false for an object that cannot be
// decoded.
func suspends(request admission.Request) bool {
	now, then := &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadata{}
	if json.Unmarshal(request.Object.Raw, now) != nil || len(request.OldObject.Raw) > 0 && json.Unmarshal(request.OldObject.Raw, then) != nil {
		return false
	}
	return validation.Suspends(now, then)
}

// ownedKind is a kind that the add-on alone writes in a project.
type ownedKind struct {
	// name has an article.
	name string
	// advice is the alternative to a write.
	advice string
}

// ownedKinds are the kinds by their resources.
var ownedKinds = map[string]ownedKind{
	"workloaddeployments": {"a WorkloadDeployment", "change the Workload that it comes from"},
	"instances":           {"an Instance", "change the Workload that it comes from"},
	"workloadrevisions":   {"a WorkloadRevision", "change the template of its Workload, or run kubectl compute rollout undo"},
	"instanceslices":      {"an InstanceSlice", "it shows Instances, which change with their Workload"},
	"instancetypes":       {"an InstanceType", "it shows what the operator offers, and the operator changes it on the hub"},
}
