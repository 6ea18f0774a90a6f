// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"net/http"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/testenv"
	testplanes "github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestStreamsNeedNoMoreRights: without Milo, a process that only carries streams works on the hub with the credential
// of sessions and the chart's roles for it, and sends no request that these roles do not allow.
func TestStreamsNeedNoMoreRights(t *testing.T) {
	p := testplanes.New(t)
	const user = "sessions"
	applySessionRoles(t, p.Client, user)
	// The Pods of the webhooks create the CA.
	const ca = "karmada-compute-webhook-ca"
	startProcess(t,
		"--kubeconfig="+testenv.Kubeconfig(t, p.Config()), "--projects=namespaces", "--controllers=-*",
		"--webhooks=workloads", "--register-webhooks=false",
		"--webhook-bind-address=127.0.0.1", "--webhook-port="+strconv.Itoa(testenv.FreePort(t)), "--metrics-bind-address=0",
		"--peer-bind-address=0",
		"--health-probe-bind-address="+testenv.FreeAddress(t), "--shutdown-delay-duration=0",
	)
	eventually(t, func() error {
		return p.Client.Get(t.Context(), client.ObjectKey{Namespace: "karmada-system", Name: ca}, &corev1.Secret{})
	})

	hub := newLimited(t, p.Config(), user)
	health, port := testenv.FreeAddress(t), strconv.Itoa(testenv.FreePort(t))
	kubeconfig := kubeconfigOf(t, hub.url)
	startProcess(t,
		"--kubeconfig="+kubeconfig, "--session-kubeconfig="+kubeconfig, "--projects=namespaces", "--controllers=-*",
		"--webhooks=", "--session-streams=only",
		"--feature-gates=InstanceLogs=true", "--session-url=https://127.0.0.1:"+port, "--session-bind-address=127.0.0.1", "--session-port="+port,
		"--metrics-bind-address=0", "--peer-bind-address=0", "--health-probe-bind-address="+health, "--shutdown-delay-duration=0",
	)
	r := &replica{client: &http.Client{}}
	eventually(t, func() error { _, err := r.do(t.Context(), http.MethodGet, "http://"+health+"/readyz", nil); return err })
	stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}}}
	eventually(t, func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1:"+port+"/sessions/a/b/c/d", nil)
		if err != nil {
			return err
		}
		response, err := stranger.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	})
	const grants = "GET /api/v1/namespaces/karmada-compute-sessions/configmaps 200"
	hub.allowsAll(t, grants)
}

// applySessionRoles grants a user the chart's roles of Pods that carry streams.
func applySessionRoles(t *testing.T, c client.Client, user string) {
	t.Helper()
	applied := applyRoles(t, c, []string{"karmada-system", "karmada-compute-sessions"}, map[string]any{
		"host": map[string]any{"enabled": false}, "hub": map[string]any{"enabled": true}, "projects": map[string]any{"mode": "namespaces"},
		"sessions": map[string]any{
			"logs": true, "url": "https://sessions.example", "subjects": []any{map[string]any{"kind": "User", "name": user}},
		},
	}, func(object client.Object) bool {
		kind := object.GetObjectKind().GroupVersionKind().Kind
		return strings.HasPrefix(object.GetName(), "karmada-compute-sessions") && kind != "Namespace" && kind != "ServiceAccount"
	})
	if applied != 12 {
		t.Fatalf("%d roles and bindings of sessions were applied", applied)
	}
}
