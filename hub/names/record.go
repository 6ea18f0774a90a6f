// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Kind is the kind of external-dns from which it writes DNS records.
var Kind = reasons.RecordKind

// endpoint is a record in a DNSEndpoint. The module of external-dns has the type, and depends on the clients of all
// providers of DNS.
type endpoint struct {
	DNSName          string     `json:"dnsName"`
	RecordType       string     `json:"recordType"`
	RecordTTL        int64      `json:"recordTTL,omitempty"`
	SetIdentifier    string     `json:"setIdentifier,omitempty"`
	Targets          []string   `json:"targets,omitempty"`
	ProviderSpecific []property `json:"providerSpecific,omitempty"`
}

// property is a setting of a provider of DNS.
type property struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// spec is the spec of a DNSEndpoint.
type spec struct {
	Endpoints []endpoint `json:"endpoints"`
}

// newRecord is an empty DNSEndpoint.
func newRecord() *unstructured.Unstructured {
	record := &unstructured.Unstructured{}
	record.SetGroupVersionKind(Kind)
	return record
}

// specOf reads the spec of a DNSEndpoint. A spec that cannot be read is empty: it is written again.
func specOf(record *unstructured.Unstructured) spec {
	var result spec
	content, _, err := unstructured.NestedMap(record.Object, "spec")
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(content, &result) != nil {
		return spec{}
	}
	return result
}

// setSpec writes the spec of a DNSEndpoint.
func setSpec(record *unstructured.Unstructured, wanted *spec) error {
	if wanted.Endpoints == nil {
		wanted.Endpoints = []endpoint{}
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err == nil {
		record.Object["spec"] = content
	}
	return err
}

// answered are the cities whose addresses a DNSEndpoint has.
func answered(record *unstructured.Unstructured) []string {
	return citiesIn(record, v1alpha.AnnotationNameCities)
}

// citiesIn are the cities in an annotation of a DNSEndpoint, which may be nil.
func citiesIn(record *unstructured.Unstructured, annotation string) []string {
	if record == nil {
		return nil
	}
	cities := strings.Split(record.GetAnnotations()[annotation], ",")
	return slices.DeleteFunc(cities, func(city string) bool { return city == "" })
}
