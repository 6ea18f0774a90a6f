// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus/testutil"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/wire"
	testplanes "github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestTokenIsRenewed: with the chart's roles alone, a replica stores another token when a third of the life that the API
// server has granted is over, and continues after a conflict with another replica, and after a failure.
func TestTokenIsRenewed(t *testing.T) {
	p := testplanes.New(t)
	r, clock := newTestRenewal(t, p)
	read := func() *corev1.Secret {
		t.Helper()
		secret := &corev1.Secret{}
		if err := p.Client.Get(t.Context(), client.ObjectKey{Namespace: r.namespace, Name: r.secret}, secret); err != nil {
			t.Fatal(err)
		}
		return secret
	}
	pass := func() {
		t.Helper()
		if err := r.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first := read()
	granted, err := wire.ReadToken(first.Data[tokenKey])
	if err != nil || granted.Expires.Sub(granted.Issued) != 10*time.Minute {
		t.Fatalf("%+v, %v", granted, err)
	}
	clock.SetTime(granted.Issued.Add(199 * time.Second))
	pass()
	if read().ResourceVersion != first.ResourceVersion {
		t.Error("renewed before a third of the life was over")
	}
	clock.SetTime(granted.Issued.Add(201 * time.Second))
	// The right is lost for a moment.
	working := r.hub
	r.hub = kubernetes.NewForConfigOrDie(rest.AnonymousClientConfig(p.Config()))
	if err := r.renew(t.Context()); !apierrors.IsUnauthorized(err) && !apierrors.IsForbidden(err) {
		t.Errorf("renewed by nobody: %v", err)
	}
	r.hub = working
	pass()
	renewed := read()
	if bytes.Equal(renewed.Data[tokenKey], first.Data[tokenKey]) {
		t.Fatal("the token is not renewed")
	}
	if got := string(renewed.Data["karmada.config"]); got != "token: "+string(renewed.Data[tokenKey]) {
		t.Errorf("the kubeconfig has another token than the file: %s", got)
	}
	checkToken(t, p, renewed.Data[tokenKey], granted.User())
	pass()
	if read().ResourceVersion != renewed.ResourceVersion {
		t.Error("another replica renews a token that was renewed")
	}
}

// checkToken checks that the API server takes a token for a user, for the whole life.
func checkToken(t *testing.T, p *testplanes.Planes, token []byte, user string) {
	t.Helper()
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: string(token)}}
	if err := p.Client.Create(t.Context(), review); err != nil || !review.Status.Authenticated || review.Status.User.Username != user {
		t.Errorf("the renewed token is of %+v, %v", review.Status, err)
	}
	if second, err := wire.ReadToken(token); err != nil || second.Expires.Sub(second.Issued) != wire.TokenLife {
		t.Errorf("%+v, %v", second, err)
	}
}

// TestTokenOfTheProcessIsObserved: the metrics have the token that the process uses, not the stored one.
func TestTokenOfTheProcessIsObserved(t *testing.T) {
	p := testplanes.New(t)
	r, _ := newTestRenewal(t, p)
	if err := r.observe(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(r.file)
	if err != nil {
		t.Fatal(err)
	}
	used, err := wire.ReadToken(content)
	if err != nil {
		t.Fatal(err)
	}
	if got := testutil.ToFloat64(tokenExpiry.WithLabelValues(r.secret)); got != float64(used.Expires.Unix()) {
		t.Errorf("expires at %f, want %s", got, used.Expires)
	}
	if got := testutil.ToFloat64(tokenOverdue.WithLabelValues(r.secret)); got != float64(used.Issued.Add(5*time.Minute).Unix()) {
		t.Errorf("overdue at %f", got)
	}
}

// newTestRenewal returns a renewal with a token of ten minutes, and with the rights of a replica at the host and on the
// hub, which are one API server here.
func newTestRenewal(t *testing.T, p *testplanes.Planes) (*renewal, *testingclock.FakePassiveClock) {
	t.Helper()
	const namespace, account, secret = "karmada-system", "karmada-compute", "karmada-compute-config"
	onHost := p.Namespace.Name
	values := map[string]any{"access": map[string]any{"renew": true}, "projects": map[string]any{"mode": "namespaces"}}
	for _, part := range []string{"host", "hub"} {
		values["hub"] = map[string]any{"enabled": part == "hub"}
		// The policy for the add-on on the hub would match the user of the same name at the host.
		values["host"] = map[string]any{"enabled": part == "host", "serviceAccount": map[string]any{"name": p.Namespace.Name}}
		applied := applyRoles(t, p.Client, []string{namespace}, values, func(object client.Object) bool {
			if part == "host" {
				object.SetNamespace(onHost)
			}
			return object.GetName() == account+"-token"
		})
		if applied != 2 {
			t.Fatalf("%d roles and bindings of the %s were applied", applied, part)
		}
	}
	admin := kubernetes.NewForConfigOrDie(p.Config())
	created, err := admin.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: account},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := admin.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), created.Name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(600))},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stored := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: onHost, Name: secret}, Data: map[string][]byte{
		tokenKey: []byte(answer.Status.Token), "karmada.config": []byte("token: " + answer.Status.Token),
	}}
	testplanes.Create(t, p, stored)
	t.Cleanup(func() {
		// The context of the test has ended.
		ctx, token := context.WithoutCancel(t.Context()), metav1.ObjectMeta{Namespace: namespace, Name: account + "-token"}
		err := errors.Join(p.Client.Delete(ctx, created), p.Client.Delete(ctx, &rbacv1.Role{ObjectMeta: token}),
			p.Client.Delete(ctx, &rbacv1.RoleBinding{ObjectMeta: token}))
		if err != nil {
			t.Error(err)
		}
	})
	config := rest.AnonymousClientConfig(p.Config())
	config.BearerToken = answer.Status.Token
	atHost := rest.CopyConfig(p.Config())
	atHost.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + onHost}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(answer.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	clock := testingclock.NewFakePassiveClock(time.Now())
	return &renewal{
		hub: kubernetes.NewForConfigOrDie(config), host: kubernetes.NewForConfigOrDie(atHost), namespace: onHost, secret: secret,
		file: file, clock: clock, log: logr.Discard(),
	}, clock
}
