// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// SessionGrant is a session that admission has granted. Streams are served for granted sessions, and not for sessions
// that a project has stored.
type SessionGrant struct {
	// Project is the project of the request.
	Project Project
	// Namespace, Name and UID identify the session.
	Namespace, Name string
	UID             types.UID
	// User is the user of the request.
	User authenticationv1.UserInfo
	// Spec is the requested spec.
	Spec v1alpha.InstanceSessionSpec
}

// ErrTooManySessions reports that a session would exceed a limit. The error that wraps it names the limit.
var ErrTooManySessions = errors.New("too many sessions")

// SessionGrants records granted sessions in a place that no project can write.
type SessionGrants interface {
	// Grant grants a session, and records it once it is stored: another admission plugin may refuse it after this one. A
	// recorded session is never changed. The error wraps ErrTooManySessions at a limit.
	Grant(ctx context.Context, grant *SessionGrant) error
}

// Sessions validates InstanceSessions, and grants them. It is safe for concurrent use.
type Sessions struct {
	// Projects reads the project of a request.
	Projects Projects
	// Scope determines the project of a request. Nil: Milo.
	Scope Scope
	// Features are the enabled types of sessions.
	Features featuregate.FeatureGate
	// Proved reports whether the caller is known to be an API server, so that the user of a request is more than a claim.
	// Nil: it is not.
	Proved func(context.Context) bool
	// Writers returns the users that write the status of sessions: the add-on. Its errors have the same classes as the
	// errors of Projects.
	Writers func(context.Context) ([]string, error)
	// Grants records granted sessions. Nil: every session is refused.
	Grants SessionGrants
}

// Handle answers one admission request.
func (v *Sessions) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Resource.Group != v1alpha.GroupVersion.Group || request.Resource.Resource != "instancesessions" {
		return malformed(fmt.Errorf("resource %s of group %q is not validated here; correct the rules of the "+
			"ValidatingWebhookConfiguration", request.Resource.Resource, request.Resource.Group))
	}
	if request.SubResource != "" {
		return v.reviewStatus(ctx, request)
	}
	session := &v1alpha.InstanceSession{}
	if err := json.Unmarshal(request.Object.Raw, session); err != nil {
		return malformed(fmt.Errorf("decode the InstanceSession: %w", err))
	}
	switch request.Operation {
	case admissionv1.Create:
		return v.create(ctx, request, session)
	case admissionv1.Update:
		return unchanged(request, session)
	default:
		return malformed(fmt.Errorf("operation %q is not validated here; correct the rules of the "+
			"ValidatingWebhookConfiguration", request.Operation))
	}
}

// reviewStatus refuses the status of a session to all but the add-on: a client trusts the URL in it.
func (v *Sessions) reviewStatus(ctx context.Context, request admission.Request) admission.Response {
	users, err := v.Writers(ctx)
	if err != nil {
		return unavailable(fmt.Errorf("the users of the add-on are not known, try again: %w", err))
	}
	if slices.Contains(users, request.UserInfo.Username) {
		return admission.Allowed("")
	}
	return admission.Denied("the status of an InstanceSession is written by karmada-compute alone")
}

// unchanged refuses another spec. The metadata is the user's.
func unchanged(request admission.Request, session *v1alpha.InstanceSession) admission.Response {
	before := &v1alpha.InstanceSession{}
	if err := json.Unmarshal(request.OldObject.Raw, before); err != nil {
		return malformed(fmt.Errorf("decode the InstanceSession as it was: %w", err))
	}
	if !reflect.DeepEqual(before.Spec, session.Spec) {
		return admission.Denied("spec: a session cannot be changed; create another one")
	}
	return admission.Allowed("")
}

// create grants a session, or refuses it.
func (v *Sessions) create(ctx context.Context, request admission.Request, session *v1alpha.InstanceSession) admission.Response {
	if refusal := v.refusal(session.Spec.Type); refusal != "" {
		return admission.Denied(refusal)
	}
	project, refused := v.project(ctx, request)
	if refused != nil {
		return *refused
	}
	if problems := validation.Session(session); len(problems) > 0 {
		status := apierrors.NewInvalid(v1alpha.GroupVersion.WithKind(v1alpha.KindInstanceSession).GroupKind(), session.Name, problems).Status()
		return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &status}}
	}
	if v.Proved == nil || !v.Proved(ctx) {
		// Members of this group may do everything, without a check of any role, and any caller can claim to be one.
		request.UserInfo.Groups = slices.DeleteFunc(slices.Clone(request.UserInfo.Groups),
			func(group string) bool { return group == user.SystemPrivilegedGroup })
	}
	if refused = v.permission(ctx, project, request, session); refused != nil {
		return *refused
	}
	if request.DryRun != nil && *request.DryRun {
		return admission.Allowed("")
	}
	if session.UID == "" || session.Name == "" {
		// API servers set both before they validate.
		return malformed(errors.New("the InstanceSession has no metadata.uid or no metadata.name"))
	}
	err := v.Grants.Grant(ctx, &SessionGrant{
		Project: project, Namespace: request.Namespace, Name: session.Name, UID: session.UID, User: request.UserInfo, Spec: session.Spec,
	})
	switch {
	case errors.Is(err, ErrTooManySessions):
		return admission.Denied(err.Error())
	case err != nil:
		return unavailable(fmt.Errorf("the session could not be granted, try again: %w", err))
	}
	return admission.Allowed("")
}

// refusal is why no session of a type is granted, whoever asks; empty if it may be.
func (v *Sessions) refusal(kind v1alpha.InstanceSessionType) string {
	feature := InstanceExec
	if kind == v1alpha.SessionLogs {
		feature = InstanceLogs
	}
	if v.Grants == nil || !v.Features.Enabled(feature) {
		return fmt.Sprintf("sessions of type %s are not offered here: the operator has not enabled feature gate %s", kind, feature)
	}
	return ""
}

// project returns the project of a request, or the refusal if no project with the name accepts sessions.
func (v *Sessions) project(ctx context.Context, request admission.Request) (Project, *admission.Response) {
	name, err := scopeOf(v.Scope).Of(request)
	if err != nil {
		return Project{}, new(admission.Denied(err.Error()))
	}
	// Always the project of now: of a project that was recreated, a cache has the former UID.
	project, err := v.Projects.FreshProject(ctx, name)
	switch {
	case errors.Is(err, ErrProjectNotFound):
		return project, new(admission.Denied(v.noSession(name, request)))
	case err != nil:
		return project, new(unavailable(fmt.Errorf("project %q could not be looked up, try again: %w", name, err)))
	}
	if refusal := project.refusal(); refusal != "" {
		return project, new(admission.Denied(refusal))
	}
	return project, nil
}

// permission asks the project whether the user may have the session, and returns the response if not.
func (v *Sessions) permission(
	ctx context.Context, project Project, request admission.Request, session *v1alpha.InstanceSession,
) *admission.Response {
	verb, subresource, _ := session.Spec.Type.Permission()
	allowed, reason, err := v.Projects.Review(ctx, project, reviewBy(request.UserInfo, authorizationv1.ResourceAttributes{
		Namespace: request.Namespace, Verb: verb, Group: v1alpha.GroupVersion.Group, Resource: "instances", Subresource: subresource,
		Name: session.Spec.InstanceRef.Name,
	}))
	if err != nil {
		return new(projectUnavailable(fmt.Errorf("permissions in project %q could not be looked up, try again: %w", project.Name, err)))
	}
	if allowed {
		return nil
	}
	detail := fmt.Sprintf("user %q may not %s instances/%s %q in namespace %q of project %q", request.UserInfo.Username, verb, subresource,
		session.Spec.InstanceRef.Name, request.Namespace, project.Name)
	if reason != "" {
		detail += ": " + reason
	}
	return new(admission.Denied(detail))
}

// noSession is the message to a user of a project that does not exist.
func (v *Sessions) noSession(project string, request admission.Request) string {
	return fmt.Sprintf("%s, or user %q may not create InstanceSessions in its namespace %q",
		scopeOf(v.Scope).Missing(project), request.UserInfo.Username, request.Namespace)
}
