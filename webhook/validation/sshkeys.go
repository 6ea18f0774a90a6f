// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
)

// sshUser is what systems take as the name of a user.
var sshUser = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}$`)

// sshKeyParts are the kinds of public keys, each with the lengths of what follows the kind inside of the key, 0 where
// the length varies. A key that was cut while it was copied does not have them.
var sshKeyParts = map[string][]int{
	"ssh-ed25519":                        {32},
	"ssh-rsa":                            {0, 0},
	"ssh-dss":                            {0, 0, 0, 0},
	"ecdsa-sha2-nistp256":                {8, 65},
	"ecdsa-sha2-nistp384":                {8, 97},
	"ecdsa-sha2-nistp521":                {8, 133},
	"sk-ssh-ed25519@openssh.com":         {32, 0},
	"sk-ecdsa-sha2-nistp256@openssh.com": {8, 65, 0},
}

// sshKeys checks lines of user:public key. Neither is shown: errors end up in logs.
func (p *problems) sshKeys(at place, text string) {
	keys := 0
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		keys++
		if detail := sshKeyProblem(line); detail != "" {
			p.hidden(at, line, detail, fmt.Sprintf("line %d: ", number))
		}
	}
	if keys == 0 {
		p.required(at, "a virtual machine needs lines of user:public key")
	}
}

func sshKeyProblem(line string) string {
	user, key, ok := strings.Cut(line, ":")
	if !ok {
		return "must be user:public key"
	}
	if !sshUser.MatchString(user) {
		return "must begin with the name of a user and a colon"
	}
	key = strings.TrimSpace(key)
	if problem := publicKeyProblem(key); problem != "" {
		// What precedes the kind of a key are options, as in authorized_keys.
		rest, ok := withoutOptions(key)
		if !ok || publicKeyProblem(rest) != "" {
			return problem
		}
	}
	return ""
}

func publicKeyProblem(key string) string {
	fields := strings.Fields(key)
	if len(fields) < 2 {
		return "must have a kind of key and the key in base64 after the colon"
	}
	parts, ok := sshKeyParts[fields[0]]
	if !ok {
		return "has an unknown kind of key"
	}
	blob, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return "the key is not base64"
	}
	kind, blob, ok := wireString(blob)
	if !ok || !bytes.Equal(kind, []byte(fields[0])) {
		return "the key is of another kind than it says"
	}
	for _, length := range parts {
		var part []byte
		if part, blob, ok = wireString(blob); !ok || len(part) == 0 || length != 0 && len(part) != length {
			return "the key is damaged"
		}
	}
	if len(blob) > 0 {
		return "the key is damaged"
	}
	return ""
}

// wireString takes a string off the front, as RFC 4251 writes it: its length in four bytes, then itself.
func wireString(data []byte) (text, rest []byte, ok bool) {
	const prefix = 4
	if len(data) < prefix {
		return nil, nil, false
	}
	length := uint64(binary.BigEndian.Uint32(data))
	data = data[prefix:]
	if length > uint64(len(data)) {
		return nil, nil, false
	}
	return data[:length], data[length:], true
}

// withoutOptions cuts options such as no-pty,command="echo hello" off a key. Blanks in double quotes do not end them.
func withoutOptions(key string) (string, bool) {
	quoted := false
	for i := range len(key) {
		switch key[i] {
		case '"':
			if i == 0 || key[i-1] != '\\' {
				quoted = !quoted
			}
		case ' ', '\t':
			if !quoted {
				return strings.TrimSpace(key[i:]), true
			}
		}
	}
	return "", false
}
