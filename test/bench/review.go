// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// createReview is the AdmissionReview of a create of the sample.
func createReview() ([]byte, error) { return review(admissionv1.Create, sampleWorkload(city), nil) }

// scaleOutReview is that of an update that adds a city. The template is the same, so that no access is reviewed, and the
// replica answers from its caches most of the time.
func scaleOutReview() ([]byte, error) {
	return review(admissionv1.Update, sampleWorkload("ORD", city), sampleWorkload("ORD"))
}

func review(operation admissionv1.Operation, workload, before *v1alpha.Workload) ([]byte, error) {
	kind := metav1.GroupVersionKind{Group: v1alpha.GroupVersion.Group, Version: v1alpha.GroupVersion.Version, Kind: "Workload"}
	resource := metav1.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: workloadResource.Resource}
	request := &admissionv1.AdmissionRequest{
		UID: "bench", Kind: kind, RequestKind: &kind, Resource: resource, RequestResource: &resource,
		Namespace: namespace, Name: workload.Name, Operation: operation, DryRun: new(true),
		// The extras that Milo sets for every request in a project.
		UserInfo: authenticationv1.UserInfo{Username: consumer, Groups: []string{consumer, "system:authenticated"}, Extra: map[string]authenticationv1.ExtraValue{
			"iam.miloapis.com/parent-api-group": {"resourcemanager.miloapis.com"},
			"iam.miloapis.com/parent-type":      {"Project"},
			"iam.miloapis.com/parent-name":      {project},
		}},
	}
	var err error
	if request.Object, err = encoded(workload); err != nil {
		return nil, err
	}
	if before != nil {
		if request.OldObject, err = encoded(before); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}, Request: request,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the review: %w", err)
	}
	return body, nil
}

func encoded(workload *v1alpha.Workload) (runtime.RawExtension, error) {
	raw, err := json.Marshal(workload)
	if err != nil {
		return runtime.RawExtension{}, fmt.Errorf("encode the Workload: %w", err)
	}
	return runtime.RawExtension{Raw: raw}, nil
}
