// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto"
	"crypto/x509"
	"fmt"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

// Annotations of the Secret.
const (
	AnnotationNextTrustedSince = "compute.datumapis.com/next-trusted-since"
	AnnotationPromotedAt       = "compute.datumapis.com/promoted-at"
)

// state is the content of the Secret.
type state = rotation.State[ca]

// kind implements rotation.Kind for CAs.
type kind struct {
	lifetime time.Duration
}

// New creates a CA.
func (k kind) New(now time.Time) (*ca, error) { return newCA(now, k.lifetime) }

// Due reports whether two thirds of a CA's life are over.
func (kind) Due(current *ca, _, now time.Time) bool { return due(current.cert, now) }

// Expired reports whether no client accepts a CA any more.
func (kind) Expired(c *ca, now time.Time) bool { return c.expired(now) }

// Former has no key, since it no longer signs certificates.
func (kind) Former(c *ca) *ca { return &ca{cert: c.cert} }

// Decode reads a CA. Errors never quote content.
func (kind) Decode(data map[string][]byte, role rotation.Role) (*ca, error) {
	certPEM, keyPEM := data[string(role)+".crt"], data[string(role)+".key"]
	withKey := role != rotation.Previous
	if len(certPEM) == 0 && (len(keyPEM) == 0 || !withKey) {
		return nil, nil
	}
	certs, err := cert.ParseCertsPEM(certPEM)
	if err != nil {
		return nil, fmt.Errorf("%s.crt holds no certificate: %w", role, err)
	}
	if len(certs) != 1 || !certs[0].IsCA {
		return nil, fmt.Errorf("%s.crt must hold one CA certificate and nothing else", role)
	}
	if !withKey {
		return &ca{cert: certs[0]}, nil
	}
	parsed, err := keyutil.ParsePrivateKeyPEM(keyPEM)
	if err != nil {
		return nil, fmt.Errorf("%s.key holds no private key", role)
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s.key cannot sign", role)
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(certs[0].PublicKey) {
		return nil, fmt.Errorf("%s.key is not the key of %s.crt", role, role)
	}
	return &ca{cert: certs[0], key: key}, nil
}

// Encode writes a CA.
func (kind) Encode(c *ca, data map[string][]byte, role rotation.Role) error {
	delete(data, string(role)+".crt")
	delete(data, string(role)+".key")
	if c == nil {
		return nil
	}
	certPEM, err := cert.EncodeCertificates(c.cert)
	if err != nil {
		return fmt.Errorf("encode %s.crt: %w", role, err)
	}
	data[string(role)+".crt"] = certPEM
	if c.key == nil {
		return nil
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(c.key)
	if err != nil {
		return fmt.Errorf("encode %s.key: %w", role, err)
	}
	data[string(role)+".key"] = keyPEM
	return nil
}

// bundleOf is the PEM of the CAs that clients must trust. It is never empty once there is a CA: with an empty caBundle API
// servers trust the public authorities.
func bundleOf(s state, now time.Time) ([]byte, error) {
	var certs []*x509.Certificate
	for _, c := range s.Items() {
		if !c.expired(now) {
			certs = append(certs, c.cert)
		}
	}
	if len(certs) == 0 && s.Current != nil {
		certs = append(certs, s.Current.cert)
	}
	return cert.EncodeCertificates(certs...)
}
