// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

// keySize is the size of a key in bytes.
const keySize = 32

// key is the key from which the secrets of all paths are derived. It is never printed.
type key []byte

func newKey() (key, error) {
	k := make(key, keySize)
	if _, err := rand.Read(k); err != nil {
		return nil, fmt.Errorf("generate a key: %w", err)
	}
	return k, nil
}

// secret is the suffix of a webhook's plain path. An API server accepts it in a webhook configuration, whose path
// segments must be DNS names.
func (k key) secret(plain string) string {
	mac := hmac.New(sha256.New, k)
	// Writing to a hash.Hash never returns an error.
	_, _ = mac.Write([]byte(plain))
	return hex.EncodeToString(mac.Sum(nil))
}

// path is the path at which the webhook with a plain path is called.
func (k key) path(plain string) string { return plain + "/" + k.secret(plain) }

// accepts compares in a time that does not depend on how much of the secret is right.
func (k key) accepts(plain, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(k.secret(plain)), []byte(secret)) == 1
}

// String keeps keys out of logs and errors.
func (k key) String() string { return "[key]" }

// GoString keeps keys out of logs and errors.
func (k key) GoString() string { return k.String() }

// Annotations of the Secret.
const (
	AnnotationCurrentSince = "compute.datumapis.com/current-since"
	AnnotationNextSince    = "compute.datumapis.com/next-since"
	AnnotationCarriedSince = "compute.datumapis.com/registered-since"
)

// state is the content of the Secret.
type state = rotation.State[key]

// kind implements rotation.Kind for keys.
type kind struct {
	// lifetime of a key. 0: it is replaced on request only.
	lifetime time.Duration
}

// New creates a key.
func (kind) New(time.Time) (*key, error) {
	k, err := newKey()
	return &k, err
}

// Due reports whether the lifetime of a key is over.
func (k kind) Due(_ *key, since, now time.Time) bool {
	return k.lifetime > 0 && !now.Before(since.Add(k.lifetime))
}

// Expired is false: a key is as good as on its first day.
func (kind) Expired(*key, time.Time) bool { return false }

// Former is the whole key.
func (kind) Former(k *key) *key { return k }

// Decode reads a key in hexadecimal. Errors never quote content.
func (kind) Decode(data map[string][]byte, role rotation.Role) (*key, error) {
	content := strings.TrimSpace(string(data[string(role)]))
	if content == "" {
		return nil, nil
	}
	decoded, err := hex.DecodeString(content)
	if err != nil || len(decoded) != keySize {
		return nil, fmt.Errorf("entry %s is not a key of %d bytes in hexadecimal", role, keySize)
	}
	return (*key)(&decoded), nil
}

// Encode writes a key.
func (kind) Encode(k *key, data map[string][]byte, role rotation.Role) error {
	if k == nil {
		delete(data, string(role))
		return nil
	}
	data[string(role)] = []byte(hex.EncodeToString(*k))
	return nil
}

// accepts reports whether any key of the state accepts the secret. It always asks all of them.
func accepts(s state, plain, secret string) bool {
	accepted := false
	for _, k := range s.Items() {
		accepted = k.accepts(plain, secret) || accepted
	}
	return accepted
}
