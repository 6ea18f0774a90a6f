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

func (c *ca) is(other *ca) bool {
	return c != nil && other != nil && bytes.Equal(c.cert.Raw, other.cert.Raw)
}

func (c *ca) expired(now time.Time) bool { return now.After(c.cert.NotAfter) }

// due reports whether two thirds of a certificate's life are over. The life is read from the certificate, since the replica
// that issued it may have other options.
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
