// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/testenv/ledger"
)

// claimsPath matches the path of a namespace's ResourceClaims inside a project.
var claimsPath = regexp.MustCompile(`^/apis/quota\.miloapis\.com/v1alpha1/namespaces/[^/]+/resourceclaims$`)

// maxClaim bounds the body of a request to create a claim.
const maxClaim = 1 << 20

// refuseClaim returns the error with which Milo's admission refuses to create a claim, or nil for any other request.
// Milo refuses a claim if one of its resource types has no registration at the root.
func (rt *router) refuseClaim(r *http.Request, id identity) *apierrors.StatusError {
	if r.Method != http.MethodPost || !claimsPath.MatchString(r.URL.Path[id.prefix:]) {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxClaim))
	if err != nil {
		return apierrors.NewBadRequest("the body cannot be read")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var claim struct {
		Spec struct {
			Requests []struct {
				ResourceType string `json:"resourceType"`
			} `json:"requests"`
		} `json:"spec"`
	}
	if yaml.Unmarshal(body, &claim) != nil {
		return nil //nolint:nilerr // the kube-apiserver says what is wrong with it
	}
	for _, request := range claim.Spec.Requests {
		registered, err := rt.projects.registered(r.Context(), request.ResourceType)
		if err != nil {
			return apierrors.NewServiceUnavailable("the registrations cannot be read")
		}
		if !registered {
			return apierrors.NewForbidden(ledger.Claims.GroupResource(), "",
				errors.New("Resource type '"+request.ResourceType+"' is not available for quota management"))
		}
	}
	return nil
}

// registered implements directory.
func (ps *projects) registered(ctx context.Context, resourceType string) (bool, error) {
	list, err := ps.root.objects.Resource(ledger.Registrations).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, fmt.Errorf("list the registrations: %w", err)
	}
	for i := range list.Items {
		if registered, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "resourceType"); registered == resourceType {
			return true, nil
		}
	}
	return false, nil
}
