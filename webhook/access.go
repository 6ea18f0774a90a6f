// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// reviewsAtOnce bounds how many SubjectAccessReviews of one request are in flight.
const reviewsAtOnce = 8

// validateAccess reviews, several at once, whether the user of a request may use the objects that the Workload
// references. An error means that the project's authorizer gave no answer.
func (v *Workloads) validateAccess(
	ctx context.Context, project Project, request admission.Request, workload, before *v1alpha.Workload,
) (field.ErrorList, error) {
	references := v.toReview(workload, before)
	problems := make(field.ErrorList, len(references))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(reviewsAtOnce)
	for i, reference := range references {
		group.Go(func() error {
			problem, err := v.review(ctx, project, request.UserInfo, request.Namespace, reference)
			problems[i] = problem
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var found field.ErrorList
	for _, problem := range problems {
		if problem != nil {
			found = append(found, problem)
		}
	}
	return found, nil
}

func (v *Workloads) review(
	ctx context.Context, project Project, user authenticationv1.UserInfo, namespace string, reference validation.Reference,
) (*field.Error, error) {
	namespace = cmp.Or(reference.Namespace, namespace)
	allowed, reason, err := v.Projects.Review(ctx, project, reviewBy(user, authorizationv1.ResourceAttributes{
		Namespace: namespace, Verb: reference.Verb, Group: reference.Group, Resource: reference.Resource, Name: reference.Name,
	}))
	if err != nil {
		return nil, fmt.Errorf("ask whether %q may %s %s %q: %w", user.Username, reference.Verb, reference.Resource, reference.Name, err)
	}
	if allowed {
		return nil, nil
	}
	detail := fmt.Sprintf("user %q may not %s %s %q in namespace %q", user.Username, reference.Verb, reference.Resource,
		reference.Name, namespace)
	if reason != "" {
		detail += ": " + reason
	}
	return field.Forbidden(reference.Path, detail), nil
}

// toReview are the references to review. A change that leaves the template unchanged needs none, so that a withdrawn
// permission does not block scaling or a change of cities. A change of the template determines the use of the
// referenced data, so data is reviewed for every user again; a network that was referenced before is not.
func (v *Workloads) toReview(workload, before *v1alpha.Workload) []validation.Reference {
	if before != nil && reflect.DeepEqual(before.Spec.Template, workload.Spec.Template) {
		return nil
	}
	had := map[string]bool{}
	if before != nil {
		for _, reference := range validation.References(before) {
			had[keyOf(reference)] = true
		}
	}
	var references []validation.Reference
	for _, reference := range validation.References(workload) {
		isNetwork := reference.Group != ""
		switch {
		case isNetwork && (had[keyOf(reference)] || !v.Features.Enabled(NetworkAccessReview)):
		case !isNetwork && !v.Features.Enabled(ReferencedDataAccessReview):
		default:
			references = append(references, reference)
		}
	}
	return references
}

func keyOf(reference validation.Reference) string {
	return strings.Join([]string{reference.Group, reference.Resource, reference.Namespace, reference.Name}, "/")
}

// controllers is the prefix of the names of Kubernetes' own controllers. One of them, the garbage collector, may update
// every object.
const controllers = "system:serviceaccount:kube-system:"

// mayWrite starts a review of whether the user of a request may write the Workload. It returns a function that waits
// for the result, and returns the response if the user may not. An API server has authorized its own requests, but any
// caller that knows the path of the webhook can name any user. So no data of the project, or derived from it, is
// returned before the review.
func (v *Workloads) mayWrite(ctx context.Context, project Project, request admission.Request) func() *admission.Response {
	if v.Proved != nil && v.Proved(ctx) {
		return func() *admission.Response { return nil }
	}
	answer := make(chan *admission.Response, 1)
	go func() { answer <- v.reviewClaim(ctx, project, request) }()
	return func() *admission.Response { return <-answer }
}

// reviewClaim returns the response to a user who may not write the Workload, nil to any other.
func (v *Workloads) reviewClaim(ctx context.Context, project Project, request admission.Request) *admission.Response {
	never, err := v.neverWrites(ctx, request.UserInfo.Username)
	if err != nil {
		return new(unavailable(fmt.Errorf("the users of the add-on are not known, try again: %w", err)))
	}
	if never {
		return v.stranger(project.Name, request)
	}
	claimed := request.UserInfo
	// Members of this group may do everything, without a check of any role, and any caller can claim to be one.
	claimed.Groups = slices.DeleteFunc(slices.Clone(claimed.Groups), func(group string) bool { return group == user.SystemPrivilegedGroup })
	attributes := authorizationv1.ResourceAttributes{Namespace: request.Namespace, Group: v1alpha.GroupVersion.Group, Resource: "workloads"}
	// An update request does not show by which of its verbs it was authorized.
	verbs := []string{"create"}
	if request.Operation == admissionv1.Update {
		verbs, attributes.Name = []string{"update", "patch"}, request.Name
	}
	for _, verb := range verbs {
		attributes.Verb = verb
		allowed, err := v.Projects.MayWrite(ctx, project, reviewBy(claimed, attributes))
		if err != nil {
			return new(projectUnavailable(fmt.Errorf("permissions in project %q could not be looked up, try again: %w", project.Name, err)))
		}
		if allowed {
			return nil
		}
	}
	return v.stranger(project.Name, request)
}

// neverWrites reports whether a user changes no spec of a Workload, although its role allows that in every project: its
// name is easy to guess.
func (v *Workloads) neverWrites(ctx context.Context, name string) (bool, error) {
	if strings.HasPrefix(name, controllers) || v.Users == nil {
		return strings.HasPrefix(name, controllers), nil
	}
	users, err := v.Users(ctx)
	return slices.Contains(users, name), err
}

// stranger is the same response for a project that does not exist.
func (v *Workloads) stranger(project string, request admission.Request) *admission.Response {
	verb, hint := "create", ""
	if request.Operation == admissionv1.Update {
		verb = "update"
	}
	if isMaster(request.UserInfo) {
		hint = "; give the user a role: membership in " + user.SystemPrivilegedGroup + " is not proved to a webhook and does not count"
	}
	return new(admission.Denied(fmt.Sprintf("%s, or user %q may not %s Workloads in its namespace %q%s",
		scopeOf(v.Scope).Missing(project), request.UserInfo.Username, verb, request.Namespace, hint)))
}

func isMaster(who authenticationv1.UserInfo) bool {
	return slices.Contains(who.Groups, user.SystemPrivilegedGroup)
}
