// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const inGit = `apiVersion: compute.datumapis.com/v1alpha
kind: Workload
metadata: {name: web}
spec:
  template:
    spec:
      runtime:
        resources: {}
        sandbox: {containers: [{name: app, image: "nginx:2", ports: [{name: http, port: 80}]}, {name: side, image: "side:1"}]}
      networkInterfaces: [{network: {name: default}}]
  placements: [{name: texas, cityCodes: [DFW], scaleSettings: {minReplicas: 2}}]
  rollout: {onFailure: Pause}
`

// fromGit applies a manifest as a tool that follows a Git repository, and returns the fields of the conflict.
func (f *fixture) fromGit(manifest string) []string {
	f.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		f.Fatal(err)
	}
	object.SetNamespace(f.Namespace.Name)
	err := f.Client.Apply(f.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("git"))
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsConflict(err) {
		f.Fatal(err)
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		if !strings.Contains(cause.Message, "kubectl-compute") {
			f.Errorf("another owner: %s", cause.Message)
		}
		fields = append(fields, cause.Field)
	}
	return fields
}

// TestGitBesideCommands: each command owns one field, so that a tool that applies the same Workload conflicts about
// this field at most.
func TestGitBesideCommands(t *testing.T) {
	const replicas = `.spec.placements[name="texas"].scaleSettings.minReplicas`
	const image = `.spec.template.spec.runtime.sandbox.containers[name="app"].image`
	f := newFixture(t)
	expect := func(when, manifest string, conflicts ...string) {
		t.Helper()
		if got := strings.Join(f.fromGit(manifest), " "); got != strings.Join(conflicts, " ") {
			t.Errorf("%s: Git has a conflict about %q, want %q", when, got, conflicts)
		}
	}
	run := func(note string, args ...string) {
		t.Helper()
		r := f.kubectl(f.Config(), args...)
		if r.code != 0 || !strings.Contains(r.errOut, note) || note == "" && r.errOut != "" {
			t.Errorf("%v: exit code %d, %v, %q", args, r.code, r.err, r.errOut)
		}
	}
	expect("new", inGit)
	w := &v1alpha.Workload{}
	w.Namespace, w.Name = f.Namespace.Name, "web"
	f.get(w)

	run("git has applied "+replicas+", and reports", "scale", "web", "--replicas", "3")
	expect("scaled", inGit, replicas)
	scaled := strings.Replace(inGit, "minReplicas: 2", "minReplicas: 3", 1)
	expect("the scale is in Git", scaled)

	run("", "restart", "web")
	expect("restarted", scaled)
	run("", "rollout", "pause", "web")
	expect("paused", scaled)
	if f.get(w); !w.Spec.Rollout.Paused || w.Spec.Template.Annotations[v1alpha.AnnotationRestartedAt] == "" {
		t.Errorf("after Git has applied, it is paused: %t, and its annotations are %v", w.Spec.Rollout.Paused, w.Spec.Template.Annotations)
	}
	run("", "rollout", "resume", "web")
	expect("resumed", scaled)

	good := &v1alpha.WorkloadRevision{Spec: v1alpha.WorkloadRevisionSpec{Revision: 1, Template: *w.Spec.Template.DeepCopy()}}
	good.Namespace, good.Name, good.Labels = w.Namespace, "web-1", map[string]string{v1alpha.LabelWorkloadUID: string(w.UID)}
	good.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "nginx:1"
	f.create(good)
	run("git has applied "+image, "rollout", "undo", "web")
	expect("undone", scaled, image)
	if f.get(w); w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image != "nginx:1" {
		t.Errorf("the undo is reverted to %s", w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image)
	}
	expect("the undo is in Git", strings.Replace(scaled, "nginx:2", "nginx:1", 1))
}
