// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestReviews(t *testing.T) {
	cases := map[string]struct {
		make      func() ([]byte, error)
		operation admissionv1.Operation
		update    bool
	}{
		"create":    {make: createReview, operation: admissionv1.Create},
		"scale out": {make: scaleOutReview, operation: admissionv1.Update, update: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			body, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			review := &admissionv1.AdmissionReview{}
			if err := json.Unmarshal(body, review); err != nil {
				t.Fatal(err)
			}
			request := review.Request
			if request.Operation != c.operation || (request.OldObject.Raw != nil) != c.update {
				t.Errorf("the request is %+v", request)
			}
			workload := &v1alpha.Workload{}
			if err := json.Unmarshal(request.Object.Raw, workload); err != nil || workload.Namespace != request.Namespace {
				t.Errorf("the Workload is %+v, %v", workload, err)
			}
			if got := request.UserInfo.Extra["iam.miloapis.com/parent-name"]; len(got) != 1 || got[0] != project {
				t.Errorf("the project is %v", got)
			}
		})
	}
}
