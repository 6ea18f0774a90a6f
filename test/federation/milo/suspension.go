// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	conditionSuspended = "Suspended"
	causeSuspended     = metav1.CauseType("ProjectSuspended")
	accessReviewGroup  = "authorization.k8s.io"
)

// objectKey names an object of a project.
type objectKey struct {
	schema.GroupVersionResource

	namespace, name string
}

// refuseWrite returns the error with which Milo's admission refuses a request to a suspended project, or nil for any
// other request. Like Milo's, it admits administrators, access reviews, deletions and updates of objects that are being
// deleted.
func (rt *router) refuseWrite(r *http.Request, id identity) *apierrors.StatusError {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
	default:
		return nil
	}
	reasons := rt.projects.suspended(id.project)
	object, ok := keyOf(r.URL.Path[id.prefix:])
	if reasons == nil || !ok || object.Group == accessReviewGroup || slices.Contains(id.groups, mastersGroup) {
		return nil
	}
	if r.Method != http.MethodPost && rt.projects.terminating(r.Context(), id.project, object) {
		return nil
	}
	message := fmt.Sprintf("project %q is suspended (%s) and cannot accept new updates while suspended", id.project,
		strings.Join(reasons, ", "))
	refusal := apierrors.NewForbidden(object.GroupResource(), object.name, errors.New(message))
	refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, metav1.StatusCause{Type: causeSuspended, Message: message})
	return refusal
}

// keyOf returns the object of an API path. It reports false for a path without a resource.
func keyOf(path string) (objectKey, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var key objectKey
	switch {
	case len(parts) > 2 && parts[0] == "api":
		key.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		key.Group, key.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return objectKey{}, false
	}
	if len(parts) > 2 && parts[0] == namespacesResource.Resource {
		key.namespace, parts = parts[1], parts[2:]
	}
	key.Resource = parts[0]
	if len(parts) > 1 {
		key.name = parts[1]
	}
	return key, true
}

// suspensionsOf returns the reasons of the suspensions of a Project that refuses writes, sorted, or nil.
func suspensionsOf(project any) *[]string {
	object, ok := project.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	var observed struct {
		Status struct {
			Conditions  []metav1.Condition `json:"conditions"`
			Suspensions []struct {
				Reason string `json:"reason"`
			} `json:"suspensions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &observed); err != nil {
		return nil
	}
	if !meta.IsStatusConditionTrue(observed.Status.Conditions, conditionSuspended) || len(observed.Status.Suspensions) == 0 {
		return nil
	}
	var reasons []string
	for _, suspension := range observed.Status.Suspensions {
		reasons = append(reasons, suspension.Reason)
	}
	slices.Sort(reasons)
	reasons = slices.Compact(reasons)
	return &reasons
}

// worker returns the worker of a project, or nil.
func (ps *projects) worker(project string) *worker {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.workers[project]
}

// suspended implements directory.
func (ps *projects) suspended(project string) []string {
	w := ps.worker(project)
	if w == nil {
		return nil
	}
	if reasons := w.suspended.Load(); reasons != nil {
		return *reasons
	}
	return nil
}

// terminating implements directory. An object that cannot be read is not being
// deleted.
func (ps *projects) terminating(ctx context.Context, project string, key objectKey) bool {
	w := ps.worker(project)
	if w == nil || w.served.Load() == nil || key.name == "" {
		return false
	}
	object, err := w.served.Load().objects.Resource(key.GroupVersionResource).Namespace(key.namespace).Get(ctx, key.name, metav1.GetOptions{})
	return err == nil && object.GetDeletionTimestamp() != nil
}
