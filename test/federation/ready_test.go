// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAServerThatIsNotReadyNamesItsFailedChecks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("[+]etcd ok\n[-]poststarthook/rbac/bootstrap-roles failed: not finished\nreadyz check failed\n"))
	}))
	defer server.Close()
	err := httpReady(plainClient, server.URL)(t.Context())
	if err == nil || !strings.Contains(err.Error(), "500") || !strings.Contains(err.Error(), "rbac/bootstrap-roles") {
		t.Fatalf("the error must have the status and the failed check: %v", err)
	}
	if strings.Contains(err.Error(), "etcd ok") {
		t.Errorf("the error has checks that passed: %v", err)
	}
}
