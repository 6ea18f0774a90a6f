// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/cli/convert"
)

// conversions converts each shape of the corpus of `kubectl compute convert`, and creates the result without storing
// it: the API server and admission accept it as it is, or the list names each field that they refuse.
func (h *withoutMilo) conversions(namespace string) {
	h.Helper()
	files, err := filepath.Glob("../../cli/convert/testdata/corpus/*.yaml")
	if err != nil {
		h.Fatal(err)
	}
	alice, accepted, shapes := h.as("alice"), 0, 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			h.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(content), "# == ")
		for shape := range strings.SplitSeq(rest, "\n# == ") {
			shapes++
			name, text, _ := strings.Cut(shape, "\n")
			inputs := []convert.Input{{Name: file, Reader: strings.NewReader(text)}}
			result, err := convert.Manifests(inputs, convert.Options{Cities: []string{h.city}, Network: "default"})
			if err != nil {
				h.Fatal(err)
			}
			for _, workload := range h.printedWorkloads(result) {
				workload.SetNamespace(namespace)
				err := alice.Create(h.Context(), workload, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
				if err == nil {
					accepted++
				}
				h.refusalIsListed(name, err, result)
			}
		}
	}
	if shapes < 60 || accepted < shapes {
		h.Errorf("of the Workloads of %d shapes, %d are accepted", shapes, accepted)
	}
}

// printedWorkloads returns the Workloads as the command prints them.
func (h *withoutMilo) printedWorkloads(result *convert.Result) []*unstructured.Unstructured {
	h.Helper()
	var out bytes.Buffer
	if err := result.Print(&out, "yaml"); err != nil {
		h.Fatal(err)
	}
	var workloads []*unstructured.Unstructured
	for document := range strings.SplitSeq(out.String(), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			h.Fatal(err)
		}
		if object.GetKind() == "Workload" {
			workloads = append(workloads, object)
		}
	}
	return workloads
}

// refusalIsListed requires that a list names each field of an error.
func (h *withoutMilo) refusalIsListed(shape string, err error, result *convert.Result) {
	h.Helper()
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return
	case !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0:
		h.Errorf("%s: %v", shape, err)
		return
	}
	for _, cause := range status.Status().Details.Causes {
		// An API server says without a field that it has not applied its other rules.
		listed := strings.Contains(cause.Message, "some validation rules were not checked")
		for _, loss := range result.Losses {
			// The size of the instance type is known to the project alone; the list names the fields that set another size.
			ofSize := strings.Contains(cause.Message, "must take at most") && strings.Contains(loss.Why, "choose another in --instance-type")
			// A Gateway needs names, which the operator must allow.
			ofNames := cause.Field == "spec.service.exposure" && loss.Path == "spec.service.hostnames"
			listed = listed || ofSize || ofNames || loss.Path != "" && (loss.Path == cause.Field || strings.HasPrefix(cause.Field, loss.Path+"["))
		}
		if !listed {
			h.Errorf("%s: %s: %s is not listed", shape, cause.Field, cause.Message)
		}
	}
}
