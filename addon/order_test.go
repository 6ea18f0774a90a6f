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

// TestBackToAnEarlierVersion: the agents go first, and the replicas are replaced when every cell has its agent. A run that was interrupted
// between does the same when it is repeated. Where the versions are not known it says so, and the replicas go first.
func TestBackToAnEarlierVersion(t *testing.T) {
	s := newSite(t)
	values := func(tag string) map[string]any {
		image := func() map[string]any { return map[string]any{"tag": tag} }
		return map[string]any{"image": image(), "agents": map[string]any{"image": image()}}
	}
	tags := func() (agents, replicas string) {
		t.Helper()
		deployment := &appsv1.Deployment{}
		if err := s.Get(t.Context(), agentDeployment, deployment); err != nil {
			t.Fatal(err)
		}
		return tagOf(deployment), tagOf(s.deployment(t))
	}
	if err := s.enable(t.Context(), s.options(), values("v0.3.0")); err != nil {
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
		ctx, end := context.WithCancel(t.Context())
		run, err := s.options().connect()
		if err != nil {
			t.Fatal(err)
		}
		run.out, run.values = interrupted{"waiting for Karmada to propagate the agents", end}, values("v0.2.0")
		if err := run.prepare(ctx); err != nil {
			t.Fatal(err)
		}
		if err := run.finish(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("it does not wait for the agents: %v", err)
		}
		if agents, replicas := tags(); agents != "v0.2.0" || replicas != "v0.3.0" {
			t.Fatalf("while a cell has no such agent, agents are %s and replicas %s", agents, replicas)
		}
	}
	if err := s.Delete(t.Context(), cell); err != nil {
		t.Fatal(err)
	}
	if err := s.enable(t.Context(), s.options(), values("v0.2.0")); err != nil {
		t.Fatal(err)
	}
	if agents, replicas := tags(); agents != "v0.2.0" || replicas != "v0.2.0" || !strings.Contains(s.out.String(), "earlier version: the agents go first") {
		t.Errorf("after it agents are %s and replicas %s:\n%s", agents, replicas, s.out.String())
	}
	if err := s.enable(t.Context(), s.options(), values("mine")); err != nil {
		t.Fatal(err)
	}
	if agents, _ := tags(); agents != "mine" || !strings.Contains(s.out.String(), `tags "v0.2.0" and "mine" are not both versions`) || !strings.Contains(s.out.String(), "the agents follow") {
		t.Errorf("the agents are %s:\n%s", agents, s.out.String())
	}
	if err := s.disable(t.Context(), s.options()); err != nil {
		t.Fatal(err)
	}
	if left := s.left(known); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
