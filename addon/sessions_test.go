// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// withSessions are values that offer sessions, and set keys of them.
func withSessions(more map[string]any) map[string]any {
	sessions := map[string]any{"logs": true, "url": "https://sessions.example.com"}
	merge(sessions, more)
	return map[string]any{"sessions": sessions}
}

// TestSessionsCredential verifies that sessions get a credential of their own for the hub, and lose it when they are
// turned off.
func TestSessionsCredential(t *testing.T) {
	s := newSite(t)
	get := func(namespace, name string) (*corev1.Secret, error) {
		secret := &corev1.Secret{}
		return secret, s.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, secret)
	}
	if err := s.enable(t.Context(), s.options(), withSessions(nil)); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	controllers, err := get(s.namespace, hubSecret)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := get(s.namespace, sessionsSecret)
	if err != nil {
		t.Fatal(err)
	}
	if one, other := tokenIn(t, controllers), tokenIn(t, sessions); one == "" || other == "" || one == other {
		t.Error("sessions have the controllers' token for the hub, or none")
	}
	if token, err := wire.ReadToken(sessions.Data[tokenKey]); err != nil || token.ServiceAccount != sessionsServiceAccount {
		t.Errorf("the token is of %s, %v", token.ServiceAccount, err)
	}
	if err := s.enable(t.Context(), s.options(), map[string]any{}); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	if _, err := get(s.namespace, sessionsSecret); !apierrors.IsNotFound(err) {
		t.Errorf("without sessions Secret %s is left: %v", sessionsSecret, err)
	}
	if err := s.disable(t.Context(), s.options()); err != nil {
		t.Fatal(err)
	}
}

// TestSessionsSecretOfTheOperator verifies that no credential is created beside one that the values name.
func TestSessionsSecretOfTheOperator(t *testing.T) {
	for name, c := range map[string]struct {
		values map[string]any
		want   bool
	}{
		"off":          {nil, false},
		"logs":         {withSessions(nil), true},
		"commands":     {withSessions(map[string]any{"logs": false, "exec": true}), true},
		"a Secret":     {withSessions(map[string]any{"secret": map[string]any{"name": "mine"}}), false},
		"another user": {withSessions(map[string]any{"subjects": []any{map[string]any{"kind": "User", "name": "streams"}}}), false},
		"off again":    {withSessions(map[string]any{"logs": false}), false},
	} {
		if got := needsSessionsSecret(c.values); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
