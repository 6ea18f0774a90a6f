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

// sshUser matches user names that operating systems accept.
var sshUser = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}$`)

// sshKeyParts are the types of public keys, each with the lengths in bytes of the parts after the type, 0 for a variable
// length. They detect keys that were truncated when they were copied.
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

// sshKeys validates lines of user:public key. Neither is shown, because errors are logged.
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
		return "must start with a user name and a colon"
	}
	key = strings.TrimSpace(key)
	if problem := publicKeyProblem(key); problem != "" {
		// As in authorized_keys, options may precede the type of the key.
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
		return "must have the type of the key and the key in base64 after the colon"
	}
	parts, ok := sshKeyParts[fields[0]]
	if !ok {
		return "has an unknown type of key"
	}
	blob, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return "the key is not base64"
	}
	kind, blob, ok := wireString(blob)
	if !ok || !bytes.Equal(kind, []byte(fields[0])) {
		return "the key is of another type than stated"
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

// wireString reads a string as encoded by RFC 4251: its length in four bytes, then its bytes.
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

// withoutOptions removes options such as no-pty,command="echo hello" before a key. Blanks in double quotes are part of them.
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
