// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestCompleteService: the defaults are a Service's of Kubernetes, and the argument is not changed.
func TestCompleteService(t *testing.T) {
	if got := CompleteService(nil); got != nil {
		t.Errorf("of nothing %+v", got)
	}
	bare := &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{
		{Name: "a", Port: 80},
		{Name: "b", Port: 81, TargetPort: new(intstr.FromInt32(0))},
		{Name: "c", Port: 82, TargetPort: new(intstr.FromString(""))},
		{Name: "d", Port: 83, TargetPort: new(intstr.FromString("http")), Protocol: new(corev1.ProtocolUDP)},
	}}
	want := &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{
		{Name: "a", Port: 80, TargetPort: new(intstr.FromInt32(80)), Protocol: new(corev1.ProtocolTCP)},
		{Name: "b", Port: 81, TargetPort: new(intstr.FromInt32(81)), Protocol: new(corev1.ProtocolTCP)},
		{Name: "c", Port: 82, TargetPort: new(intstr.FromInt32(82)), Protocol: new(corev1.ProtocolTCP)},
		{Name: "d", Port: 83, TargetPort: new(intstr.FromString("http")), Protocol: new(corev1.ProtocolUDP)},
	}}
	if got := CompleteService(bare); !equality.Semantic.DeepEqual(got, want) || bare.Ports[0].Protocol != nil {
		t.Errorf("got %+v of %+v", got, bare)
	}
}
