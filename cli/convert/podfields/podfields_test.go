// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package podfields

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestEveryFieldHasAnEntry: a new version of Kubernetes adds no field without an entry, and no entry is left from an
// earlier version.
func TestEveryFieldHasAnEntry(t *testing.T) {
	for i := range Tables {
		table := &Tables[i]
		known := slices.Sorted(maps.Keys(table.Fields))
		for _, field := range FieldsOf(table.Type) {
			place := slices.Index(known, field.Name)
			if place < 0 {
				t.Errorf("%s.%s: say whether a Workload has it", table.Type.Name(), field.Name)
				continue
			}
			known = slices.Delete(known, place, place+1)
		}
		if len(known) > 0 {
			t.Errorf("%s does not have %v", table.Type.Name(), known)
		}
	}
}

// TestEntries: the Workload's field of an honoured field exists, and any other field has a reason. A struct whose
// fields the API does not have by the same names has a table, too.
func TestEntries(t *testing.T) {
	for i := range Tables {
		table := &Tables[i]
		for _, field := range FieldsOf(table.Type) {
			entry, where := table.Fields[field.Name], table.Type.Name()+"."+field.Name
			if !entry.Honoured() {
				if entry.Text == "" {
					t.Errorf("%s is refused without a reason", where)
				}
				continue
			}
			to, err := find(reflect.TypeFor[v1alpha.Workload](), entry.Path)
			if err != nil {
				t.Errorf("%s: %v", where, err)
				continue
			}
			from := elem(field.Type)
			if from.Kind() == reflect.Struct && from != to && Of(from) == nil && from != reflect.TypeFor[metav1.ObjectMeta]() &&
				!sameFields(from, to) {
				t.Errorf("%s is a %s and %s is a %s: write a table of the first", where, from, entry.Path, to)
			}
		}
	}
}

// sameFields reports whether one type has all fields of another.
func sameFields(from, to reflect.Type) bool {
	if to.Kind() != reflect.Struct {
		return false
	}
	names := map[string]bool{}
	for _, field := range FieldsOf(to) {
		names[field.Name] = true
	}
	return !slices.ContainsFunc(FieldsOf(from), func(field Field) bool { return !names[field.Name] })
}

func elem(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	return of
}

// find is the type of a field of a Workload.
func find(of reflect.Type, path string) (reflect.Type, error) {
	for name := range strings.SplitSeq(strings.ReplaceAll(path, "[]", ""), ".") {
		of = elem(of)
		fields := FieldsOf(of)
		place := slices.IndexFunc(fields, func(field Field) bool { return field.Name == name })
		if place < 0 {
			return nil, fmt.Errorf("%s: %s has no field %s", path, of, name)
		}
		of = fields[place].Type
	}
	return elem(of), nil
}

func TestLosses(t *testing.T) {
	pod := &corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyAlways, SchedulerName: "default-scheduler", HostNetwork: true,
		// Nothing is lost with an empty list or struct.
		Affinity: &corev1.Affinity{}, HostAliases: []corev1.HostAlias{},
		Tolerations: []corev1.Toleration{{Key: "a"}}, AutomountServiceAccountToken: new(false), EnableServiceLinks: new(true),
		NodeSelector: map[string]string{"kubernetes.io/os": "linux"}, SetHostnameAsFQDN: new(false), HostUsers: new(false),
		Containers: []corev1.Container{{Name: "a", ImagePullPolicy: "Always"}, {
			Name: "b", ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: "h", Path: "/"}}},
			VolumeMounts: []corev1.VolumeMount{{Name: "c", SubPathExpr: "$(A)"}},
		}},
		Volumes: []corev1.Volume{{Name: "c", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}},
	}
	var got []string
	for _, loss := range Losses(pod, "spec") {
		if loss.Why == "" {
			t.Errorf("%s is lost without a reason", loss.Path)
		}
		got = append(got, loss.Path)
	}
	want := []string{
		"spec.volumes[0].hostPath", "spec.containers[1].volumeMounts[0].subPathExpr",
		"spec.containers[1].readinessProbe.httpGet.host", "spec.hostNetwork", "spec.tolerations", "spec.hostUsers",
	}
	if !slices.Equal(got, want) {
		t.Errorf("lost are %q\nwant %q", got, want)
	}
}
