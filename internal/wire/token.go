// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Token holds the claims of a ServiceAccount's token. Nothing proves them: the API server that issued the token does.
type Token struct {
	Namespace, ServiceAccount string
	// Issued and Expires bound the life of the token, as the API server has granted it. Expires is zero for a token of a Secret.
	Issued, Expires time.Time
}

// ReadToken reads the claims of a token.
func ReadToken(token []byte) (Token, error) {
	parts := strings.Split(strings.TrimSpace(string(token)), ".")
	if len(parts) != 3 {
		return Token{}, errors.New("it is no token of a ServiceAccount")
	}
	claims := struct {
		Subject string `json:"sub"`
		Issued  int64  `json:"iat"`
		Expires int64  `json:"exp"`
	}{}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(payload, &claims)
	}
	if err != nil {
		return Token{}, fmt.Errorf("read the claims of a token: %w", err)
	}
	namespace, name, found := strings.Cut(strings.TrimPrefix(claims.Subject, ServiceAccountPrefix), ":")
	if !found || !strings.HasPrefix(claims.Subject, ServiceAccountPrefix) {
		return Token{}, fmt.Errorf("the token is for %q, which is no ServiceAccount", claims.Subject)
	}
	result := Token{Namespace: namespace, ServiceAccount: name, Issued: time.Unix(claims.Issued, 0)}
	if claims.Expires > 0 {
		result.Expires = time.Unix(claims.Expires, 0)
	}
	return result, nil
}

// ServiceAccountPrefix begins the user name of a ServiceAccount.
const ServiceAccountPrefix = "system:serviceaccount:"

// User returns the name by which an API server knows the ServiceAccount.
func (t Token) User() string { return ServiceAccountPrefix + t.Namespace + ":" + t.ServiceAccount }

// TokenLife is the life that is requested for a token. The API server may grant less.
const TokenLife = 30 * 24 * time.Hour

// RenewAt returns when the token is renewed: after a third of its life.
func (t Token) RenewAt() time.Time { return t.Issued.Add(t.Expires.Sub(t.Issued) / 3) }

// OverdueAt returns when a token that no replica has renewed is reported: after half of its life.
func (t Token) OverdueAt() time.Time { return t.Issued.Add(t.Expires.Sub(t.Issued) / 2) }
