// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/charts"
)

// offered are sessions of type Logs.
var offered = set{"sessions.logs": true, "sessions.url": "https://sessions.example"}

const sessionService = "Service/karmada-compute-sessions"

var sessionHostCases = []optionCase{
	{
		option: "sessions.logs", value: true, object: host, query: args, want: `"--feature-gates=InstanceLogs=true"`,
		with: set{"sessions.url": "https://sessions.example"},
	},
	{
		option: "sessions.exec", value: true, object: host, query: args, want: `"--feature-gates=InstanceExec=true"`,
		with: set{"sessions.url": "https://sessions.example"},
	},
	{option: "sessions.separate", value: false, object: host, query: args, want: `"--session-streams=here"`, with: offered},
	{
		option: "sessions.url", value: "https://other.example", object: host, query: args,
		want: `"--session-url=https://other.example"`, with: offered,
	},
	{option: "sessions.secret.name", value: "mine", object: host, query: volumes, want: `"name":"mine"`, with: offered},
	{option: "sessions.secret.key", value: "mine", object: host, query: volumes, want: `"key":"mine"`, with: offered},
	{option: "sessions.namespace", value: "mine", object: host, query: args, want: `"--session-namespace=mine"`, with: offered},
	{option: "sessions.perUser", value: 7, object: host, query: args, want: `"--max-user-sessions=7"`, with: offered},
	{option: "sessions.perProject", value: 8, object: host, query: args, want: `"--max-project-sessions=8"`, with: offered},
	{option: "sessions.streams", value: 9, object: host, query: args, want: `"--max-streams=9"`, with: offered},
	{option: "sessions.bytesPerSecond", value: 1000, object: host, query: args, want: `"--session-bytes-per-second=1000"`, with: offered},
	{option: "sessions.idleTimeout", value: "1m", object: host, query: args, want: `"--session-idle-timeout=1m"`, with: offered},
	{
		option: "sessions.serviceType", value: "LoadBalancer", object: sessionService, query: "{.spec.type}", want: "LoadBalancer", with: offered,
	},
	{
		option: "sessions.serviceAnnotations", value: other, object: sessionService, query: "{.metadata.annotations}",
		want: "example.com/team", with: offered,
	},
}

var sessionHubCases = []optionCase{
	{
		option: "sessions.subjects", value: []any{map[string]any{"kind": "User", "name": "streams"}},
		object: "ClusterRoleBinding/karmada-compute-sessions", query: "{.subjects}", want: `"name":"streams"`, with: offered,
	},
	{
		option: "sessions.namespace", value: "mine", object: "RoleBinding/karmada-compute-sessions",
		query: "{.metadata.namespace}", want: "mine", with: offered,
	},
}

// TestSessionsAreOff: by default no part has a credential, a role, a port or an argument for sessions.
func TestSessionsAreOff(t *testing.T) {
	for part, enabled := range parts {
		for _, object := range render(t, enabled) {
			if strings.HasPrefix(object.GetKind(), "CustomResource") || object.GetKind() == "ValidatingWebhookConfiguration" {
				continue
			}
			encoded, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"session-", "InstanceLogs", "clusters/proxy", "karmada-compute-sessions", `"sessions"`} {
				if strings.Contains(string(encoded), word) {
					t.Errorf("%s: %s has %q", part, id(object), word)
				}
			}
		}
	}
}

// TestSessionsInCells: cells get the rights of the types that are offered and no others, and the agents' binding has no
// subjects on the hub.
func TestSessionsInCells(t *testing.T) {
	url := set{"sessions.url": "https://sessions.example"}
	for _, c := range []struct {
		types set
		want  string
	}{
		{set{"sessions.logs": true}, `[["pods/log"]]`},
		{set{"sessions.exec": true}, `[["pods/attach","pods/exec","pods/portforward"]]`},
		{set{"sessions.exec": true, "sessions.logs": true}, `[["pods/attach","pods/exec","pods/portforward"],["pods/log"]]`},
	} {
		objects := render(t, parts["hub"], url, c.types)
		var rules []struct{ Resources []string }
		if err := json.Unmarshal([]byte(query(t, objects, "ClusterRole/karmada-compute-cell-streams", "{.rules}")), &rules); err != nil {
			t.Fatal(err)
		}
		var got [][]string
		for _, rule := range rules {
			got = append(got, rule.Resources)
		}
		if encoded, err := json.Marshal(got); err != nil || string(encoded) != c.want {
			t.Errorf("%v: %s, %v", c.types, encoded, err)
		}
		if got := query(t, objects, agent, args); !strings.Contains(got, `"--session-users=karmada-compute-sessions"`) {
			t.Errorf("the agent has %s", got)
		}
		if got := query(t, objects, "ClusterRoleBinding/karmada-compute-cell-sessions", "{.subjects}"); got != "[]" {
			t.Errorf("on the hub it binds %s", got)
		}
		if got := query(t, objects, policy, "{.spec.resourceSelectors[*].name}"); !strings.Contains(got,
			"karmada-compute-cell-streams") || !strings.Contains(got, "karmada-compute-cell-sessions") {
			t.Errorf("cells get %s", got)
		}
		if got := query(t, objects, "ClusterOverridePolicy/karmada-compute-cell-subjects",
			"{.spec.resourceSelectors[*].name}"); !strings.Contains(got, "karmada-compute-cell-sessions") {
			t.Errorf("subjects are added to %s", got)
		}
	}
}

// TestSessionsNeedAURL: without it no client would find them.
func TestSessionsNeedAURL(t *testing.T) {
	_, err := charts.Render(map[string]any{"sessions": map[string]any{"logs": true}}, charts.Release{})
	if err == nil || !strings.Contains(err.Error(), "sessions.url") {
		t.Errorf("rendered: %v", err)
	}
}

// streamPods is the Deployment of the Pods that carry streams, and ports queries the ports of a Deployment.
const streamPods, ports = "Deployment/karmada-compute-sessions", "{.spec.template.spec.containers[0].ports[*].name}"

// TestSessionsApart: Pods of their own carry the streams. They have the credential of sessions alone for the hub, serve
// no webhooks and run no controllers, and the Pods that admit have no port for clients.
func TestSessionsApart(t *testing.T) {
	const labels, own = "{.spec.template.metadata.labels}", `"app.kubernetes.io/component":"sessions"`
	const user = `"--session-users=system:serviceaccount:karmada-system:karmada-compute-sessions"`
	for name, with := range map[string]struct {
		set                   set
		admit                 string
		mounted, missing, arg []string
	}{
		"beside the controllers": {set{}, host, []string{`"karmada-compute-milo"`}, nil, nil},
		"beside the webhooks":    {separate, serve, []string{`"karmada-compute-webhook-milo"`}, []string{`"karmada-compute-milo"`}, nil},
		"without Milo":           {set{"projects.mode": "namespaces"}, host, nil, []string{"milo"}, []string{user}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := render(t, parts["host"], offered, with.set)
			has := func(object, path string, wanted ...string) {
				t.Helper()
				contains(t, query(t, objects, object, path), object+" "+path, wanted...)
			}
			lacks := func(object, path string, words ...string) {
				t.Helper()
				for _, word := range words {
					if got := query(t, objects, object, path); strings.Contains(got, word) {
						t.Errorf("%s %s has %s: %s", object, path, word, got)
					}
				}
			}
			has(streamPods, args, `"--controllers=-*"`, `"--webhooks="`, `"--session-streams=only"`,
				`"--feature-gates=InstanceLogs=true"`, `"--session-url=`)
			has(streamPods, ports, "sessions metrics health")
			has(streamPods, volumes, with.mounted...)
			lacks(streamPods, volumes, append(with.missing, `"karmada-compute-config"`, "webhook-config")...)
			lacks(streamPods, ports, "webhook", "peers")
			has(with.admit, args, append(with.arg, `"--session-streams=elsewhere"`)...)
			lacks(with.admit, ports, "sessions")
			lacks(with.admit, labels, "datumapis.com/sessions")
			has(sessionService, "{.spec.selector}", `"compute.datumapis.com/sessions":"true"`)
			has(streamPods, labels, own, `"compute.datumapis.com/sessions":"true"`)
			has("PodDisruptionBudget/karmada-compute-sessions", "{.spec.selector.matchLabels}", own)
		})
	}
	together := render(t, parts["host"], offered, set{"sessions.separate": false})
	contains(t, query(t, together, host, ports), "the ports", "sessions")
	contains(t, query(t, together, host, labels), "the labels", `"compute.datumapis.com/sessions":"true"`)
}

// contains checks that a text has all words.
func contains(t *testing.T, text, what string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%s lacks %s: %s", what, word, text)
		}
	}
}

// TestSessionCredentialStaysWithWebhooks: Pods that run controllers only do not have the credential of sessions.
func TestSessionCredentialStaysWithWebhooks(t *testing.T) {
	objects := render(t, parts["host"], offered, separate)
	if got := query(t, objects, host, volumes); strings.Contains(got, "sessions") {
		t.Errorf("the controllers mount %s", got)
	}
	if got := query(t, objects, serve, volumes); !strings.Contains(got, "karmada-compute-sessions-config") {
		t.Errorf("the webhooks mount %s", got)
	}
}

// TestSessionsWithoutMilo verifies that no two objects have the same name where the hub has the projects, too: the
// second would replace the first.
func TestSessionsWithoutMilo(t *testing.T) {
	seen := map[string]bool{}
	for _, object := range render(t, parts["hub"], offered, set{"projects.mode": "namespaces"}) {
		id := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
		if seen[id] {
			t.Errorf("%s is rendered twice", id)
		}
		seen[id] = true
	}
}

// TestStolenSessionCredential verifies what the credential of sessions can do on the hub, with the roles of the chart.
func TestStolenSessionCredential(t *testing.T) {
	install(t, clientOf(t, ""), render(t, parts["hub"], offered))
	c := clientOf(t, "system:serviceaccount:karmada-system:karmada-compute-sessions")
	attributes := func(verb, group, resource, subresource, namespace string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Subresource: subresource, Namespace: namespace}
	}
	as := func(user string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "users", Name: user}
	}
	const grants, compute, cluster = "karmada-compute-sessions", "compute.datumapis.com", "cluster.karmada.io"
	for a, want := range map[authorizationv1.ResourceAttributes]bool{
		attributes("create", "", "configmaps", "", grants):                true,
		attributes("delete", "", "configmaps", "", grants):                true,
		attributes("get", compute, "workloaddeployments", "", ownSpace):   true,
		attributes("get", "", "namespaces", "", ""):                       true,
		attributes("create", "", "configmaps", "", "karmada-system"):      false,
		attributes("get", "", "configmaps", "", ownSpace):                 false,
		attributes("get", "", "secrets", "", grants):                      false,
		attributes("get", "", "secrets", "", "karmada-cluster"):           false,
		attributes("list", "", "namespaces", "", ""):                      false,
		attributes("patch", compute, "workloaddeployments", "", ownSpace): false,
		as("karmada-compute-sessions"):                                    true, as("admin"): false,
		attributes("get", cluster, "clusters", "proxy", ""):                    false,
		attributes("create", cluster, "clusters", "proxy", ""):                 false,
		attributes("delete", cluster, "clusters", "proxy", ""):                 false,
		attributes("patch", cluster, "clusters", "", ""):                       false,
		attributes("impersonate", "", "users", "", ""):                         false,
		attributes("create", "rbac.authorization.k8s.io", "roles", "", grants): false,
	} {
		if got, err := allows(t.Context(), c, a); err != nil || got != want {
			t.Errorf("%+v: %t, %v", a, got, err)
		}
	}
}

// TestUserOfStreams verifies that the user under which streams are requested may do only that.
func TestUserOfStreams(t *testing.T) {
	install(t, clientOf(t, ""), render(t, parts["hub"], offered))
	c := clientOf(t, "karmada-compute-sessions")
	const cluster = "cluster.karmada.io"
	attributes := func(verb, group, resource, subresource string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Subresource: subresource}
	}
	if got, err := allows(t.Context(), c, attributes("get", cluster, "clusters", "proxy")); err != nil || !got {
		t.Errorf("streams: %t, %v", got, err)
	}
	for _, a := range []authorizationv1.ResourceAttributes{
		attributes("create", cluster, "clusters", "proxy"), attributes("get", cluster, "clusters", ""), attributes("get", "", "namespaces", ""),
		attributes("get", "", "configmaps", ""), attributes("impersonate", "", "users", ""),
	} {
		if got, err := allows(t.Context(), c, a); err != nil || got {
			t.Errorf("%+v: %t, %v", a, got, err)
		}
	}
}

func allows(ctx context.Context, c client.Client, attributes authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes}}
	err := c.Create(ctx, review)
	return review.Status.Allowed, err
}
