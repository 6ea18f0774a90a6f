// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// checkTokens warns of tokens for the hub that the replicas should have renewed.
func (s *session) checkTokens(ctx context.Context, f *findings) {
	overdue, err := overdueTokens(ctx, s.host, s.options.karmada.namespace)
	if err != nil {
		f.warn("the tokens for the hub are not checked: %v", err)
	}
	for _, name := range overdue {
		f.warn("%s", name)
	}
}

// overdueTokens names the tokens for the hub that no replica has renewed, long before they end.
func overdueTokens(ctx context.Context, host *plane, namespace string) ([]string, error) {
	var overdue []string
	for _, name := range []string{hubSecret, webhookHubSecret, sessionsSecret} {
		secret := &corev1.Secret{}
		err := host.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
		if apierrors.IsNotFound(err) || err == nil && len(secret.Data[tokenKey]) == 0 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the token for the hub at the host: %w", err)
		}
		token, err := wire.ReadToken(secret.Data[tokenKey])
		if err != nil {
			return nil, fmt.Errorf("key %s of Secret %s/%s at the host: %w", tokenKey, namespace, name, err)
		}
		if time.Now().After(token.OverdueAt()) {
			overdue = append(overdue, fmt.Sprintf("the token in Secret %s at the host expires at %s, and no replica has renewed it; "+
				"`addons enable` stores another one, see docs/runbooks/certificates.md#the-credential-for-the-hub",
				name, token.Expires.UTC().Format(time.RFC3339)))
		}
	}
	return overdue, nil
}
