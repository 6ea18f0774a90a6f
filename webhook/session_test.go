// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// grants records what was granted.
type grants struct {
	recorded []webhook.SessionGrant
	err      error
}

func (g *grants) Grant(_ context.Context, grant *webhook.SessionGrant) error {
	g.recorded = append(g.recorded, *grant)
	return g.err
}

func session(kind v1alpha.InstanceSessionType) *v1alpha.InstanceSession {
	s := &v1alpha.InstanceSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one", UID: "session-uid"},
		Spec: v1alpha.InstanceSessionSpec{
			Type: kind, InstanceRef: v1alpha.SessionInstanceReference{Name: "web-main-dfw-0", UID: "instance-uid"}, TTLSeconds: 900,
			PublicKey: "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n",
		},
	}
	if kind == v1alpha.SessionExec {
		s.Spec.Command = []string{"sh"}
	}
	return s
}

func sessionRequest(t *testing.T, s *v1alpha.InstanceSession) admission.Request {
	t.Helper()
	request := creation(t, nil)
	request.Object = raw(t, s)
	request.Kind = metav1.GroupVersionKind{Group: "compute.datumapis.com", Version: "v1alpha", Kind: "InstanceSession"}
	request.Resource = metav1.GroupVersionResource{Group: "compute.datumapis.com", Version: "v1alpha", Resource: "instancesessions"}
	return request
}

func sessions(t *testing.T, p *projects, g *grants, gates string) *webhook.Sessions {
	t.Helper()
	features := webhook.NewFeatureGate()
	if gates != "" {
		if err := features.Set(gates); err != nil {
			t.Fatal(err)
		}
	}
	return &webhook.Sessions{
		Projects: p, Features: features, Grants: g, Writers: func(context.Context) ([]string, error) { return []string{"add-on"}, nil },
	}
}

const bothGates = "InstanceLogs=true,InstanceExec=true"

func TestSessions(t *testing.T) {
	cases := map[string]struct {
		gates       string
		kind        v1alpha.InstanceSessionType
		change      func(*admission.Request)
		spec        func(*v1alpha.InstanceSessionSpec)
		refuse      string
		err         error
		wantAsked   string
		wantGranted bool
		wantMessage string
	}{
		"logs": {gates: "InstanceLogs=true", kind: v1alpha.SessionLogs, wantAsked: "get instances/log web-main-dfw-0", wantGranted: true},
		"exec": {gates: "InstanceExec=true", kind: v1alpha.SessionExec, wantAsked: "create instances/exec web-main-dfw-0", wantGranted: true},
		"attach": {
			gates: bothGates, kind: v1alpha.SessionAttach, wantAsked: "create instances/attach web-main-dfw-0", wantGranted: true,
		},
		"by default": {kind: v1alpha.SessionLogs, wantMessage: "has not enabled feature gate InstanceLogs"},
		"exec with logs only": {
			gates: "InstanceLogs=true", kind: v1alpha.SessionExec, wantMessage: "has not enabled feature gate InstanceExec",
		},
		"logs with exec only": {
			gates: "InstanceExec=true", kind: v1alpha.SessionLogs, wantMessage: "has not enabled feature gate InstanceLogs",
		},
		"an unknown type": {gates: bothGates, kind: "Proxy", wantMessage: "spec.type"},
		"without a permission": {
			gates: bothGates, kind: v1alpha.SessionExec, refuse: "web-main-dfw-0",
			wantAsked:   "create instances/exec web-main-dfw-0",
			wantMessage: `"consumer" may not create instances/exec "web-main-dfw-0" in namespace "default" of project "north": not yours`,
		},
		"Milo does not say": {
			gates: bothGates, kind: v1alpha.SessionExec, change: in("mute"), wantAsked: "create instances/exec web-main-dfw-0",
			wantMessage: "could not be looked up, try again",
		},
		"no project": {
			gates: bothGates, kind: v1alpha.SessionExec, change: func(r *admission.Request) { r.UserInfo.Extra = nil },
			wantMessage: "was not made in a project",
		},
		"an unknown project":  {gates: bothGates, kind: v1alpha.SessionExec, change: in("nowhere"), wantMessage: "does not exist"},
		"a suspended project": {gates: bothGates, kind: v1alpha.SessionExec, change: in("asleep"), wantMessage: "is suspended"},
		"Milo away": {
			gates: bothGates, kind: v1alpha.SessionExec, change: in("unreachable"), wantMessage: "could not be looked up, try again",
		},
		"a mistake": {
			gates: bothGates, kind: v1alpha.SessionExec, spec: func(s *v1alpha.InstanceSessionSpec) { s.PublicKey = "" },
			wantMessage: "spec.publicKey",
		},
		"too many": {
			gates: bothGates, kind: v1alpha.SessionExec, err: fmt.Errorf("%w: project north has 20",
				webhook.ErrTooManySessions), wantAsked: "create instances/exec web-main-dfw-0", wantGranted: true, wantMessage: "project north has 20",
		},
		"the hub away": {
			gates: bothGates, kind: v1alpha.SessionExec, err: errors.New("the hub is away"),
			wantAsked: "create instances/exec web-main-dfw-0", wantGranted: true, wantMessage: "could not be granted, try again",
		},
		"a dry run": {
			gates: bothGates, kind: v1alpha.SessionExec, change: func(r *admission.Request) { r.DryRun = new(true) },
			wantAsked: "create instances/exec web-main-dfw-0",
		},
		"a deletion": {
			gates: bothGates, kind: v1alpha.SessionExec, change: func(r *admission.Request) { r.Operation = admissionv1.Delete },
			wantMessage: "not validated here",
		},
		"another resource": {
			gates: bothGates, kind: v1alpha.SessionExec, change: func(r *admission.Request) { r.Resource.Resource = "pods" },
			wantMessage: "not validated here",
		},
		"no object": {
			gates: bothGates, kind: v1alpha.SessionExec, change: func(r *admission.Request) { r.Object.Raw = nil }, wantMessage: "decode",
		},
		"a consumer's status": {
			gates: bothGates, kind: v1alpha.SessionExec, change: status("consumer"), wantMessage: "written by karmada-compute alone",
		},
		"the status of the add-on": {gates: bothGates, kind: v1alpha.SessionExec, change: status("add-on")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, g := newProjects(), &grants{err: c.err}
			p.asked = make(chan authorizationv1.SubjectAccessReviewSpec, 10)
			p.refuse[c.refuse] = c.refuse != ""
			s := session(c.kind)
			if c.spec != nil {
				c.spec(&s.Spec)
			}
			request := sessionRequest(t, s)
			if c.change != nil {
				c.change(&request)
			}
			response := sessions(t, p, g, c.gates).Handle(t.Context(), request)
			if response.Allowed != (c.wantMessage == "") || c.wantMessage != "" && !strings.Contains(response.Result.Message, c.wantMessage) {
				t.Errorf("allowed %t, %+v", response.Allowed, response.Result)
			}
			checkAsked(t, p.asked, c.wantAsked)
			if (len(g.recorded) > 0) != c.wantGranted {
				t.Fatalf("recorded %+v", g.recorded)
			}
			if c.wantGranted {
				want := webhook.SessionGrant{
					Project: p.known["north"], Namespace: "default", Name: "one", UID: "session-uid", User: request.UserInfo, Spec: s.Spec,
				}
				if diff := cmp.Diff(want, g.recorded[0]); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// checkAsked checks the one review of a request, which must be for the user of the request with all extras.
func checkAsked(t *testing.T, asked chan authorizationv1.SubjectAccessReviewSpec, want string) {
	t.Helper()
	close(asked)
	got := ""
	for review := range asked {
		a := review.ResourceAttributes
		got += fmt.Sprintf("%s %s/%s %s", a.Verb, a.Resource, a.Subresource, a.Name)
		if a.Namespace != "default" || review.User != "consumer" || review.UID != "7" || len(review.Extra) != 3 ||
			a.Group != "compute.datumapis.com" {
			t.Errorf("asked about %+v of %+v", a, review)
		}
	}
	if got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
}

func in(project string) func(*admission.Request) {
	return func(r *admission.Request) { r.UserInfo.Extra = inProject(project) }
}

func status(user string) func(*admission.Request) {
	return func(r *admission.Request) {
		r.SubResource, r.Operation, r.UserInfo.Username = "status", admissionv1.Update, user
	}
}

// TestSessionsDoNotChange: admission refuses another spec, whatever schema the API server has loaded.
func TestSessionsDoNotChange(t *testing.T) {
	before, now := session(v1alpha.SessionExec), session(v1alpha.SessionExec)
	now.Labels = map[string]string{"a": "b"}
	for command, allowed := range map[string]bool{"sh": true, "rm": false} {
		now.Spec.Command = []string{command}
		request := sessionRequest(t, now)
		request.Operation, request.OldObject = admissionv1.Update, raw(t, before)
		g := &grants{}
		if response := sessions(t, newProjects(), g, bothGates).Handle(t.Context(), request); response.Allowed != allowed || len(g.recorded) > 0 {
			t.Errorf("%s: allowed %t, recorded %+v", command, response.Allowed, g.recorded)
		}
	}
}

// TestRecreatedProjectHasOwnSessions: a session belongs to the project of now, whatever a cache has.
func TestRecreatedProjectHasOwnSessions(t *testing.T) {
	p, g := newProjects(), &grants{}
	p.fresh = map[string]webhook.Project{"north": {Name: "north", UID: "another", Ready: true}}
	response := sessions(t, p, g, bothGates).Handle(t.Context(), sessionRequest(t, session(v1alpha.SessionExec)))
	if !response.Allowed || len(g.recorded) != 1 || g.recorded[0].Project.UID != "another" {
		t.Errorf("allowed %t, recorded %+v", response.Allowed, g.recorded)
	}
}

// TestClaimedMastersHaveNoSessions: a caller that knows the webhook's path can claim any group. Reviews and grants
// contain no group that bypasses roles, unless the caller is a proven API server.
func TestClaimedMastersHaveNoSessions(t *testing.T) {
	for _, proved := range []bool{false, true} {
		p, g := newProjects(), &grants{}
		p.asked = make(chan authorizationv1.SubjectAccessReviewSpec, 1)
		handler := sessions(t, p, g, bothGates)
		handler.Proved = func(context.Context) bool { return proved }
		request := sessionRequest(t, session(v1alpha.SessionExec))
		request.UserInfo.Groups = []string{"team", "system:masters"}
		if response := handler.Handle(t.Context(), request); !response.Allowed {
			t.Fatal(response.Result)
		}
		for _, groups := range [][]string{(<-p.asked).Groups, g.recorded[0].User.Groups} {
			if slices.Contains(groups, "system:masters") != proved || !slices.Contains(groups, "team") {
				t.Errorf("proved %t: groups %v", proved, groups)
			}
		}
	}
}
