// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// certificateLife bounds every certificate of a federation, the CA included.
const certificateLife = 30 * 24 * time.Hour

// frontProxyName is the common name that kube-apiservers accept as a front
// proxy (Milo's router and the aggregation layer).
const frontProxyName = "front-proxy-client"

// pki issues the certificates of one federation from one CA, into one folder. It
// is safe for concurrent use, by several processes too.
type pki struct {
	folder string
	mu     sync.Mutex
}

// subject is the identity in a client certificate.
type subject struct {
	name   string   // common name: the user
	groups []string // organizations: the groups
}

func (p *pki) path(name string) string { return filepath.Join(p.folder, name) }
func (p *pki) caFile() string          { return p.path("ca.crt") }

// pair returns the certificate and key files of a name.
func (p *pki) pair(name string) (string, string) {
	return p.path(name + ".crt"), p.path(name + ".key")
}

// create creates the CA, the serving certificate of all servers and the front
// proxy's client certificate.
func (p *pki) create() error {
	if err := os.MkdirAll(p.path("users"), 0o700); err != nil {
		return err
	}
	ca := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "federation-ca"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if err := p.issue("ca", ca, nil); err != nil {
		return fmt.Errorf("certificate authority: %w", err)
	}
	server := &x509.Certificate{
		Subject: pkix.Name{CommonName: "federation"},
		DNSNames: []string{
			"localhost", "kubernetes.default.svc",
			"karmada-webhook.karmada-system.svc", "karmada-aggregated-apiserver.karmada-system.svc",
		},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	parent, err := p.authority()
	if err != nil {
		return err
	}
	if err := p.issue("server", server, parent); err != nil {
		return fmt.Errorf("serving certificate: %w", err)
	}
	if err := p.issue("front-proxy", clientTemplate(subject{name: frontProxyName}), parent); err != nil {
		return fmt.Errorf("front proxy certificate: %w", err)
	}
	return nil
}

// client returns the certificate and key files of a user. It creates them on
// first use.
func (p *pki) client(who subject) (string, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := filepath.Join("users", fileName(who.name))
	certFile, keyFile := p.pair(name)
	if _, err := os.Stat(certFile); err == nil {
		return certFile, keyFile, nil
	}
	parent, err := p.authority()
	if err != nil {
		return "", "", err
	}
	if err := p.issue(name, clientTemplate(who), parent); err != nil {
		return "", "", fmt.Errorf("client certificate of %s: %w", who.name, err)
	}
	return certFile, keyFile, nil
}

// serviceAccountKeys returns the key pair with which one cluster signs its
// service account tokens. Each cluster has its own, so that the hub refuses a
// token of a cell.
func (p *pki) serviceAccountKeys(plane string) (public, private string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	base := p.path("service-accounts-" + fileName(plane))
	public, private = base+".pub", base+".key"
	if _, err := os.Stat(public); err == nil {
		return public, private, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", fmt.Errorf("service account key of %s: %w", plane, err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return "", "", fmt.Errorf("service account key of %s: %w", plane, err)
	}
	content := pem.EncodeToMemory(&pem.Block{Type: keyutil.PublicKeyBlockType, Bytes: der})
	return public, private, errors.Join(writeKey(private, key), writeFile(public, content))
}

// authority is the CA's certificate and key.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func (p *pki) authority() (*authority, error) {
	certFile, keyFile := p.pair("ca")
	certs, err := cert.CertsFromFile(certFile)
	if err != nil {
		return nil, err
	}
	key, err := keyutil.PrivateKeyFromFile(keyFile)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s has a key that cannot sign", keyFile)
	}
	return &authority{cert: certs[0], key: signer}, nil
}

// issue signs template with parent, or with its own key when parent is nil,
// and writes certificate and key. The certificate is written last: where it
// exists, the key does too.
func (p *pki) issue(name string, template *x509.Certificate, parent *authority) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Minute)
	template.NotAfter = time.Now().Add(certificateLife)
	if parent == nil {
		parent = &authority{cert: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent.cert, key.Public(), parent.key)
	if err != nil {
		return err
	}
	certFile, keyFile := p.pair(name)
	return errors.Join(writeKey(keyFile, key), writeFile(certFile,
		pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der})))
}

func clientTemplate(who subject) *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: who.name, Organization: who.groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	content, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	return writeFile(path, content)
}

// writeFile replaces path atomically with a file that only its owner can read.
func writeFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, writeErr := file.Write(content)
	if err := errors.Join(writeErr, file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), path)
}

// fileName escapes a name into one path element.
func fileName(name string) string { return url.PathEscape(name) }
