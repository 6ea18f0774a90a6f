// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"encoding/json"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkReview measures the work of the replica for one request, from the bytes of the request to the bytes of the
// answer, with projects that answer at once.
func BenchmarkReview(b *testing.B) {
	valid, err := json.Marshal(workload("DFW"))
	if err != nil {
		b.Fatal(err)
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "uid", Operation: admissionv1.Create, Namespace: "default",
			Kind: metav1.GroupVersionKind{Group: "compute.datumapis.com", Version: "v1alpha", Kind: "Workload"},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil {
		b.Fatal(err)
	}
	review.Request.Object.Raw = valid
	review.Request.UserInfo.Extra, review.Request.UserInfo.Groups = inProject("north"), []string{"team"}
	if body, err = json.Marshal(review); err != nil {
		b.Fatal(err)
	}
	handler := workloads(newProjects())
	b.ReportAllocs()
	for b.Loop() {
		if response, err := send(handler, body); err != nil || !response.Allowed {
			b.Fatalf("answer is %+v, %v", response, err)
		}
	}
}
