// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/charts"
	"github.com/karmada-compute/karmada-compute/testenv"
	testplanes "github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestWebhooksNeedNoMoreRights verifies that a process that serves webhooks only works on the hub with the chart's
// roles for it, and sends no request that these roles do not allow.
func TestWebhooksNeedNoMoreRights(t *testing.T) {
	p := testplanes.New(t)
	const user = "webhooks"
	applyWebhookRoles(t, p.Client, user)
	hub := newLimited(t, p.Config(), user)
	milo := httptest.NewServer(&root{})
	t.Cleanup(milo.Close)
	health := testenv.FreeAddress(t)
	startProcess(t,
		"--kubeconfig="+kubeconfigOf(t, hub.url), "--milo-kubeconfig="+kubeconfigOf(t, milo.URL), "--controllers=-*", "--webhooks=workloads",
		"--register-webhooks=false", "--webhook-bind-address=127.0.0.1", "--webhook-port="+strconv.Itoa(testenv.FreePort(t)),
		"--add-on-users=controllers",
		"--metrics-bind-address=0", "--peer-bind-address=0", "--health-probe-bind-address="+health, "--shutdown-delay-duration=0",
	)
	r := &replica{client: &http.Client{}}
	eventually(t, func() error { _, err := r.do(t.Context(), http.MethodGet, "http://"+health+"/readyz", nil); return err })
	for _, created := range []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "karmada-system", Name: "karmada-compute-webhook-ca"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "karmada-system", Name: "karmada-compute-webhook-path"}},
		&v1alpha.InstanceType{ObjectMeta: metav1.ObjectMeta{Name: "datumcloud-d1-standard-2"}},
	} {
		eventually(t, func() error { return p.Client.Get(t.Context(), client.ObjectKeyFromObject(created), created) })
	}
	const marks = "GET /api/v1/namespaces/karmada-system/configmaps 200"
	hub.allowsAll(t, marks)
}

// applyWebhookRoles grants a user the chart's roles of Pods that serve webhooks only.
func applyWebhookRoles(t *testing.T, c client.Client, user string) {
	t.Helper()
	applied := applyRoles(t, c, []string{"karmada-system"}, map[string]any{
		"projects": map[string]any{"mode": "milo"},

		"host": map[string]any{"enabled": false, "separateWebhooks": true},
		"hub":  map[string]any{"enabled": true, "webhookSubjects": []any{map[string]any{"kind": "User", "name": user}}},
	}, func(object client.Object) bool { return object.GetName() == "karmada-compute-webhook" })
	if applied != 4 {
		t.Fatalf("%d roles and bindings of the webhooks were applied", applied)
	}
}

// applyRoles creates namespaces, and the objects of the chart with these values that are wanted. It returns their number.
func applyRoles(t *testing.T, c client.Client, namespaces []string, values map[string]any, wanted func(client.Object) bool) int {
	t.Helper()
	objects, err := charts.Render(values, charts.Release{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := client.IgnoreAlreadyExists(c.Create(t.Context(), namespace)); err != nil {
			t.Fatal(err)
		}
	}
	applied := 0
	for _, object := range objects {
		if !wanted(object) {
			continue
		}
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		applied++
	}
	return applied
}

// limited is an API server with the permissions of a user, which records its requests.
type limited struct {
	url string

	mu       sync.Mutex
	requests []string
}

func newLimited(t *testing.T, config *rest.Config, user string) *limited {
	t.Helper()
	as := rest.CopyConfig(config)
	as.Impersonate = rest.ImpersonationConfig{UserName: user}
	transport, err := rest.TransportFor(as)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	l := &limited{}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(response *http.Response) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.requests = append(l.requests, fmt.Sprintf("%s %s %d", response.Request.Method, response.Request.URL.Path, response.StatusCode))
			return nil
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	l.url = server.URL
	return l
}

// allowsAll waits for a request, and fails if the API server has refused any.
func (l *limited) allowsAll(t *testing.T, awaited string) {
	t.Helper()
	eventually(t, func() error {
		if asked := l.asked(); !slices.Contains(asked, awaited) {
			return fmt.Errorf("there is no request %q: %q", awaited, asked)
		}
		return nil
	})
	for _, request := range l.asked() {
		if strings.HasSuffix(request, " 403") {
			t.Errorf("the hub refuses %s", request)
		}
	}
}

func (l *limited) asked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requests)
}

// kubeconfigOf writes a kubeconfig of a server that asks for no credentials.
func kubeconfigOf(t *testing.T, server string) string {
	t.Helper()
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["c"] = &clientcmdapi.Cluster{Server: server}
	kubeconfig.Contexts["c"] = &clientcmdapi.Context{Cluster: "c"}
	kubeconfig.CurrentContext = "c"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, path); err != nil {
		t.Fatal(err)
	}
	return path
}
