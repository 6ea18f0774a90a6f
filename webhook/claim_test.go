// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// scaled is a request to change the replicas of a Workload.
func scaled(t *testing.T) admission.Request {
	t.Helper()
	request := update(t, workload("DFW"), changed(workload("DFW"),
		func(w *v1alpha.Workload) { w.Spec.Placements[0].ScaleSettings.MinReplicas = 2 }))
	request.Name = "web"
	return request
}

// TestStrangerLearnsNothing: a caller that knows the path of the webhook, and names a user without permissions in a
// project, always gets the same answer, whatever the project contains, and whether or not it exists. Nothing is counted
// or marked for such a request.
func TestStrangerLearnsNothing(t *testing.T) {
	for name, claim := range map[string]func(*admission.Request){
		"a user without rights": func(r *admission.Request) { r.UserInfo.Username, r.UserInfo.Groups = "eve", []string{"others"} },
		"a master":              func(r *admission.Request) { r.UserInfo.Username, r.UserInfo.Groups = "eve", []string{"system:masters"} },
		"a controller": func(r *admission.Request) {
			r.UserInfo.Username = "system:serviceaccount:kube-system:generic-garbage-collector"
		},
		"the add-on": func(r *admission.Request) { r.UserInfo.Username = "add-on" },
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]bool{}
			for _, project := range []string{"north", "nowhere", "asleep", "going", "new", "dark", "bare", "stale", "unlimited"} {
				for _, request := range []admission.Request{
					creation(t, workload("DFW")), creation(t, workload("XYZ")), creation(t, at(workload(), "two-1")),
					creation(t, selecting(workload(), "nowhere")),
					creation(t, changed(workload("DFW"), func(w *v1alpha.Workload) { w.Spec.Template.Spec.Runtime.Resources.InstanceType = "huge" })),
				} {
					claim(&request)
					request.UserInfo.Extra = inProject(project)
					p := newProjects()
					p.allowance, p.instances = 1, 5
					var got marked
					handler := workloads(p)
					handler.Users = func(context.Context) ([]string, error) { return []string{"add-on"}, nil }
					handler.Marks, handler.ProjectLimit.Instances, handler.AdmitsRefused = &got, 3, true
					response := handler.Handle(t.Context(), request)
					if response.Allowed || len(response.Warnings) > 0 || len(got) > 0 || p.reserved.More.Instances != 0 {
						t.Fatalf("%s: allowed %t, warnings %q, marks %v, reserved %+v", project, response.Allowed, response.Warnings, got, p.reserved)
					}
					answers[strings.ReplaceAll(response.Result.String(), project, "PROJECT")] = true
				}
			}
			if len(answers) != 1 {
				t.Errorf("there are %d answers: %v", len(answers), answers)
			}
		})
	}
}

// TestMarkNeedsARight: a change of metadata asks for no right, so it marks no project.
func TestMarkNeedsARight(t *testing.T) {
	var got marked
	handler := workloads(newProjects())
	handler.Marks = &got
	request := update(t, workload("DFW"), workload("DFW"))
	request.UserInfo.Extra = inProject("nowhere")
	if response := handler.Handle(t.Context(), request); !response.Allowed || len(got) > 0 {
		t.Errorf("allowed %t, marks %v", response.Allowed, got)
	}
}

// TestClaim: the permissions that let a request pass, and the permissions that are reviewed.
func TestClaim(t *testing.T) {
	const masters = "system:masters"
	for name, c := range map[string]struct {
		request     admission.Request
		groups      []string
		wantAsked   []string
		wantAllowed bool
		wantMessage string
	}{
		"a creation": {
			request: creation(t, workload("DFW")), groups: []string{"createers"}, wantAsked: []string{"create"}, wantAllowed: true,
		},
		"an update": {request: scaled(t), groups: []string{"updateers"}, wantAsked: []string{"update web"}, wantAllowed: true},
		"a patch": {
			request: scaled(t), groups: []string{"patchers"}, wantAsked: []string{"update web", "patch web"}, wantAllowed: true,
		},
		"a creation by an updater": {
			request: creation(t, workload("DFW")), groups: []string{"updateers", "patchers"}, wantAsked: []string{"create"},
			wantMessage: "may not create",
		},
		"an update by a creator": {
			request: scaled(t), groups: []string{"createers"}, wantAsked: []string{"update web", "patch web"}, wantMessage: "may not update",
		},
		"a master with a role": {
			request: creation(t, workload("DFW")), groups: []string{masters, "team"}, wantAsked: []string{"create"}, wantAllowed: true,
		},
		"a master without a role": {
			request: creation(t, workload("DFW")), groups: []string{masters}, wantAsked: []string{"create"}, wantMessage: "give the user a role",
		},
		"a change of the metadata":   {request: update(t, workload("DFW"), workload("DFW")), wantAllowed: true},
		"a change while it is going": {request: update(t, workload("DFW"), changed(workload("XYZ"), deleting)), wantAllowed: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProjects()
			p.written = make(chan authorizationv1.SubjectAccessReviewSpec, 10)
			c.request.UserInfo.Groups = c.groups
			response := workloads(p).Handle(t.Context(), c.request)
			if response.Allowed != c.wantAllowed || !c.wantAllowed && !strings.Contains(response.Result.Message, c.wantMessage) {
				t.Errorf("allowed %t, %v", response.Allowed, response.Result)
			}
			close(p.written)
			var asked []string
			for review := range p.written {
				attributes := review.ResourceAttributes
				if attributes.Group != "compute.datumapis.com" || attributes.Resource != "workloads" || attributes.Namespace != "default" ||
					slices.Contains(review.Groups, masters) || review.User != "consumer" || review.UID != "7" || len(review.Extra) != 3 {
					t.Errorf("asked %+v", review)
				}
				asked = append(asked, strings.TrimSpace(attributes.Verb+" "+attributes.Name))
			}
			if !slices.Equal(asked, c.wantAsked) {
				t.Errorf("asked %q, want %q", asked, c.wantAsked)
			}
		})
	}
}

// TestUsersOfTheAddOnAreNotKnown: the request is not answered then, and the error gives the reason.
func TestUsersOfTheAddOnAreNotKnown(t *testing.T) {
	handler := workloads(newProjects())
	handler.Users = func(context.Context) ([]string, error) { return nil, errUnreachable }
	if response := handler.Handle(t.Context(), creation(t, workload("DFW"))); response.Allowed ||
		response.Result.Code != http.StatusServiceUnavailable {
		t.Errorf("allowed %t, %v", response.Allowed, response.Result)
	}
}

// TestProvedCaller: if the caller is a proven API server, no permission is reviewed again.
func TestProvedCaller(t *testing.T) {
	handler := &webhook.Workloads{
		Projects: newProjects(), Features: webhook.NewFeatureGate(), Proved: func(context.Context) bool { return true },
	}
	request := creation(t, workload("DFW"))
	request.UserInfo.Groups = []string{"system:masters"}
	if response := handler.Handle(t.Context(), request); !response.Allowed {
		t.Error(response.Result)
	}
}
