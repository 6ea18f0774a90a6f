// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestEvents(t *testing.T) {
	f := newFixture(t)
	w, d := f.scene()
	f.want(f.kubectl(f.Config(), "events", "web"), 0, "No events found")
	f.event(f.Namespace.Name, about{d.UID, "WorkloadDeployment", "BindingMissing", now.Add(-time.Second)})
	f.event(f.Namespace.Name, about{w.UID, "Workload", "NoMatchingLocation", now.Add(-2 * time.Minute)})
	f.event(f.Namespace.Name, about{"another-uid", "Workload", "OfAnother", now})
	r := f.kubectl(f.Config(), "events", "web")
	want := squeeze("LAST SEEN TYPE REASON OBJECT MESSAGE\n2m Warning NoMatchingLocation workload/x why[2J\n1s Warning " +
		"BindingMissing workloaddeployment/x why[2J")
	if squeeze(r.out) != want {
		t.Errorf("got\n%s\nwant\n%s", r.out, want)
	}
	r = f.kubectl(f.Config(), "events", "web", "-o", "json")
	list := corev1.EventList{}
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || len(list.Items) != 2 {
		t.Errorf("%d events in %s: %v", len(list.Items), r.out, err)
	}
	f.want(f.kubectl(f.user(may(read, "workloads", "workloaddeployments", "instances")), "events", "web"), 1, "events is forbidden")
}

// TestEventsFollow: it prints the existing events, then new or repeated ones as lines below them, once each, also
// across an outage. It ends with the deletion of the Workload.
func TestEventsFollow(t *testing.T) {
	f := newFixture(t)
	w, d := f.scene()
	first := f.event(f.Namespace.Name, about{w.UID, "Workload", "NoMatchingLocation", now.Add(-2 * time.Minute)})
	config, away := f.behindProxy()
	out := &buffer{}
	done := make(chan result, 1)
	go func() { done <- f.call(call{config: config, out: out}, "events", "web", "-w") }()
	f.eventually(out, "2m Warning NoMatchingLocation workload/x why[2J")

	f.event(f.Namespace.Name, about{"another-uid", "Workload", "OfAnother", now})
	f.event(f.Namespace.Name, about{d.UID, "WorkloadDeployment", "BindingMissing", now})
	f.eventually(out, "BindingMissing workloaddeployment/x")
	later := f.instance(d, 2, ready)
	f.event(f.Namespace.Name, about{later.UID, "Instance", "OfNewInstance", now})
	f.eventually(out, "OfNewInstance instance/x")

	away(true)
	f.event(f.Namespace.Name, about{d.UID, "WorkloadDeployment", "WhileAway", now})
	away(false)
	f.eventually(out, "WhileAway workloaddeployment/x")
	first.Count, first.LastTimestamp = 2, metav1.NewTime(now.Add(-3*time.Second))
	if err := f.Client.Update(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	f.eventually(out, "3s Warning NoMatchingLocation")

	for _, object := range []client.Object{w, d} {
		if err := f.Client.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Client.DeleteAllOf(t.Context(), &v1alpha.Instance{}, client.InNamespace(f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	r := <-done
	f.want(r, 0)
	for reason, times := range map[string]int{
		"LAST SEEN": 1, "NoMatchingLocation": 2, "BindingMissing": 1, "OfNewInstance": 1, "WhileAway": 1, "OfAnother": 0, "\x1b": 0,
	} {
		if strings.Count(r.out, reason) != times {
			t.Errorf("%q is there %d times, want %d:\n%s", reason, strings.Count(r.out, reason), times, r.out)
		}
	}
}

// TestEventsFollowOnHub: an operator also follows the hub, in a format for programs, as soon as the Workload has
// objects there.
func TestEventsFollowOnHub(t *testing.T) {
	f := newFixture(t)
	w, d := f.scene()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &buffer{}
	done := make(chan result, 1)
	f.event(f.Namespace.Name, about{w.UID, "Workload", "InProject", now})
	root, _ := f.behindProxy()
	milo := f.kubeconfig(root)
	go func() {
		done <- f.call(call{config: f.Config(), operator: true, ctx: ctx, out: out}, "events", "web", "-w", "--project", "north",
			"--milo-kubeconfig", milo, "-o", "jsonpath={range .items[*]}{.reason}{\"\\n\"}{end}")
	}()
	f.eventually(out, "InProject")
	f.event(f.HubNamespace, about{f.copied(d).UID, "WorkloadDeployment", "OnHub", now})
	f.eventually(out, "InProject\nOnHub")
	interrupt()
	f.want(<-done, exitInterrupted)
}

// TestEventsFollowWithoutRights: kinds that the user may not list are named and left out.
func TestEventsFollowWithoutRights(t *testing.T) {
	f := newFixture(t)
	w, d := f.scene()
	f.event(f.Namespace.Name, about{d.UID, "WorkloadDeployment", "BindingMissing", now})
	f.event(f.Namespace.Name, about{w.UID, "Workload", "NoMatchingLocation", now})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &buffer{}
	done := make(chan result, 1)
	user := f.user(may(read, "workloads"), rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: read})
	go func() { done <- f.call(call{config: user, ctx: ctx, out: out}, "events", "web", "-w") }()
	f.eventually(out, "NoMatchingLocation")
	interrupt()
	r := <-done
	f.want(r, exitInterrupted, "left out, since you may not read it: instances, workloaddeployments")
	if strings.Contains(r.out, "BindingMissing") {
		t.Errorf("an event of what may not be read: %s", r.out)
	}
	f.want(f.kubectl(f.user(may(read, "workloads")), "events", "web", "-w"), 1, "events is forbidden")
}

// about returns an event about an object.
type about struct {
	uid          types.UID
	kind, reason string
	at           time.Time
}

func (f *fixture) event(namespace string, e about) *corev1.Event {
	f.Helper()
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, GenerateName: "event-"},
		InvolvedObject: corev1.ObjectReference{Kind: e.kind, Namespace: namespace, Name: "x", UID: e.uid},
		Type:           "Warning", Reason: e.reason, Message: "why\x1b[2J", LastTimestamp: metav1.NewTime(e.at),
		FirstTimestamp: metav1.NewTime(e.at), Source: corev1.EventSource{Component: "karmada-compute"},
	}
	f.create(event)
	return event
}
