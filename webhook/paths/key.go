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
)

// keySize is the size of a key in bytes.
const keySize = 32

// key is what the secrets of all paths are derived from. A nil key is none. It is never printed.
type key []byte

func newKey() (key, error) {
	k := make(key, keySize)
	if _, err := rand.Read(k); err != nil {
		return nil, fmt.Errorf("generate a key: %w", err)
	}
	return k, nil
}

// secret is what follows the plain path of a webhook: a path that an API server accepts in a webhook configuration, whose
// segments must be DNS names.
func (k key) secret(plain string) string {
	mac := hmac.New(sha256.New, k)
	// Writing to a hash.Hash never returns an error.
	_, _ = mac.Write([]byte(plain))
	return hex.EncodeToString(mac.Sum(nil))
}

// path is where the webhook with a plain path is called.
func (k key) path(plain string) string { return plain + "/" + k.secret(plain) }

// accepts compares in a time that does not depend on how much of the secret is right.
func (k key) accepts(plain, secret string) bool {
	return k != nil && subtle.ConstantTimeCompare([]byte(k.secret(plain)), []byte(secret)) == 1
}

// String keeps keys out of logs and errors.
func (k key) String() string { return "[key]" }

// GoString keeps keys out of logs and errors.
func (k key) GoString() string { return k.String() }
