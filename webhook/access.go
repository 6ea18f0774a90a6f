// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// reviewsAtOnce bounds how many SubjectAccessReviews of one request are in flight.
const reviewsAtOnce = 8

// validateAccess reviews, several at once, whether the user of a request may use the objects that the Workload references. An error
// means that the project's authorizer gave no answer.
func (v *Workloads) validateAccess(ctx context.Context, project Project, request admission.Request, workload, before *v1alpha.Workload) (field.ErrorList, error) {
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

func (v *Workloads) review(ctx context.Context, project Project, user authenticationv1.UserInfo, namespace string, reference validation.Reference) (*field.Error, error) {
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
	detail := fmt.Sprintf("user %q may not %s %s %q in namespace %q", user.Username, reference.Verb, reference.Resource, reference.Name, namespace)
	if reason != "" {
		detail += ": " + reason
	}
	return field.Forbidden(reference.Path, detail), nil
}

// toReview are the references to review. A change that leaves the template unchanged needs none, so that a withdrawn permission does
// not block scaling or a change of cities. A change of the template determines the use of the referenced data, so data is reviewed for
// every user again; a network that was referenced before is not.
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
