// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Milo serves fewer built-in APIs than a kube-apiserver does. APIs that a kube-apiserver can do without are disabled by
// its flag --runtime-config; the router hides the others.

// coreResources are the resources of the core group that Milo serves.
var coreResources = []string{"configmaps", "events", "namespaces", "secrets"}

// hiddenGroup is a group that Milo does not serve.
const hiddenGroup = "networking.k8s.io"

const corePath = "/api/v1/"

// serves reports whether Milo serves the path of a request, as seen inside its
// control plane. A path that no kube-apiserver serves counts as served: the
// kube-apiserver refuses it.
func serves(path string) bool {
	if group, ok := strings.CutPrefix(path, "/apis/"); ok {
		group, _, _ = strings.Cut(group, "/")
		return group != hiddenGroup
	}
	rest, ok := strings.CutPrefix(path, corePath)
	if !ok || rest == "" {
		return true
	}
	parts := strings.Split(strings.TrimPrefix(rest, "watch/"), "/")
	resource := parts[0]
	if resource == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		resource = parts[2]
	}
	return slices.Contains(coreResources, resource)
}

// discovers reports whether a path is a discovery document that lists APIs that
// Milo does not serve.
func discovers(path string) bool {
	return path == "/api" || path == "/apis" || path == strings.TrimSuffix(corePath, "/")
}

// hideUnserved removes the APIs that Milo does not serve from a discovery document.
func hideUnserved(response *http.Response) error {
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	var document map[string]any
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		return fmt.Errorf("read a discovery document: %w", err)
	}
	if err := response.Body.Close(); err != nil {
		return fmt.Errorf("read a discovery document: %w", err)
	}
	isServed := func(field string) func(map[string]any) bool {
		return func(resource map[string]any) bool {
			name, _ := resource[field].(string)
			name, _, _ = strings.Cut(name, "/") // a subresource
			return slices.Contains(coreResources, name)
		}
	}
	// The documents of /apis and /api/v1.
	keep(document, "groups", func(group map[string]any) bool { return group["name"] != hiddenGroup })
	keep(document, "resources", isServed("name"))
	// The aggregated documents, in which the core group has no name.
	keep(document, "items", func(group map[string]any) bool {
		metadata, _ := group["metadata"].(map[string]any)
		if metadata["name"] == nil {
			keep(group, "versions", func(version map[string]any) bool {
				keep(version, "resources", isServed("resource"))
				return true
			})
		}
		return metadata["name"] != hiddenGroup
	})
	body, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("write a discovery document: %w", err)
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// keep removes the entries of a list for which wanted is false.
func keep(document map[string]any, list string, wanted func(map[string]any) bool) {
	entries, ok := document[list].([]any)
	if !ok {
		return
	}
	document[list] = slices.DeleteFunc(entries, func(entry any) bool {
		object, ok := entry.(map[string]any)
		return ok && !wanted(object)
	})
}
