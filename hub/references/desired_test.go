// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// spec names a Secret in every possible field, and needed and optional ConfigMaps.
func spec() *v1alpha.InstanceSpec {
	secret, optional := corev1.LocalObjectReference{Name: "database"}, corev1.LocalObjectReference{Name: "spare"}
	return &v1alpha.InstanceSpec{
		Runtime: v1alpha.InstanceRuntimeSpec{Sandbox: &v1alpha.SandboxRuntime{
			ImagePullSecrets: []v1alpha.ImagePullSecretReference{{Name: "registry"}, {Name: ""}},
			Containers: []v1alpha.SandboxContainer{{Env: []corev1.EnvVar{
				{ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: secret, Optional: new(true)}}},
				{ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: optional, Optional: new(true)}}},
			}}},
		}},
		Volumes: []v1alpha.InstanceVolume{
			{InstanceVolumeSource: v1alpha.InstanceVolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "database"}}},
			{
				InstanceVolumeSource: v1alpha.InstanceVolumeSource{
					ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "app"}},
				},
			},
		},
	}
}

func TestNamedBy(t *testing.T) {
	want := map[templates.DataObject]bool{
		{Kind: "Secret", Name: "registry"}: true, {Kind: "Secret", Name: "database"}: true,
		{Kind: "ConfigMap", Name: "spare"}: false, {Kind: "ConfigMap", Name: "app"}: true,
	}
	deployment := &v1alpha.WorkloadDeploymentSpec{Template: v1alpha.InstanceTemplateSpec{Spec: *spec()}}
	if got := namedBy(deployment.Templates()); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// During a rollout the data of the earlier template is kept.
	deployment.Partition = &v1alpha.WorkloadDeploymentPartition{Template: deployment.Template}
	deployment.Template = v1alpha.InstanceTemplateSpec{}
	if got := namedBy(deployment.Templates()); !maps.Equal(got, want) {
		t.Errorf("during a rollout: got %v, want %v", got, want)
	}
}

// TestFit: if the data of the earlier and the newest template is too large together, the data of the newest template
// still reaches the cells.
func TestFit(t *testing.T) {
	names := func(name string) v1alpha.InstanceTemplateSpec {
		source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
		return v1alpha.InstanceTemplateSpec{
			Spec: v1alpha.InstanceSpec{Volumes: []v1alpha.InstanceVolume{{InstanceVolumeSource: v1alpha.InstanceVolumeSource{ConfigMap: source}}}},
		}
	}
	spec := v1alpha.WorkloadDeploymentSpec{Template: names("a"), Partition: &v1alpha.WorkloadDeploymentPartition{Template: names("b")}}
	for earlier, want := range map[int]int{maxTogether / 2: 2, maxTogether: 1} {
		d := &deployment{original: &v1alpha.WorkloadDeployment{Spec: spec}, hubNamespace: "ns", named: namedBy(spec.Templates())}
		d.fit(map[item]*object{
			configMap("a"): {item: configMap("a"), finding: finding{bytes: maxTogether / 2}},
			configMap("b"): {item: configMap("b"), finding: finding{bytes: earlier}},
		})
		if len(d.named) != want || !d.named[templates.DataObject{Kind: templates.KindConfigMap, Name: "a"}] {
			t.Errorf("with %d bytes of the earlier template: %v", earlier, d.named)
		}
	}
}

func configMap(name string) item {
	return item{"ns", templates.DataObject{Kind: templates.KindConfigMap, Name: name}}
}

func secret(name string) item {
	return item{"ns", templates.DataObject{Kind: templates.KindSecret, Name: name}}
}

// named returns a deployment of hub namespace ns that needs ConfigMaps.
func named(name string, federated bool, configMaps ...string) *deployment {
	d := &deployment{original: &v1alpha.WorkloadDeployment{}, hubNamespace: "ns", named: map[templates.DataObject]bool{}}
	d.original.Spec.CityCode = "DFW"
	if federated {
		d.copied = &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}}
	}
	for _, one := range configMaps {
		d.named[templates.DataObject{Kind: templates.KindConfigMap, Name: one}] = true
	}
	return d
}

func TestCollect(t *testing.T) {
	elsewhere := named("far", true, "a")
	elsewhere.hubNamespace = ""
	objects := collect([]*deployment{named("two", true, "a", "b"), named("one", true, "a"), named("new", false, "a", "c"), elsewhere})
	want := map[string]string{"a": "one two", "b": "two", "c": ""}
	if len(objects) != len(want) {
		t.Fatalf("got %v", objects)
	}
	for name, owners := range want {
		o := objects[configMap(name)]
		var got []string
		for _, owner := range o.owners {
			got = append(got, owner.Name)
			if owner.UID != types.UID("uid-"+owner.Name) || owner.Controller != nil || owner.Kind != "WorkloadDeployment" {
				t.Errorf("owner of %s is %+v", name, owner)
			}
		}
		if joined := strings.Join(got, " "); joined != owners {
			t.Errorf("owners of %s are %q, want %q", name, joined, owners)
		}
	}
}

func TestExamine(t *testing.T) {
	metadata := metav1.ObjectMeta{Name: "it"}
	tests := map[string]struct {
		source      client.Object
		wantReason  string
		wantMessage string
		wantBytes   int
	}{
		"a ConfigMap": {
			&corev1.ConfigMap{ObjectMeta: metadata, Data: map[string]string{"a": "bc"}, BinaryData: map[string][]byte{"de": {1}}}, "", "", 6,
		},
		"a Secret": {
			&corev1.Secret{ObjectMeta: metadata, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"a": []byte("hidden")}}, "", "", 7,
		},
		"just too large": {
			&corev1.ConfigMap{ObjectMeta: metadata, Data: map[string]string{"a": strings.Repeat("x", maxObject)}},
			"SourceTooLarge", "ConfigMap it holds 262145 bytes and at most 262144", maxObject + 1,
		},
		"just not": {
			&corev1.ConfigMap{ObjectMeta: metadata, Data: map[string]string{"a": strings.Repeat("x", maxObject-1)}}, "", "", maxObject,
		},
		"a token": {
			&corev1.Secret{
				ObjectMeta: metadata, Type: corev1.SecretTypeServiceAccountToken, Data: map[string][]byte{"a": []byte("hidden")},
			}, "SourceRefused", "Secret it has type", 0,
		},
		"a cluster's CA": {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: rootCA}}, "SourceRefused", rootCA, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := examine(test.source)
			if got.reason != test.wantReason || !strings.Contains(got.message, test.wantMessage) ||
				got.bytes != test.wantBytes || (got.message == "") != (got.reason == "") {
				t.Errorf("got %+v", got)
			}
			if strings.Contains(got.message, "hidden") {
				t.Errorf("the message says what the Secret holds: %s", got.message)
			}
		})
	}
}

func TestDesiredCopy(t *testing.T) {
	source := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "database", Namespace: "default", UID: "uid", ResourceVersion: "7", Finalizers: []string{"theirs"},
			Labels: map[string]string{"theirs": "x"}, Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "hidden"},
		},
		Type: "example.com/typed", Data: map[string][]byte{"password": []byte("hidden")}, Immutable: new(true),
	}
	labels, annotations := map[string]string{v1alpha.LabelProject: "cluster-p"}, map[string]string{v1alpha.AnnotationProjectName: "p"}
	metadata := metav1.ObjectMeta{
		Namespace: "ns", Name: "database", Labels: labels, Annotations: annotations, OwnerReferences: []metav1.OwnerReference{{Name: "web"}},
	}
	got, ok := desiredCopy(source, metadata).(*corev1.Secret)
	if !ok || got.Type != source.Type || !contentOf(got).sameData(contentOf(source)) || got.Immutable != nil {
		t.Errorf("got %+v", got)
	}
	if got.Name != "database" || got.Namespace != "ns" || got.UID != "" || got.ResourceVersion != "" || len(got.Finalizers) > 0 ||
		!maps.Equal(got.Labels, labels) || !maps.Equal(got.Annotations, annotations) || len(got.OwnerReferences) != 1 {
		t.Errorf("metadata %+v", got.ObjectMeta)
	}
	app := &corev1.ConfigMap{Data: map[string]string{"a": "b"}, BinaryData: map[string][]byte{"c": {1}}}
	copied := desiredCopy(app, metadata)
	if kindOf(copied) != templates.KindConfigMap || !contentOf(copied).sameData(contentOf(app)) {
		t.Errorf("got %+v", copied)
	}
}

func TestWhatACopyNeeds(t *testing.T) {
	owner := named("web", true).copied.OwnerReference()
	desired := func() *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha.LabelProject: "p"}, OwnerReferences: []metav1.OwnerReference{owner}},
			Type:       corev1.SecretTypeOpaque, Data: map[string][]byte{"a": {1}},
		}
	}
	tests := map[string]struct {
		change       func(*corev1.Secret)
		wantSame     bool
		wantRecreate bool
	}{
		"nothing":          {func(*corev1.Secret) {}, true, false},
		"labels of others": {func(s *corev1.Secret) { s.Labels["karmada.io/managed"] = "true" }, true, false},
		"an owner of another kind": {func(s *corev1.Secret) {
			s.OwnerReferences = append(s.OwnerReferences, metav1.OwnerReference{APIVersion: "v1"})
		}, true, false},
		"an owner that is no more": {func(s *corev1.Secret) {
			s.OwnerReferences = append(s.OwnerReferences, named("old", true).copied.OwnerReference())
		}, false, false},
		"an owner that is missing":   {func(s *corev1.Secret) { s.OwnerReferences = nil }, false, false},
		"a label that is missing":    {func(s *corev1.Secret) { s.Labels = nil }, false, false},
		"other data":                 {func(s *corev1.Secret) { s.Data["a"] = []byte{2} }, false, false},
		"more data":                  {func(s *corev1.Secret) { s.Data["b"] = []byte{2} }, false, false},
		"another type":               {func(s *corev1.Secret) { s.Type = "other" }, false, true},
		"sealed by hand":             {func(s *corev1.Secret) { s.Immutable = new(true) }, true, false},
		"sealed by hand, other data": {func(s *corev1.Secret) { s.Immutable, s.Data = new(true), nil }, false, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			copied := desired()
			test.change(copied)
			same, recreate := sameCopy(copied, desired()), mustBeRecreated(copied, desired())
			if same != test.wantSame || recreate != test.wantRecreate {
				t.Errorf("same is %t, must be recreated is %t", same, recreate)
			}
		})
	}
}

func TestKeeps(t *testing.T) {
	if keeps(nil) {
		t.Error("the copy of an object that is not named stays")
	}
	for reason, want := range map[string]bool{
		"": true, v1alpha.ReasonSourceNotFound: false, v1alpha.ReasonSourceTooLarge: true,
		v1alpha.ReasonSourceUnauthorized: true, v1alpha.ReasonResolving: true,
	} {
		if got := keeps(&object{finding: finding{reason: reason}}); got != want {
			t.Errorf("%q: got %t", reason, got)
		}
	}
}

func TestInOrder(t *testing.T) {
	objects := collect([]*deployment{named("web", true, "b", "a", "c")})
	objects[secret("0")] = &object{item: secret("0")}
	var got []string
	for _, o := range inOrder(maps.Values(objects)) {
		got = append(got, o.Name)
	}
	if !slices.Equal(got, []string{"a", "b", "c", "0"}) {
		t.Errorf("got %v", got)
	}
}
