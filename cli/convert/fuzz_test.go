// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// oneOf is a function of a filler that sets one of some values.
func oneOf[T any](values ...T) func(*T, randfill.Continue) {
	return func(to *T, c randfill.Continue) { *to = values[c.Intn(len(values))] }
}

// within is a function of a filler that sets a number.
func within[T int32 | int64](values ...T) func(*T, randfill.Continue) { return oneOf(values...) }

// filler fills objects from bytes: names from a short list, so that they meet, and values that a Pod takes beside some
// that it does not.
func filler(data []byte) *randfill.Filler {
	quantity := func(q *resource.Quantity, c randfill.Continue) {
		*q = resource.MustParse([]string{"0", "1", "100m", "0.5", "1Gi", "64Mi", "2Pi", "1e3"}[c.Intn(8)])
	}
	text := []string{
		"a", "b", "web", "data", "", "x.example.com", "A_1", "$(a)/x", "${web}", "/data", "../up", "http", "registry.example.com/a:1",
		"http://web:80", "web-0", "db.prod.svc.cluster.local", "metadata.name", "status.hostIP", "limits.cpu", strings.Repeat("long", 40),
	}
	return randfill.NewFromGoFuzz(data).NilChance(.5).NumElements(0, 3).MaxDepth(14).AllowUnexportedFields(false).Funcs(
		oneOf(text...), quantity,
		within[int32](0, 1, 2, 80, 8080, 3600, 5001, 70000), within[int64](0, 1, 30, 600, 1000, 7200),
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = []intstr.IntOrString{
				intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("25%"), intstr.FromString("200%"), intstr.FromString("http"),
			}[c.Intn(5)]
		},
		func(list *corev1.ResourceList, c randfill.Continue) {
			*list = corev1.ResourceList{}
			for _, name := range []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi"} {
				if c.Bool() {
					var amount resource.Quantity
					quantity(&amount, c)
					(*list)[name] = amount
				}
			}
		},
		oneOf(corev1.ProtocolTCP, corev1.ProtocolUDP, ""), oneOf(corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever, ""),
		oneOf(corev1.URISchemeHTTP, corev1.URISchemeHTTPS, ""), oneOf(corev1.RestartPolicyAlways, corev1.RestartPolicyNever, ""),
		oneOf(corev1.DNSClusterFirst, corev1.DNSDefault, ""), oneOf(corev1.ContainerRestartPolicyAlways),
		oneOf(corev1.StorageMediumDefault, corev1.StorageMediumMemory, corev1.StorageMediumHugePages),
		oneOf(corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError, ""),
		oneOf(appsv1.RollingUpdateDeploymentStrategyType, appsv1.RecreateDeploymentStrategyType, ""),
		oneOf(appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement, ""),
		oneOf(appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType, ""),
		func(meta *metav1.ObjectMeta, c randfill.Continue) {
			*meta = metav1.ObjectMeta{Name: "web"}
			for _, key := range []string{
				"app", "app.kubernetes.io/managed-by", "argocd.argoproj.io/instance", "compute.datumapis.com/x", "work.karmada.io/y",
			} {
				if c.Bool() {
					metav1.SetMetaDataLabel(meta, key, "v")
				}
				if c.Bool() {
					metav1.SetMetaDataAnnotation(meta, key, "note")
				}
			}
		},
		func(time *metav1.Time, _ randfill.Continue) { *time = metav1.Time{} },
		func(fields *metav1.FieldsV1, _ randfill.Continue) { *fields = metav1.FieldsV1{} },
		func(*metav1.LabelSelector, randfill.Continue) {},
		oneOf(corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch),
		oneOf(corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict),
		oneOf(corev1.MountPropagationNone, corev1.MountPropagationHostToContainer),
		oneOf(corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled),
		oneOf(corev1.DefaultProcMount, corev1.UnmaskedProcMount), oneOf(corev1.PreemptLowerPriority, corev1.PreemptNever),
		oneOf(corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}),
		oneOf(corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault},
			corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}),
		single[corev1.EnvVarSource], single[corev1.ProbeHandler], single[corev1.LifecycleHandler], single[corev1.VolumeSource],
		func(action *corev1.TCPSocketAction, c randfill.Continue) {
			*action = corev1.TCPSocketAction{Port: intstr.FromInt32(80)}
			if c.Bool() {
				action.Host = "web"
			}
		},
		func(ref *corev1.ObjectFieldSelector, c randfill.Continue) {
			paths := []string{
				"metadata.name", "status.podIP", "status.hostIP", "spec.nodeName", "metadata.labels['app']", "metadata.annotations['x.example.com/a']",
			}
			*ref = corev1.ObjectFieldSelector{FieldPath: paths[c.Intn(len(paths))]}
		},
		func(ref *corev1.ResourceFieldSelector, c randfill.Continue) {
			resources := []string{"limits.cpu", "requests.memory", "limits.ephemeral-storage"}
			*ref = corev1.ResourceFieldSelector{Resource: resources[c.Intn(len(resources))]}
		},
		func(variable *corev1.EnvVar, c randfill.Continue) {
			*variable = corev1.EnvVar{}
			c.Fill(&variable.Name)
			if c.Bool() {
				c.Fill(&variable.Value)
			} else {
				c.Fill(&variable.ValueFrom)
			}
		},
	)
}

// single is a function of a filler for a type of which exactly one field is set.
func single[T any](to *T, c randfill.Continue) {
	var none T
	*to = none
	of := reflect.ValueOf(to).Elem()
	field := of.Field(c.Intn(of.NumField()))
	field.Set(reflect.New(field.Type().Elem()))
	c.Fill(field.Interface())
}

// FuzzConvert: a Deployment or a StatefulSet is accepted, or the list names each field that is not; no field is lost
// silently, and none is listed that is kept; and the same input gives the same output.
func FuzzConvert(f *testing.F) {
	for seed := range byte(12) {
		data := make([]byte, 4096)
		state := uint32(seed) + 1
		for i := range data {
			state = state*1664525 + 1013904223
			data[i] = byte(state >> 24)
		}
		f.Add(seed%2 == 0, data)
	}
	f.Fuzz(func(t *testing.T, stateful bool, data []byte) {
		var object any
		if stateful {
			of := &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}}
			filler(data).Fill(&of.ObjectMeta)
			filler(data).Fill(&of.Spec)
			if of.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
				of.Spec.UpdateStrategy.RollingUpdate = nil
			}
			object = of
		} else {
			of := &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}}
			filler(data).Fill(&of.ObjectMeta)
			filler(data).Fill(&of.Spec)
			if of.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
				of.Spec.Strategy.RollingUpdate = nil
			}
			object = of
		}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		checkAccepted(t, checkPromises(t, string(text)))
		if t.Failed() {
			t.Log(string(text))
		}
	})
}

// checkAccepted checks the printed Workloads by the rules of admission and by the schema: the list has each problem.
func checkAccepted(t *testing.T, result *Result) {
	t.Helper()
	for document := range strings.SplitSeq(printed(t, result), "\n---\n") {
		workload := &v1alpha.Workload{}
		if err := yaml.UnmarshalStrict([]byte(document), workload); err != nil || workload.Kind != v1alpha.KindWorkload {
			continue
		}
		for _, problem := range validation.Workload(workload, nil) {
			if !names(result.Losses, problem) {
				t.Errorf("admission refuses the Workload, and the list does not name it: %v", problem)
			}
		}
	}
}

func names(losses []Loss, problem *field.Error) bool {
	for _, loss := range losses {
		if loss.Path == problem.Field {
			return true
		}
	}
	return false
}
