// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// SessionKey returns the public key in spec.publicKey of a session in DER, as certificates have it: an ECDSA key on curve P-256 or an
// Ed25519 key, and no other key.
func SessionKey(text string) ([]byte, error) {
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != "PUBLIC KEY" || strings.TrimSpace(string(rest)) != "" {
		return nil, errors.New("must be one block PUBLIC KEY in PEM")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("must be a public key in PKIX form: %w", err)
	}
	switch key := key.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return nil, errors.New("must be on curve P-256")
		}
	default:
		return nil, errors.New("must be an ECDSA P-256 or an Ed25519 key")
	}
	// Encoded again: of several encodings of a key, certificates have this one.
	return x509.MarshalPKIXPublicKey(key)
}
