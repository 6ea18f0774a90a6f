// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestIsEarlier(t *testing.T) {
	for _, test := range []struct {
		tag, than      string
		earlier, known bool
	}{
		{"v0.1.0", "v0.2.0", true, true},
		{"0.9.0", "v0.10.0", true, true},
		{"v0.2.0", "v0.1.9", false, true},
		{"v1.0.0-rc.1", "v1.0.0", true, true},
		{"v1.0.0", "v1.0.0-rc.1", false, true},
		{"latest", "latest", false, true},
		{"latest", "v0.1.0", false, false},
		{"v0.1.0", "2026-01-01", false, false},
		{"v0.1.0", "", false, false},
		{"", "", false, false},
	} {
		if earlier, known := isEarlier(test.tag, test.than); earlier != test.earlier || known != test.known {
			t.Errorf("%q than %q: %t, known %t", test.tag, test.than, earlier, known)
		}
	}
}

func TestTagOf(t *testing.T) {
	for image, want := range map[string]string{
		"example.com:5000/compute/cell:v1.2.3":            "v1.2.3",
		"example.com:5000/compute/cell":                   "",
		"example.com/cell:v1.2.3@sha256:0123456789abcdef": "v1.2.3",
		"example.com/cell@sha256:0123456789abcdef":        "",
	} {
		deployment := &appsv1.Deployment{}
		deployment.Spec.Template.Spec.Containers = []corev1.Container{{Image: image}}
		if got := tagOf(deployment); got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}

// versionsOf are values with a tag for all images.
func versionsOf(tag string) map[string]any {
	image := func() map[string]any { return map[string]any{"tag": tag} }
	return map[string]any{"image": image(), "agents": map[string]any{"image": image()}}
}

// wantTags checks the tags of agents and replicas.
func (s *site) wantTags(t *testing.T, agents, replicas string) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := s.Get(t.Context(), agentDeployment, deployment); err != nil {
		t.Fatal(err)
	}
	if has := tagOf(deployment); has != agents {
		t.Errorf("agents are %s, want %s", has, agents)
	}
	if has := tagOf(s.deployment(t)); has != replicas {
		t.Errorf("replicas are %s, want %s", has, replicas)
	}
}

// wantSaid checks the output of enable.
func (s *site) wantSaid(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.out.String(), text) {
			t.Errorf("%q is not in\n%s", text, s.out.String())
		}
	}
}

// TestBackToAnEarlierVersion: the agents are replaced first, and the replicas when every cell has its agent. A run that
// was interrupted between does the same when it is repeated. If the versions are not known, enable prints that, and the
// replicas are replaced first.
func TestBackToAnEarlierVersion(t *testing.T) {
	s := newSite(t)
	if err := s.enable(t.Context(), s.options(), versionsOf("v0.3.0")); err != nil {
		t.Fatal(err)
	}
	known := s.inventory()
	cell := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster"}}
	cell.SetName("cell-without-agent")
	cell.SetLabels(map[string]string{cityLabel: "DFW"})
	if err := s.Create(t.Context(), cell); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.interruptAtTheAgents(t, versionsOf("v0.2.0"))
		s.wantTags(t, "v0.2.0", "v0.3.0")
	}
	if err := errors.Join(s.Delete(t.Context(), cell), s.enable(t.Context(), s.options(), versionsOf("v0.2.0"))); err != nil {
		t.Fatal(err)
	}
	s.wantTags(t, "v0.2.0", "v0.2.0")
	s.wantSaid(t, "earlier version: the agents go first")
	if err := s.enable(t.Context(), s.options(), versionsOf("mine")); err != nil {
		t.Fatal(err)
	}
	s.wantTags(t, "mine", "mine")
	s.wantSaid(t, `tags "v0.2.0" and "mine" are not both versions`, "the agents follow")
	if err := s.disable(t.Context(), s.options()); err != nil {
		t.Fatal(err)
	}
	if left := s.left(known); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// interruptAtTheAgents enables, and ends while a cell has no agent.
func (s *site) interruptAtTheAgents(t *testing.T, values map[string]any) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	run, err := s.options().connect()
	if err != nil {
		t.Fatal(err)
	}
	run.out, run.values = interrupted{"waiting for Karmada to propagate the agents", end}, values
	if err := run.prepare(ctx); err != nil {
		t.Fatal(err)
	}
	if err := run.finish(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("it does not wait for the agents: %v", err)
	}
}
