// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Headers of front proxies and of impersonation that kube-apiservers read.
const (
	remotePrefix           = "X-Remote-"
	remoteUser             = "X-Remote-User"
	remoteGroup            = "X-Remote-Group"
	remoteExtraPrefix      = "X-Remote-Extra-"
	impersonateUser        = "Impersonate-User"
	impersonateExtraPrefix = "Impersonate-Extra-"

	authenticatedGroup = "system:authenticated"
)

// Extras that name the project of a request.
const (
	extraParentGroup = "iam.miloapis.com/parent-api-group"
	extraParentType  = "iam.miloapis.com/parent-type"
	extraParentName  = "iam.miloapis.com/parent-name"
)

// caller is the user that the client certificate names.
type caller struct {
	user   string
	groups []string
}

// identity holds the identity headers that the router sends to a kube-apiserver.
type identity struct {
	caller
	// project is empty at the root.
	project string
	// prefix is the length of the path before the project's own path.
	prefix int
}

// write replaces the identity headers of the client. An impersonating request
// gets the parent extras as impersonation headers too, because kube-apiserver
// keeps none of the impersonator's own extras.
func (id identity) write(header http.Header) {
	header.Del("Authorization") // the certificate identifies the client; a kube-apiserver must not see other credentials
	deleteMatching(header, func(key string) bool { return hasPrefixFold(key, remotePrefix) })
	header.Set(remoteUser, id.user)
	for _, group := range id.groups {
		header.Add(remoteGroup, group)
	}
	header.Add(remoteGroup, authenticatedGroup)
	if id.project == "" {
		return
	}
	deleteMatching(header, isImpersonatedParent)
	for key, value := range id.parent() {
		header.Set(remoteExtraPrefix+url.PathEscape(key), value)
		if header.Get(impersonateUser) != "" {
			header.Set(impersonateExtraPrefix+url.PathEscape(key), value)
		}
	}
}

// parent returns the extras of a request to a project.
func (id identity) parent() map[string]string {
	return map[string]string{
		extraParentGroup: projectsResource.Group,
		extraParentType:  "Project",
		extraParentName:  id.project,
	}
}

// isImpersonatedParent reports whether a header impersonates a parent extra,
// however its key is escaped.
func isImpersonatedParent(key string) bool {
	if !hasPrefixFold(key, impersonateExtraPrefix) {
		return false
	}
	extra := strings.ToLower(key[len(impersonateExtraPrefix):])
	if unescaped, err := url.PathUnescape(extra); err == nil {
		extra = unescaped
	}
	return slices.Contains([]string{extraParentGroup, extraParentType, extraParentName}, strings.ToLower(extra))
}

func deleteMatching(header http.Header, match func(key string) bool) {
	for key := range header {
		if match(key) {
			delete(header, key)
		}
	}
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
