// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// sshUser matches user names that operating systems accept.
var sshUser = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}$`)

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
	user, text, ok := strings.Cut(line, ":")
	switch {
	case !ok:
		return "must be user:public key"
	case !sshUser.MatchString(user):
		return "must start with a user name and a colon"
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text))
	if err != nil {
		return "must have, after the colon, a complete public key as in authorized_keys: its type, and the key in base64"
	}
	// The parser takes the type from the key itself. As in authorized_keys, options may precede the stated type.
	if _, isCertificate := key.(*ssh.Certificate); isCertificate || !slices.Contains(strings.Fields(text), key.Type()) {
		return "the key is of another type than stated"
	}
	return ""
}
