// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const (
	one = "0123456789abcdef"
	two = "fedcba9876543210"
)

// withData names ConfigMap app and Secret db in every field that a container is started with, and Secret db for pulls.
func withData() *v1alpha.InstanceTemplateSpec {
	app, db := corev1.LocalObjectReference{Name: "app"}, corev1.LocalObjectReference{Name: "db"}
	container := v1alpha.SandboxContainer{
		Name: "app", Image: "one",
		Env: []corev1.EnvVar{
			{Name: "A", Value: "a"},
			{Name: "B", ValueFrom: &corev1.EnvVarSource{
				ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: app, Optional: new(true)},
			}},
			{Name: "C", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: db}}},
		},
		EnvFrom: []corev1.EnvFromSource{
			{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: app}}, {SecretRef: &corev1.SecretEnvSource{LocalObjectReference: db}},
		},
	}
	return &v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
		Runtime: v1alpha.InstanceRuntimeSpec{Sandbox: &v1alpha.SandboxRuntime{
			ImagePullSecrets: []v1alpha.ImagePullSecretReference{{Name: "db"}},
			Containers:       []v1alpha.SandboxContainer{container}, InitContainers: []v1alpha.SandboxContainer{container},
		}},
		Volumes: []v1alpha.InstanceVolume{
			{InstanceVolumeSource: v1alpha.InstanceVolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: app}}},
			{InstanceVolumeSource: v1alpha.InstanceVolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "db"}}},
		},
	}}
}

// TestSnapshotsOfATemplate: every field but the ones for pulls names the snapshot, the hash differs with each content, and
// the template that the consumer wrote is found again.
func TestSnapshotsOfATemplate(t *testing.T) {
	template, data := withData(), []v1alpha.DataVersion{{Kind: "ConfigMap", Name: "app", Hash: one}, {Kind: "Secret", Name: "db", Hash: two}}
	started := templates.WithSnapshots(template, data)
	if !templates.Equalities.DeepEqual(template, withData()) {
		t.Fatal("the template was changed")
	}
	for _, reference := range templates.DataReferences(&started.Spec, nil) {
		_, isSnapshot := templates.ParseSnapshot(templates.DataObject{Kind: reference.Kind, Name: reference.Name})
		if isPull := strings.Contains(reference.Path.String(), "imagePullSecrets"); isSnapshot == isPull {
			t.Errorf("%s names %s", reference.Path, reference.Name)
		}
	}
	written, found := templates.WithoutSnapshots(started)
	if !templates.Equalities.DeepEqual(written, template) || !slices.Equal(found, data) {
		t.Errorf("found again are %v", found)
	}
	other := templates.WithSnapshots(template, []v1alpha.DataVersion{data[0], {Kind: "Secret", Name: "db", Hash: one}})
	hashes := map[string]bool{hashOf(t, template): true, hashOf(t, started): true, hashOf(t, other): true}
	if len(hashes) != 3 {
		t.Errorf("the hashes are %v", hashes)
	}
}

func TestParseSnapshot(t *testing.T) {
	for name, want := range map[string]string{
		templates.SnapshotName("app", one): "app", templates.SnapshotName("a.b", templates.AbsentData): "a.b",
		"app": "", "app.snapshot-": "", "app.snapshot-0123456789abcdeg": "app", "app.snapshot-0123456789abcdez": "",
		".snapshot-" + one: "", "app.snapshot-" + one + "0": "", "app.snapshot-" + strings.ToUpper(one): "",
	} {
		if got, ok := templates.ParseSnapshot(templates.DataObject{Kind: "Secret", Name: name}); got.Name != want || ok != (want != "") {
			t.Errorf("%s is of %q", name, got.Name)
		}
	}
}

func TestRollingData(t *testing.T) {
	app, db := templates.DataObject{Kind: "ConfigMap", Name: "app"}, templates.DataObject{Kind: "Secret", Name: "db"}
	const rolls = v1alpha.DataRollout
	for name, test := range map[string]struct {
		of   *v1alpha.OnDataChange
		want map[templates.DataObject]bool
	}{
		"nothing said":    {nil, nil},
		"in place":        {&v1alpha.OnDataChange{Policy: v1alpha.DataInPlace}, nil},
		"all":             {&v1alpha.OnDataChange{Policy: v1alpha.DataRollout}, map[templates.DataObject]bool{app: false, db: false}},
		"the ConfigMap":   {&v1alpha.OnDataChange{Policy: rolls, ConfigMaps: []string{"app"}}, map[templates.DataObject]bool{app: false}},
		"the Secret":      {&v1alpha.OnDataChange{Policy: rolls, Secrets: []string{"db"}}, map[templates.DataObject]bool{db: false}},
		"of another kind": {&v1alpha.OnDataChange{Policy: rolls, Secrets: []string{"app"}}, map[templates.DataObject]bool{}},
	} {
		if got := templates.RollingData(&v1alpha.WorkloadRollout{OnDataChange: test.of}, withData()); !maps.Equal(got, test.want) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	optional := withData()
	optional.Spec.Runtime.Sandbox.Containers, optional.Spec.Runtime.Sandbox.InitContainers = nil, nil
	optional.Spec.Volumes[0].ConfigMap.Optional = new(true)
	all := &v1alpha.WorkloadRollout{OnDataChange: &v1alpha.OnDataChange{Policy: v1alpha.DataRollout}}
	if got := templates.RollingData(all, optional); !got[app] || got[db] {
		t.Errorf("optional are %v", got)
	}
}

// TestTheHashOfData depends on keys, values, what is binary, and the key of the object.
func TestTheHashOfData(t *testing.T) {
	seen := map[string]string{}
	for name, of := range map[string]*corev1.ConfigMap{
		"empty": {}, "text": {Data: map[string]string{"a": "b"}}, "another value": {Data: map[string]string{"a": "c"}},
		"another key": {Data: map[string]string{"b": "b"}}, "moved": {Data: map[string]string{"ab": ""}},
		"binary": {BinaryData: map[string][]byte{"a": []byte("b")}},
	} {
		hash := templates.HashData("key", of.Data, of.BinaryData)
		if before, found := seen[hash]; found || len(hash) != len(templates.AbsentData) {
			t.Errorf("%s has hash %q, as %q", name, hash, before)
		}
		seen[hash] = name
		if _, ok := templates.ParseSnapshot(templates.DataObject{Name: templates.SnapshotName("app", hash)}); !ok {
			t.Errorf("%q is no hash of a snapshot", hash)
		}
	}
	if templates.HashData("another", nil, nil) == templates.HashData("key", nil, nil) {
		t.Error("it does not depend on the key of the object")
	}
}

// TestTheKeyOfAnObject: each object of each namespace and project has a key of its own, and always the same.
func TestTheKeyOfAnObject(t *testing.T) {
	seen := map[string]bool{}
	for _, secret := range []string{"s", "t"} {
		for _, where := range [][2]string{{"p", "n"}, {"q", "n"}, {"p", "m"}} {
			for _, object := range []templates.DataObject{{Kind: "Secret", Name: "a"}, {Kind: "ConfigMap", Name: "a"}, {Kind: "Secret", Name: "b"}} {
				key := templates.DataKey([]byte(secret), where[0], where[1], object)
				if seen[key] || len(key) < 32 || key != templates.DataKey([]byte(secret), where[0], where[1], object) {
					t.Errorf("%s, %v, %v: %q", secret, where, object, key)
				}
				seen[key] = true
			}
		}
	}
}

// TestStartedWith: a Workload without the policy has its own template and hash, and an object that is not read is named.
func TestStartedWith(t *testing.T) {
	workload := &v1alpha.Workload{Spec: v1alpha.WorkloadSpec{Template: *withData()}}
	workload.Status.Data = &v1alpha.WorkloadDataStatus{Objects: []v1alpha.DataVersion{
		{Kind: "ConfigMap", Name: "app", Hash: one}, {Kind: "ConfigMap", Name: "former", Hash: one},
	}}
	started, unread := templates.StartedWith(workload)
	if started != &workload.Spec.Template || len(unread) > 0 {
		t.Error("without the policy, data counts")
	}
	workload.Spec.Rollout = &v1alpha.WorkloadRollout{OnDataChange: &v1alpha.OnDataChange{Policy: v1alpha.DataRollout}}
	started, unread = templates.StartedWith(workload)
	if _, data := templates.WithoutSnapshots(started); !slices.Equal(data, workload.Status.Data.Objects[:1]) ||
		!slices.Equal(unread, []templates.DataObject{{Kind: "Secret", Name: "db"}}) {
		t.Errorf("it is started with %v, unread are %v", data, unread)
	}
}

func TestHolds(t *testing.T) {
	holds := map[templates.DataObject]templates.Hold{
		{Kind: "ConfigMap", Name: "app"}: {Held: one, Newest: two}, {Kind: "Secret", Name: "a.b"}: {Held: two, Newest: one},
	}
	text := "ConfigMap/app:" + one + ":" + two + ",Secret/a.b:" + two + ":" + one
	if got := templates.FormatHolds(holds); got != text {
		t.Errorf("got %s", got)
	}
	// A consumer may write anything.
	for name, hostile := range map[string]string{
		"as written": text, "with others": "x,," + text + ",Pod/a:" + one + ":" + two + ",Secret/../a:" + one + ":" + two,
	} {
		if got := templates.ParseHolds(hostile); !maps.Equal(got, holds) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if got := templates.ParseHolds(strings.Repeat(text+",", 10000)); len(got) > 0 {
		t.Error("an annotation over the bound is read")
	}
}
