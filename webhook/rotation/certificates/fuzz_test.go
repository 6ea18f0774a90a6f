// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

// FuzzDecode: an entry of the Secret is a CA with its key, or an error. A decoded entry is encoded unchanged.
func FuzzDecode(f *testing.F) {
	c, err := newCA(epoch, day)
	if err != nil {
		f.Fatal(err)
	}
	data := map[string][]byte{}
	if err := (kind{}).Encode(c, data, rotation.Current); err != nil {
		f.Fatal(err)
	}
	f.Add(data["current.crt"], data["current.key"])
	f.Add(data["current.key"], data["current.crt"])
	f.Add([]byte{}, []byte("-----BEGIN EC PRIVATE KEY-----\n-----END EC PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, certificate, key []byte) {
		read, err := kind{}.Decode(map[string][]byte{"current.crt": certificate, "current.key": key}, rotation.Current)
		if err != nil || read == nil {
			return
		}
		written := map[string][]byte{}
		if err := (kind{}).Encode(read, written, rotation.Current); err != nil {
			t.Fatal(err)
		}
		if again, err := (kind{}).Decode(written, rotation.Current); err != nil || !again.equals(read) || again.key == nil {
			t.Fatalf("it is not read again: %v", err)
		}
	})
}
