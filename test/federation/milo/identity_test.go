// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// wantSameExtras compares the extras that a kube-apiserver reads from a header.
func wantSameExtras(t *testing.T, header http.Header, prefix string, want map[string][]string) {
	t.Helper()
	got := map[string][]string{}
	for key, values := range header {
		if !hasPrefixFold(key, prefix) {
			continue
		}
		extra, err := url.PathUnescape(strings.ToLower(key[len(prefix):]))
		if err != nil {
			t.Fatal(err)
		}
		got[extra] = append(got[extra], values...)
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%s: got %v, want %v", prefix, got, want)
	}
}

func TestIsImpersonatedParent(t *testing.T) {
	for header, want := range map[string]bool{
		"Impersonate-Extra-iam.miloapis.com%2Fparent-name":      true,
		"impersonate-extra-iam.miloapis.com%2fPARENT-api-group": true,
		"Impersonate-Extra-iam.miloapis.com/parent-type":        true,
		"Impersonate-Extra-iam.miloapis.com%2Fparent":           false,
		"Impersonate-Extra-%zz":                                 false,
		"Impersonate-User":                                      false,
		"X-Remote-Extra-iam.miloapis.com%2Fparent-name":         false,
	} {
		if got := isImpersonatedParent(header); got != want {
			t.Errorf("%s: got %t, want %t", header, got, want)
		}
	}
}
