// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

// mistaken are values of annotations of operators with a part of the answer.
var mistaken = map[string]map[string]string{
	v1alpha.AnnotationLoadBalancer: {
		`{`: "must be a JSON object", `yes`: "must be a JSON object", `[]`: "must be a JSON object",
		`{"adresses":["203.0.113.0/24"]}`:           "must be a JSON object",
		`{"addresses":["203.0.113.0/24"]} and more`: "must be a JSON object", `{"addresses":["203.0.113.0/24"],}`: "must be a JSON object",
		`{"addresses":["203.0.113.0/24]}`: "must be a JSON object", `{"addresses":"203.0.113.0/24"}`: "must be a JSON object",
		`{"class":"a b","addresses":["203.0.113.0/24"]}`:                                   "must be a JSON object",
		`{"gateway":{"namespace":"i","name":"p","x":1},"addresses":["203.0.113.0/24"]}`:    "must be a JSON object",
		`{"gateway":{"namespace":"i","name":"p","listeners":"a"},"addresses":["a.b"]}`:     "must be a JSON object",
		`{"gateway":{"namespace":"i","name":"p","listeners":[]},"addresses":["a.b"]}`:      "must be a JSON object",
		`{"gateway":{"namespace":"i","name":"p","listeners":["a b"]},"addresses":["a.b"]}`: "must be a JSON object",
		`{"gateway":{"name":"p"},"addresses":["203.0.113.0/24"]}`:                          "must have the namespace",
		`{"class":"a"}`: "1 to 64 ranges",
		`{"addresses":[` + strings.Repeat(`"203.0.113.0/24",`, 64) + `"a.b"]}`:          "1 to 64 ranges",
		`{"addresses":["203.0.113.7"]}`:                                                 "203.0.113.7: must be ranges",
		`{"addresses":["203.0.113.0/33","localhost"]}`:                                  "203.0.113.0/33, localhost: must be ranges",
		`{"addresses":["203.0.113.0/24","half right"]}`:                                 "half right: must be ranges",
		`{"addresses":["addresses"]}`:                                                   "addresses: must be ranges",
		`{"addresses":["0.0.0.0/0"]}`:                                                   "wider than /8",
		`{"addresses":["lb.example.com","::/0"]}`:                                       "wider than /8",
		`{"annotations":{"compute.datumapis.com/x":""},"addresses":["203.0.113.0/24"]}`: "are reserved",
		`{"class":"` + strings.Repeat("a", 16<<10) + `"}`:                               "16 KiB",
	},
	v1alpha.AnnotationCities: {
		"": "divided by commas", "*": "divided by commas", "DFW;ORD": "divided by commas", "DFW,,ORD": "divided by commas",
	},
	v1alpha.AnnotationKeep:     {"yes": "must be true", "": "must be true", "True": "must be true"},
	v1alpha.AnnotationForget:   {"yes": "must be true"},
	v1alpha.AnnotationHoldCity: {"yes": "must be true", "": "must be true"},
	v1alpha.AnnotationNodesOnDemand: {
		"": "1 to 9999", "0": "1 to 9999", "-1": "1 to 9999", "10000": "1 to 9999", "true": "1 to 9999", "1.5": "1 to 9999", " 5": "1 to 9999",
	},
}

var rightValues = map[string][]string{
	v1alpha.AnnotationLoadBalancer: {
		"", `{"addresses":["203.0.113.0/24"]}`, `{"addresses":["10.0.0.0/8","2001:db8::/32","LB.example.com"]}`,
		"{\n  \"class\": \"metallb.io/metallb\",\n  \"annotations\": {\"metallb.io/address-pool\": \"public\", " +
			"\"b\": \"{\\\"addresses\\\": [1]}\"},\n" +
			"  \"addresses\": [\"203.0.113.0/24\", \"2001:db8:1::/48\"]\n}",
		`{"addresses":["203.0.113.7/24"],"gateway":{"namespace":"infra","name":"public","port":8443}}`,
		`{"addresses":["203.0.113.7/24"],"gateway":{"namespace":"infra","listeners": ["https", "shop-2"],"name":"public"}}`,
		`{"annotations":{},"class":"","addresses":["a.b"]}`,
	},
	v1alpha.AnnotationCities:        {"DFW", "DFW,ORD", "dfw, new-york-1"},
	v1alpha.AnnotationKeep:          {"true", "false"},
	v1alpha.AnnotationForget:        {"true"},
	v1alpha.AnnotationHoldCity:      {"true", "false"},
	v1alpha.AnnotationNodesOnDemand: {"1", "20", "9999"},
}

// TestAnnotationsOfOperators: what an operator writes for the add-on is checked when it is written, and what the add-on
// cannot read is refused with the field and the right form.
func TestAnnotationsOfOperators(t *testing.T) {
	admin := newClient(t)
	applyGuards(t, admin, set{"projects.mode": "namespaces"})
	const name = "annotated"
	ensureNamespace(t, admin, name)
	ensureNamespace(t, admin, "karmada-system")
	operators := client.NewDryRunClient(as(t, operator))
	write := func(annotation, value string) error {
		text, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotation: value}}})
		if err != nil {
			t.Fatal(err)
		}
		return operators.Patch(t.Context(), namespace(name), client.RawPatch("application/merge-patch+json", text))
	}
	for annotation, values := range mistaken {
		for _, value := range slices.Sorted(maps.Keys(values)) {
			if err := write(annotation, value); err == nil || !strings.Contains(err.Error(), values[value]) ||
				!strings.Contains(err.Error(), annotation) {
				t.Errorf("%s: %.80s: %v, want %q", annotation, value, err, values[value])
			}
		}
	}
	for annotation, values := range rightValues {
		for _, value := range values {
			if err := write(annotation, value); err != nil {
				t.Errorf("%s: %.80s: %v", annotation, value, err)
			}
			if _, err := cells.ReadLoadBalancer(value); annotation == v1alpha.AnnotationLoadBalancer && err != nil {
				t.Errorf("the add-on does not read what admission accepts: %s: %v", value, err)
			}
		}
	}
	checkOtherSettings(t, operators, name)
	// A mistake from before blocks no change of another setting, and no repair.
	removeGuards(t, admin)
	if err := patch(namespace(name), `{"metadata":{"annotations":{"`+v1alpha.AnnotationCities+`":"*"}}}`)(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	applyGuards(t, admin, set{"projects.mode": "namespaces"})
	if err := write(v1alpha.AnnotationKeep, "yes"); !apierrors.IsInvalid(err) {
		t.Error(err)
	}
	if err := write(v1alpha.AnnotationKeep, "true"); err != nil {
		t.Error(err)
	}
}

func checkOtherSettings(t *testing.T, operators client.Client, name string) {
	t.Helper()
	for value, isRight := range map[string]bool{"true": true, "suspended": true, "yes": false, "True": false, "": false} {
		if err := patch(namespace(name), fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, v1alpha.LabelNamespaceProject, value))(
			t.Context(), operators); (err == nil) != isRight {
			t.Errorf("label %q: %v", value, err)
		}
	}
	record := configMap("karmada-system", v1alpha.MiloRecordName)
	for value, isRight := range map[string]bool{
		"2026-01-02T15:04:05Z": true, "2026-01-02T15:04:05+01:00": true, "tomorrow": false, "": false,
	} {
		record.Annotations = map[string]string{v1alpha.AnnotationWithdrawUntil: value}
		if err := create(record)(t.Context(), operators); (err == nil) != isRight {
			t.Errorf("withdraw-until %q: %v", value, err)
		}
	}
}
