// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
)

var quotedKey = regexp.MustCompile(`\['([^']*)'\]`)

// Field returns the value at a JSONPath, as kubectl does, without braces: spec.containers[*].image. Several values are
// joined by spaces; a value that is not a text is JSON; a missing or empty value is "".
func Field(object *unstructured.Unstructured, path string) (string, error) {
	// A key in quotes is one key, even with dots.
	escaped := quotedKey.ReplaceAllStringFunc(path, func(key string) string { return strings.ReplaceAll(key, ".", `\.`) })
	query := jsonpath.New(path).AllowMissingKeys(true)
	if err := query.Parse("{." + escaped + "}"); err != nil {
		return "", fmt.Errorf("path %s: %w", path, err)
	}
	results, err := query.FindResults(object.Object)
	if err != nil {
		return "", fmt.Errorf("path %s: %w", path, err)
	}
	var values []string
	for _, result := range results {
		for _, value := range result {
			text, err := valueText(value)
			if err != nil {
				return "", fmt.Errorf("path %s: %w", path, err)
			}
			if text != "" {
				values = append(values, text)
			}
		}
	}
	return strings.Join(values, " "), nil
}

func valueText(value reflect.Value) (string, error) {
	if !value.IsValid() || !value.CanInterface() {
		return "", nil
	}
	switch value := value.Interface().(type) {
	case nil:
		return "", nil
	case string:
		return value, nil
	default:
		text, err := json.Marshal(value)
		if string(text) == "{}" || string(text) == "[]" || string(text) == "null" {
			return "", err
		}
		return string(text), err
	}
}

// ConditionsOf returns the conditions in the status of an object.
func ConditionsOf(object *unstructured.Unstructured) []metav1.Condition {
	var status struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &status); err != nil {
		return nil
	}
	return status.Status.Conditions
}

// Describe returns conditions in one line.
func Describe(conditions []metav1.Condition) string {
	var said []string
	for i := range conditions {
		said = append(said, fmt.Sprintf("%s=%s (%s: %s)", conditions[i].Type, conditions[i].Status, conditions[i].Reason, conditions[i].Message))
	}
	return strings.Join(said, ", ")
}
