// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestRefuseClaim: a claim of a resource type without a registration is refused, and what is not refused is passed on
// whole.
func TestRefuseClaim(t *testing.T) {
	const place = "/apis/quota.miloapis.com/v1alpha1/namespaces/default/resourceclaims"
	tests := map[string]struct {
		method, path, resourceType string
		refused                    bool
	}{
		"registered":        {http.MethodPost, place, "example.com/registered", false},
		"not registered":    {http.MethodPost, place, "example.com/other", true},
		"no creation":       {http.MethodPatch, place + "/one", "example.com/other", false},
		"another kind":      {http.MethodPost, "/api/v1/namespaces/default/secrets", "example.com/other", false},
		"a body of its own": {http.MethodPost, place, `"`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf(`{"spec":{"requests":[{"resourceType":"example.com/registered","amount":1},{"resourceType":"%s","amount":1}]}}`,
				test.resourceType)
			prefix := projectsPath + "north" + controlPlanePath
			r := httptest.NewRequestWithContext(t.Context(), test.method, prefix+test.path, strings.NewReader(body))
			refusal := (&router{projects: &fixture{}}).refuseClaim(r, identity{project: "north", prefix: len(prefix)})
			if (refusal != nil) != test.refused || refusal != nil &&
				(!apierrors.IsForbidden(refusal) || !strings.Contains(refusal.Error(),
					"Resource type 'example.com/other' is not available for quota management")) {
				t.Errorf("got %v", refusal)
			}
			if rest, err := io.ReadAll(r.Body); !test.refused && (err != nil || string(rest) != body) {
				t.Errorf("passed on is %q, %v", rest, err)
			}
		})
	}
}
