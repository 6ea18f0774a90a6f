// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// Annotations of the Secret. An operator requests a rotation with AnnotationRotate; its value does not matter, and it is
// removed when the rotation starts.
const (
	AnnotationNextTrustedSince = "compute.datumapis.com/next-trusted-since"
	AnnotationPromotedAt       = "compute.datumapis.com/promoted-at"
	AnnotationRotate           = "compute.datumapis.com/rotate"
)

const (
	currentRole  = "current"
	nextRole     = "next"
	previousRole = "previous"
)

// decode reads the state from the Secret. A Secret without a CA is an empty state. Errors never quote content.
func decode(secret *corev1.Secret) (state, error) {
	var s state
	var currentErr, nextErr, previousErr error
	s.current, currentErr = decodeCA(secret.Data, currentRole, true)
	s.next, nextErr = decodeCA(secret.Data, nextRole, true)
	s.previous, previousErr = decodeCA(secret.Data, previousRole, false)
	err := errors.Join(currentErr, nextErr, previousErr)
	if err == nil && s.current == nil && (s.next != nil || s.previous != nil) {
		err = errors.New("there is no current.crt")
	}
	if err != nil {
		return state{}, fmt.Errorf("Secret %s/%s is corrupt, delete it so that a new CA is created: %w",
			secret.Namespace, secret.Name, err)
	}
	// A timestamp that cannot be parsed counts as missing, which only makes a rotation longer.
	s.nextTrustedSince = decodeTime(secret.Annotations[AnnotationNextTrustedSince])
	s.promotedAt = decodeTime(secret.Annotations[AnnotationPromotedAt])
	_, s.force = secret.Annotations[AnnotationRotate]
	return s, nil
}

func decodeCA(data map[string][]byte, role string, withKey bool) (*ca, error) {
	certPEM, keyPEM := data[role+".crt"], data[role+".key"]
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

func decodeTime(value string) time.Time {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return time.Time{}
	}
	return at
}

// encode writes the state into the Secret and keeps its other content.
func encode(s state, secret *corev1.Secret) error {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	if secret.Annotations == nil {
		secret.Annotations = map[string]string{}
	}
	if err := errors.Join(
		encodeCA(s.current, secret.Data, currentRole),
		encodeCA(s.next, secret.Data, nextRole),
		encodeCA(s.previous, secret.Data, previousRole),
	); err != nil {
		return err
	}
	encodeTime(s.nextTrustedSince, secret.Annotations, AnnotationNextTrustedSince)
	encodeTime(s.promotedAt, secret.Annotations, AnnotationPromotedAt)
	if !s.force {
		delete(secret.Annotations, AnnotationRotate)
	}
	return nil
}

func encodeCA(c *ca, data map[string][]byte, role string) error {
	delete(data, role+".crt")
	delete(data, role+".key")
	if c == nil {
		return nil
	}
	certPEM, err := cert.EncodeCertificates(c.cert)
	if err != nil {
		return fmt.Errorf("encode %s.crt: %w", role, err)
	}
	data[role+".crt"] = certPEM
	if c.key == nil {
		return nil
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(c.key)
	if err != nil {
		return fmt.Errorf("encode %s.key: %w", role, err)
	}
	data[role+".key"] = keyPEM
	return nil
}

func encodeTime(at time.Time, annotations map[string]string, name string) {
	if at.IsZero() {
		delete(annotations, name)
		return
	}
	annotations[name] = at.UTC().Format(time.RFC3339)
}
