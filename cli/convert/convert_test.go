// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/convert/podfields"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// manifestsOf converts a text.
func manifestsOf(text string) (*Result, error) {
	return Manifests([]Input{{Name: "file", Reader: strings.NewReader(text)}}, options)
}

var options = Options{Cities: []string{"DFW"}, Network: "default"}

// TestManifests converts testdata/*.yaml, and compares the output with the files beside them. Admission takes each
// Workload.
func TestManifests(t *testing.T) {
	files, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			in, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close() }()
			result, err := Manifests([]Input{{Name: file, Reader: in}}, options)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for _, object := range result.Objects {
				if workload, ok := object.(*v1alpha.Workload); ok {
					if problems := validation.Workload(workload, nil); len(problems) > 0 {
						t.Errorf("admission refuses Workload %s: %v", workload.Name, problems)
					}
				}
			}
			if err := result.Print(&out, "yaml"); err != nil {
				t.Fatal(err)
			}
			out.WriteString("---\n# Not carried over:\n")
			for _, loss := range result.Losses {
				fmt.Fprintf(&out, "# %s\n", loss)
			}
			golden := strings.TrimSuffix(file, ".in.yaml") + ".out.yaml"
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", out.String(), want)
			}
		})
	}
}

func TestManifestsThatCannotBeConverted(t *testing.T) {
	const good = "\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: good}, spec: {template: {spec: " +
		"{containers: [{name: a, image: a}]}}}}"
	tests := map[string]string{
		"a: [":       "file: the document from line 1: is no YAML",
		"a: 1\na: 2": `file: the document from line 1: is no YAML: yaml: unmarshal errors`,
		"a:\n\t- b":  "file: the document from line 1: is no YAML",
		"text":       "file: the document from line 1: is no object",
		"[1, 2]":     "file: the document from line 1: is no object",
		"kind: A":    "file: the document from line 1: is no object",
		"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: " +
			"many}}": "file: StatefulSet web is not converted: spec.replicas is a string, and must be a whole number; remove the quotes",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: " +
			"{}}}": "file: Deployment web is not converted: spec.template.spec.containers: " +
			"it has no container",
		"{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: a}]}}}}": "it has no name",
		"name: {{ .Values.name }}\n":               "file: the document from line 1: is no YAML; render the chart first, with helm template",
		"{apiVersion: v1, kind: List, items: [1]}": "file: the document from line 1: ",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: " +
			"1}}}}": "file: Deployment web is not converted: spec.template.spec.containers is a number, and must be a list; begin each item with -",
		deployment("", "", "", ", env: [{name: A, value: 1}]"): "containers.env.value is a number, and must be a text; put it in quotes",
		deployment("", "", "", ", args: [yes]"):                "containers.args is a bool, and must be a text; put it in quotes",
	}
	for text, want := range tests {
		result, err := manifestsOf(text + good)
		if err != nil {
			t.Fatal(err)
		}
		if problems := errors.Join(result.Problems...); problems == nil || !strings.Contains(problems.Error(), want) {
			t.Errorf("%q: %v, want %q", text, problems, want)
		}
		if len(result.Objects) != 1 {
			t.Errorf("%q: the other object is not converted: %v", text, result.Objects)
		}
	}
	for text, want := range map[string]string{
		"a: 1\n---\n\nb:\n  c: 1\n d: 2\n":             "file: the document from line 3: is no YAML: yaml: line 6: did not find",
		"# a\n---\n---\na: 1\na: 2\n":                  "line 5: key \"a\" already set",
		"---\r\na: b: c\r\n":                           "line 2: is no YAML: yaml: mapping values are not allowed",
		"apiVersion: v1\n--- {apiVersion: v1, kind: [": "line 2: is no YAML: yaml: line 2: did not find",
	} {
		result, err := manifestsOf(text)
		if err != nil || !strings.Contains(errors.Join(result.Problems...).Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, err, result.Problems, want)
		}
	}
	result, err := manifestsOf("")
	if err != nil || len(result.Problems) != 1 || !strings.Contains(result.Problems[0].Error(), "there is no Deployment") {
		t.Errorf("nothing: %v, %v", err, result)
	}
}

// defaultTrue are the flags of a Pod that are true by default. Without them a Pod has nothing that an Instance lacks,
// except hostUsers.
var defaultTrue = map[string]bool{"automountServiceAccountToken": true, "enableServiceLinks": true, "hostUsers": true}

// TestNothingIsLostSilently: of every field of a Pod that is set, either the Workload has something, or the list names
// it. A field of the Pod is set alone, with a value that no cell has anyway.
func TestNothingIsLostSilently(t *testing.T) {
	filler := randfill.NewWithSeed(1).NilChance(0).NumElements(1, 1).MaxDepth(12).Funcs(
		func(i *intstr.IntOrString, _ randfill.Continue) { *i = intstr.FromInt32(80) },
		func(m *corev1.MountPropagationMode, _ randfill.Continue) { *m = corev1.MountPropagationBidirectional },
		func(p *corev1.ContainerRestartPolicy, _ randfill.Continue) { *p = corev1.ContainerRestartPolicyAlways },
		func(s *string, _ randfill.Continue) { *s = "x" },
		func(b *bool, _ randfill.Continue) { *b = true },
		func(s *metav1.LabelSelector, _ randfill.Continue) {},
	)
	base := func() *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
		d.Spec.Template.Spec.Containers = []corev1.Container{
			{Name: "web", Image: "web", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}},
		}
		d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		return d
	}
	plain := fromDeployment(base(), options).workload
	check := func(of string, into func(*appsv1.Deployment) reflect.Value) {
		for _, field := range podfields.FieldsOf(into(base()).Type()) {
			d := base()
			value := into(d).FieldByIndex(field.Index)
			filler.Fill(value.Addr().Interface())
			if flag, isFlag := reflect.TypeAssert[*bool](value); isFlag && of == "spec" && defaultTrue[field.Name] {
				// true is the default of Kubernetes.
				*flag = field.Name == "hostUsers" && !*flag
				if field.Name != "hostUsers" {
					continue
				}
			}
			if c := fromDeployment(d, options); reflect.DeepEqual(c.workload, plain) && len(c.losses) == 0 {
				t.Errorf("%s.%s is lost silently", of, field.Name)
			}
		}
	}
	check("spec", func(d *appsv1.Deployment) reflect.Value { return reflect.ValueOf(&d.Spec.Template.Spec).Elem() })
	check("container", func(d *appsv1.Deployment) reflect.Value {
		return reflect.ValueOf(&d.Spec.Template.Spec.Containers[0]).Elem()
	})
	check("securityContext", func(d *appsv1.Deployment) reflect.Value {
		d.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{}
		return reflect.ValueOf(d.Spec.Template.Spec.SecurityContext).Elem()
	})
	check("container.securityContext", func(d *appsv1.Deployment) reflect.Value {
		d.Spec.Template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{}
		return reflect.ValueOf(d.Spec.Template.Spec.Containers[0].SecurityContext).Elem()
	})
	check("volumeMounts", func(d *appsv1.Deployment) reflect.Value {
		return reflect.ValueOf(&d.Spec.Template.Spec.Containers[0].VolumeMounts[0]).Elem()
	})
}

// TestListsGoOn: an item that is no object costs itself, and the others are converted.
func TestListsGoOn(t *testing.T) {
	const good = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: good}, spec: {template: {spec: {containers: " +
		"[{name: a, image: a}]}}}}"
	result, err := manifestsOf("{apiVersion: v1, kind: List, items: [7, " + good + ", {kind: Service}]}")
	if err != nil || len(result.Objects) != 1 {
		t.Fatal(err, result)
	}
	problems := errors.Join(result.Problems...)
	for _, want := range []string{"items[0]: is no object", "items[2]: is no object"} {
		if problems == nil || !strings.Contains(problems.Error(), want) {
			t.Errorf("errors %v, want %q", problems, want)
		}
	}
}

// TestTenMegabytes: a file of thousands of objects, and of a large one, is converted in a time that grows with its size
// alone.
func TestTenMegabytes(t *testing.T) {
	var text strings.Builder
	for i := range 4500 {
		fmt.Fprintf(&text, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf-%d}\ndata: {a: %q}\n---\n", i, strings.Repeat("x", 1800))
		fmt.Fprintf(&text, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-%d}\nspec: {template: {spec: {containers: "+
			"[{name: a, image: 'registry.example.com/a:1', envFrom: [{configMapRef: {name: conf-%d}}]}]}}}\n---\n", i, i)
		fmt.Fprintf(&text, "apiVersion: v1\nkind: Service\nmetadata: {name: service-%d}\nspec: {selector: {app: %q}}\n---\n",
			i, strings.Repeat("y", 200))
	}
	if text.Len() < 10<<20 {
		t.Fatalf("%d bytes", text.Len())
	}
	result, err := manifestsOf(text.String())
	if err != nil || len(result.Objects) != 9000 || len(result.Problems) > 0 {
		t.Errorf("%v: %d objects, %v", err, len(result.Objects), result.Problems)
	}
}

func TestRollouts(t *testing.T) {
	stateful := func(change func(*appsv1.StatefulSetSpec)) *v1alpha.Workload {
		from := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"}}
		change(&from.Spec)
		return fromStatefulSet(from, options).workload
	}
	policy := func(w *v1alpha.Workload) v1alpha.InstanceManagementPolicy {
		return w.Spec.Placements[0].ScaleSettings.InstanceManagementPolicy
	}
	if w := stateful(func(*appsv1.StatefulSetSpec) {}); policy(w) != v1alpha.OrderedReady ||
		w.Spec.Rollout.MaxSurge.IntVal != 0 || w.Spec.Rollout.MaxUnavailable != nil {
		t.Errorf("a StatefulSet is %s with %+v", policy(w), w.Spec.Rollout)
	}
	if w := stateful(func(s *appsv1.StatefulSetSpec) { s.Replicas = new(int32(2)) }); w.Spec.Rollout != nil {
		t.Errorf("a StatefulSet of 2 is rolled out with %+v", w.Spec.Rollout)
	}
	w := stateful(func(s *appsv1.StatefulSetSpec) { s.PodManagementPolicy = appsv1.ParallelPodManagement })
	if policy(w) != v1alpha.Parallel || w.Spec.Rollout.MaxUnavailable.IntVal != 1 {
		t.Errorf("a parallel StatefulSet is %s with %+v", policy(w), w.Spec.Rollout)
	}
	d := &appsv1.Deployment{}
	d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
	d.Spec.Replicas = new(int32(0))
	c := fromDeployment(d, options)
	if recreated := c.workload; recreated.Spec.Rollout.MaxUnavailable.StrVal != "100%" || recreated.Spec.Rollout.MaxSurge == nil {
		t.Errorf("Recreate is %+v", recreated.Spec.Rollout)
	}
	listed := slices.ContainsFunc(c.losses, func(l Loss) bool { return l.Path == "spec.replicas" })
	if c.workload.Spec.Placements[0].ScaleSettings.MinReplicas != 0 && !listed {
		t.Errorf("no Instances: %v", c.losses)
	}
}
