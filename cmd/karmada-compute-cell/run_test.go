// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// TestStartAndMetrics: the agent finds its cell by $KUBECONFIG. While the cell's kube-apiserver does not answer it
// waits, alive and not ready, and begins as soon as it does. The kube-apiserver decides who may read metrics and
// profiles.
func TestStartAndMetrics(t *testing.T) {
	way := testenv.NewProxy(t, testenv.Config(t))
	way.Cut()
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, testenv.Kubeconfig(t, way.Config(testenv.Config(t))))
	cluster, err := kubernetes.NewForConfig(testenv.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	scraper, other := token(t, cluster, "scraper"), token(t, cluster, "other")
	allow(t, cluster, "scraper", "/metrics", "/debug/pprof/*")

	o := newOptions()
	o.cell.concurrency, o.election.enabled = 1, false
	o.endpoints = component.Endpoints{Metrics: testenv.FreeAddress(t), Health: testenv.FreeAddress(t), Profiling: true}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, o) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	answers(t, "http://"+o.endpoints.Health+"/healthz", http.StatusOK)
	answers(t, "http://"+o.endpoints.Health+"/readyz", http.StatusInternalServerError)
	way.Restore(t)
	answers(t, "http://"+o.endpoints.Health+"/readyz", http.StatusOK)

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(client.CloseIdleConnections)
	for _, call := range []struct {
		who, token, path string
		want             int
	}{
		{"the scraper", scraper, "/metrics", http.StatusOK},
		{"the scraper", scraper, "/debug/pprof/", http.StatusOK},
		{"the scraper", scraper, "/debug/pprof/heap", http.StatusOK},
		{"the scraper", scraper, "/debug/pprof/cmdline", http.StatusOK},
		{"another", other, "/metrics", http.StatusForbidden},
		{"another", other, "/debug/pprof/heap", http.StatusForbidden},
		{"nobody", "", "/metrics", http.StatusUnauthorized},
		{"nobody", "", "/debug/pprof/profile", http.StatusUnauthorized},
	} {
		// An agent is ready when its caches are; the metrics server, which creates its own certificate, may listen a moment
		// later.
		if status, err := getWhenServed(t, client, "https://"+o.endpoints.Metrics+call.path, call.token); err != nil || status != call.want {
			t.Errorf("%s gets %d for %s, %v", call.who, status, call.path, err)
		}
	}
}

// getWhenServed calls get, and retries while no server listens.
func getWhenServed(t *testing.T, client *http.Client, url, token string) (status int, err error) {
	t.Helper()
	if waited := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		status, err = get(ctx, client, url, token)
		return !errors.Is(err, syscall.ECONNREFUSED), nil
	}); waited != nil {
		return 0, errors.Join(waited, err)
	}
	return status, err
}

// answers waits until a GET has a status.
func answers(t *testing.T, url string, want int) {
	t.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		var status int
		if status, last = get(ctx, http.DefaultClient, url, ""); last == nil && status != want {
			last = fmt.Errorf("status %d, want %d", status, want)
		}
		return last == nil, nil
	}); err != nil {
		t.Fatal(err, last)
	}
}

// TestWhichCell: the flag is preferred to $KUBECONFIG and this to the in-cluster configuration, which tests do not
// have.
func TestWhichCell(t *testing.T) {
	one, two := testenv.Kubeconfig(t, &rest.Config{Host: "https://one.example"}),
		testenv.Kubeconfig(t, &rest.Config{Host: "https://two.example"})
	missing := filepath.Join(t.TempDir(), "missing")
	for name, test := range map[string]struct{ flag, variable, want string }{
		"flag":         {flag: one, variable: two, want: "https://one.example"},
		"variable":     {variable: two, want: "https://two.example"},
		"several":      {variable: missing + string(filepath.ListSeparator) + two, want: "https://two.example"},
		"neither":      {},
		"missing flag": {flag: missing, variable: two},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(clientcmd.RecommendedConfigPathEnvVar, test.variable)
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			o := newOptions()
			o.cell.kubeconfig, o.cell.name = test.flag, "dfw-1"
			config, err := newConfig(o)
			if (err == nil) != (test.want != "") {
				t.Fatal(err)
			}
			if err == nil && (config.Host != test.want || config.UserAgent != "karmada-compute-cell/dfw-1" || config.QPS != -1) {
				t.Errorf("got %s as %s, %v a second", config.Host, config.UserAgent, config.QPS)
			}
		})
	}
}

// token creates a service account and returns a token of it.
func token(t *testing.T, cluster kubernetes.Interface, name string) string {
	t.Helper()
	accounts := cluster.CoreV1().ServiceAccounts(metav1.NamespaceDefault)
	_, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	request, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// allow lets a service account get URLs.
func allow(t *testing.T, cluster kubernetes.Interface, name string, urls ...string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: name}
	_, err := cluster.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, NonResourceURLs: urls}},
	}, metav1.CreateOptions{})
	_, bindErr := cluster.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: name}},
	}, metav1.CreateOptions{})
	if err := errors.Join(err, bindErr); err != nil {
		t.Fatal(err)
	}
}

func get(ctx context.Context, client *http.Client, url, token string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, errors.Join(err, response.Body.Close())
}
