// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// reviewer writes a kubeconfig of another user at Milo.
func reviewer(t *testing.T) string {
	t.Helper()
	config := kubeconfigOf(testenv.Config(t))
	config.AuthInfos["u"].Impersonate = "reviewer"
	path := filepath.Join(t.TempDir(), "reviewer")
	if err := clientcmd.WriteToFile(config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func separated() map[string]any {
	return map[string]any{"host": map[string]any{"separateWebhooks": true}}
}

// TestSeparateWebhooks verifies that Pods that serve webhooks only get credentials of their own, for the hub and for
// Milo.
func TestSeparateWebhooks(t *testing.T) {
	s := newSite(t)
	o := s.options()
	o.miloWebhookKubeconfig = reviewer(t)
	if err := s.enable(t.Context(), o, separated()); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	get := func(obj client.Object, namespace, name string) {
		t.Helper()
		if err := s.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, obj); err != nil {
			t.Fatal(err)
		}
	}
	controllers, webhooks, milo := &corev1.Secret{}, &corev1.Secret{}, &corev1.Secret{}
	get(controllers, s.namespace, hubSecret)
	get(webhooks, s.namespace, webhookHubSecret)
	get(milo, s.namespace, webhookMiloSecret)
	if one, other := tokenIn(t, controllers), tokenIn(t, webhooks); one == "" || other == "" || one == other {
		t.Error("the webhooks have the controllers' token for the hub, or none")
	}
	if !strings.Contains(string(milo.Data[miloSecretKey]), "reviewer") {
		t.Error("the webhooks' kubeconfig for Milo is not the one that was given")
	}
	if token, err := wire.ReadToken(webhooks.Data[tokenKey]); err != nil || token.ServiceAccount != webhookServiceAccount {
		t.Errorf("the token is of %s, %v", token.ServiceAccount, err)
	}
	bound := &rbacv1.ClusterRoleBinding{}
	get(bound, "", Name+"-webhook")
	if bound.RoleRef.Name != Name+"-webhook" {
		t.Errorf("it is %+v", bound)
	}
	deployment := &appsv1.Deployment{}
	get(deployment, s.namespace, webhookServiceAccount)
	if args := strings.Join(deployment.Spec.Template.Spec.Containers[0].Args, " "); !strings.Contains(args, "--add-on-users=admin") {
		t.Errorf("the webhooks do not know who the controllers are: %s", args)
	}
	known := s.inventory()
	if err := s.disable(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if left := s.left(known); len(left) > 0 {
		t.Errorf("disable left %v", left)
	}
}

// TestWebhooksAreAlwaysServed verifies that a change to Pods that serve webhooks only, and back, takes no Pods away
// that serve webhooks before others do.
func TestWebhooksAreAlwaysServed(t *testing.T) {
	s := newSite(t)
	o := s.options()
	if err := s.enable(t.Context(), o, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	replicas := &appsv1.Deployment{}
	serve := func() bool {
		err := s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: Name}, replicas)
		return err == nil && replicas.Spec.Template.Labels["compute.datumapis.com/webhooks"] == "true"
	}
	if !serve() {
		t.Fatal("the replicas serve no webhooks")
	}
	tooEarly := make(chan string, 10)
	observe := func(name string) {
		if name == webhookServiceAccount && !serve() {
			tooEarly <- "the replicas lose their webhooks before other Pods serve them"
		}
	}
	s.rolls.Store(&observe)
	o.miloWebhookKubeconfig = reviewer(t)
	if err := s.enable(t.Context(), o, separated()); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	if serve() {
		t.Error("the replicas still serve webhooks")
	}
	if err := s.enable(t.Context(), s.options(), map[string]any{}); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	available, deleted := strings.Index(s.out.String(), "Deployment "+Name+" is available"),
		strings.Index(s.out.String(), "deleting Deployment")
	if available < 0 || deleted < available {
		t.Errorf("the Pods that serve webhooks are deleted before the replicas serve them:\n%s", s.out.String())
	}
	if role := strings.Index(s.out.String(), "deleting ClusterRole "+webhookServiceAccount); role < deleted {
		t.Errorf("their role is deleted before they have ended:\n%s", s.out.String())
	}
	close(tooEarly)
	for fault := range tooEarly {
		t.Error(fault)
	}
	if err := s.disable(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func tokenIn(t *testing.T, secret *corev1.Secret) string {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data[hubSecretKey])
	if err != nil {
		t.Fatal(err)
	}
	return config.BearerToken
}

// TestSeparateWebhooksNeedACredential verifies that nothing is changed if the webhooks would have no credential of
// their own.
func TestSeparateWebhooksNeedACredential(t *testing.T) {
	s := newSite(t)
	if err := s.options().checkWebhooks(separated()); err == nil || !strings.Contains(err.Error(), "--milo-webhook-kubeconfig") {
		t.Errorf("without one: %v", err)
	}
	if err := s.options().checkWebhooks(nil); err != nil {
		t.Errorf("no such Pods: %v", err)
	}
	o := s.options()
	o.miloWebhookKubeconfig = s.kube
	if err := s.enable(t.Context(), o, separated()); err == nil || !strings.Contains(err.Error(), `is user "admin"`) || s.inventory() != nil {
		t.Errorf("with that of the controllers: %v", err)
	}
}
