// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

// backdate is how long before its creation a certificate becomes valid, for clients whose clocks are behind.
const backdate = 5 * time.Minute

// ca is a certificate authority. The previous one has no key, since it no longer signs certificates.
type ca struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// newCA creates a certificate authority that can sign leaves but no other authority.
func newCA(now time.Time, lifetime time.Duration) (*ca, error) {
	key, serial, err := keyAndSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		// Names are unique: clients that find an issuer by its name alone find the right one of three.
		Subject:               pkix.Name{CommonName: fmt.Sprintf("karmada-compute-webhook-ca-%x", serial)},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(lifetime),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("create a CA: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("create a CA: %w", err)
	}
	return &ca{cert: cert, key: key}, nil
}

// sign issues a serving certificate that expires with the CA at the latest.
func (c *ca) sign(now time.Time, lifetime time.Duration, names []string) (*tls.Certificate, error) {
	key, serial, err := keyAndSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "karmada-compute-webhook"},
		NotBefore:    now.Add(-backdate),
		NotAfter:     earlier(now.Add(lifetime), c.cert.NotAfter),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, c.cert, key.Public(), c.key)
	if err != nil {
		return nil, fmt.Errorf("issue the serving certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("issue the serving certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

func (c *ca) equals(other *ca) bool {
	return c != nil && other != nil && bytes.Equal(c.cert.Raw, other.cert.Raw)
}

func (c *ca) expired(now time.Time) bool { return now.After(c.cert.NotAfter) }

// due reports whether two thirds of a certificate's life are over. The life is read from the certificate, since the
// replica that issued it may have other options.
func due(cert *x509.Certificate, now time.Time) bool {
	life := cert.NotAfter.Sub(cert.NotBefore) - backdate
	return !now.Before(cert.NotAfter.Add(-life / 3))
}

func keyAndSerial() (*ecdsa.PrivateKey, *big.Int, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generate a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, fmt.Errorf("generate a serial number: %w", err)
	}
	return key, serial, nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

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

// bundleOf is the PEM of the CAs that clients must trust. It is never empty once there is a CA: with an empty caBundle
// API servers trust the public authorities.
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
