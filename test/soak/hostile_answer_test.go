// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestAcceptedWrites: without the admission of the add-on every write is accepted. Writes that change a field are
// findings, and patches of which the API server stores nothing are no findings, although the add-on changes the object
// at the same time.
func TestAcceptedWrites(t *testing.T) {
	for name, test := range map[string]struct {
		subresource string
		body        fields
		// verb is patch by default.
		verb string
		// harmless reports that the write is no finding.
		harmless bool
	}{
		"an unknown field": {
			subresource: "status", body: fields{"status": fields{"unknown": []any{fields{"name": "x"}}}}, harmless: true,
		},
		"an unknown field of the spec": {body: fields{"spec": fields{"unknown": 7}}, harmless: true},
		"the present value":            {subresource: "status", body: fields{"status": fields{"replicas": 1}}, harmless: true},
		"a spec beside the status": {
			subresource: "status", body: fields{"spec": fields{"scaleSettings": fields{"minReplicas": 7}}}, harmless: true,
		},
		"a count":                         {subresource: "status", body: fields{"status": fields{"replicas": 7}}},
		"a count beside an unknown one":   {subresource: "status", body: fields{"status": fields{"replicas": 7, "unknown": 7}}},
		"an empty list":                   {subresource: "status", body: fields{"status": fields{"indices": []any{}}}},
		"the spec":                        {body: fields{"spec": fields{"scaleSettings": fields{"minReplicas": 7}}}},
		"an annotation":                   {body: fields{"metadata": fields{"annotations": fields{v1alpha.AnnotationHubNamespace: "ns-1"}}}},
		"the scale":                       {subresource: "scale", body: fields{"spec": fields{"replicas": 7}}},
		"the scale, to the present value": {subresource: "scale", body: fields{"spec": fields{"replicas": 2}}},
		"a creation":                      {verb: "create"},
	} {
		for _, beside := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", beside the add-on"}[beside], func(t *testing.T) {
				p := planes.New(t)
				d := reported(t, p)
				w := Write{
					Verb: "patch", Kind: deploymentKind, Namespace: d.Namespace, Name: d.Name, Subresource: test.subresource,
					Body: test.body, MustFail: true,
				}
				if test.verb == "create" {
					made := p.Deployment("made-up", "DFW")
					w.Verb, w.Name, w.Body = test.verb, made.Name, asFields(made)
				}
				if beside {
					p.Project.Once(strings.TrimSpace(w.Verb+" "+w.Subresource), v1alpha.KindWorkloadDeployment, func() error {
						planes.ChangeStatus(t, p, d, func(d *v1alpha.WorkloadDeployment) { d.Status.ReadyReplicas++ })
						return nil
					})
				}
				h := &Hostile{Soak: &Soak{Clock: clock.RealClock{}, Out: t.Output()}, party: p.Project}
				h.write(t.Context(), w)

				if err := h.written[0].err; err != nil {
					t.Fatal(err)
				}
				if found := len(h.findings) > 0; found == test.harmless || h.written[0].unchanged != test.harmless {
					t.Errorf("%d findings, unchanged: %t: %s", len(h.findings), h.written[0].unchanged, h.written[0].evidence)
				}
				if r := h.result(0); !strings.Contains(r.Log[0], `"resourceVersion"`) ||
					!test.harmless && !strings.Contains(r.Err().Error(), `"verb":"`+w.Verb+`"`) {
					t.Errorf("no evidence in the log %v or the error %v", r.Log, r.Err())
				}
			})
		}
	}
}

// reported creates a WorkloadDeployment with a status.
func reported(t *testing.T, p *planes.Planes) *v1alpha.WorkloadDeployment {
	t.Helper()
	d := p.Deployment("web", "DFW")
	d.Spec.Replicas = new(int32(2))
	planes.Create(t, p, d)
	return planes.ChangeStatus(t, p, d, func(d *v1alpha.WorkloadDeployment) { d.Status.Replicas = 1 })
}

// TestAPodThatIsNotReported: no status is written before the one of the node, which a simulated node would not correct.
func TestAPodThatIsNotReported(t *testing.T) {
	p := planes.New(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace.Name, Name: "web"}}
	pod.Spec.Containers = []corev1.Container{{Name: "web", Image: "nginx"}}
	planes.Create(t, p, pod)
	w := Write{
		Verb: "patch", Kind: podKind, Namespace: pod.Namespace, Name: pod.Name, Subresource: "status", Reported: true,
		Body: fields{"status": fields{"phase": "Running", "podIP": "10.0.0.1"}},
	}
	if _, err := w.send(t.Context(), p.Project); !errors.Is(err, errNotReported) {
		t.Fatalf("got %v", err)
	}
	pod.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.2"}}
	pod.Status.PodIP = "10.0.0.2"
	if err := p.Client.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if answer, err := w.send(t.Context(), p.Project); err != nil || answer.GetUID() != pod.UID {
		t.Errorf("got %v", err)
	}
}
