// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"testing"
)

func publicKey(t *testing.T, kind string, key any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func TestParseSessionKey(t *testing.T) {
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	curve := func(c elliptic.Curve) any {
		key, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key.Public()
	}
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	good := publicKey(t, "PUBLIC KEY", edwards)
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"Ed25519":           {good, true},
		"P-256":             {publicKey(t, "PUBLIC KEY", curve(elliptic.P256())), true},
		"P-521":             {publicKey(t, "PUBLIC KEY", curve(elliptic.P521())), false},
		"RSA":               {publicKey(t, "PUBLIC KEY", large.Public()), false},
		"another block":     {publicKey(t, "CERTIFICATE", edwards), false},
		"two keys":          {good + good, false},
		"something besides": {good + "and more", false},
		"no PEM":            {"key", false},
		"nothing":           {"", false},
		"no key in it":      {string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("key")})), false},
	} {
		der, err := SessionKey(c.text)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if again, err := SessionKey("\n" + c.text); c.ok && (err != nil || !bytes.Equal(der, again)) {
			t.Errorf("%s: the same key differs: %v", name, err)
		}
	}
}
