// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

// a, b and c are keys.
var a, b, c = testKey('a'), testKey('b'), testKey('c')

func testKey(letter byte) *key {
	k := key(strings.Repeat(string(letter), keySize))
	return &k
}

func TestKeyRoundTrip(t *testing.T) {
	data := map[string][]byte{"next": []byte("old"), "more": []byte("x")}
	if err := (kind{}).Encode(a, data, rotation.Current); err != nil {
		t.Fatal(err)
	}
	if err := (kind{}).Encode(nil, data, rotation.Next); err != nil {
		t.Fatal(err)
	}
	read, err := kind{}.Decode(data, rotation.Current)
	if err != nil || string(*read) != string(*a) || len(data) != 2 {
		t.Errorf("%d entries, %v", len(data), err)
	}
	if none, err := (kind{}).Decode(data, rotation.Next); none != nil || err != nil {
		t.Errorf("there is a key: %v", err)
	}
}

// TestCorruptKey: a key that cannot be decoded is reported, and never quoted.
func TestCorruptKey(t *testing.T) {
	for name, content := range map[string]string{"too short": hex.EncodeToString(*a)[:62], "not hexadecimal": strings.Repeat("secret--", 8)} {
		_, err := kind{}.Decode(map[string][]byte{"next": []byte(content)}, rotation.Next)
		if err == nil || !strings.Contains(err.Error(), "entry next") || strings.Contains(err.Error(), content) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKeysAreNotPrinted with any verb, alone or in a state.
func TestKeysAreNotPrinted(t *testing.T) {
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, value := range []any{*a, a, state{Current: a}, &state{Current: a}} {
			if text := fmt.Sprintf(format, value); strings.Contains(text, "aaaa") || strings.Contains(text, "0x61") || strings.Contains(text, "97") {
				t.Errorf("%s prints %s", format, text)
			}
		}
	}
}

// TestPath: API servers accept only DNS names as segments of a path in a webhook configuration.
func TestPath(t *testing.T) {
	made, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	segments := strings.Split(made.path("/validate-workload"), "/")
	if len(segments) != 3 || segments[1] != "validate-workload" || len(validation.IsDNS1123Subdomain(segments[2])) > 0 ||
		len(segments[2]) < 32 {
		t.Errorf("path has segments %q", segments)
	}
}

func TestAccepts(t *testing.T) {
	s := state{Current: a, Next: b}
	for name, test := range map[string]struct {
		secret string
		want   bool
	}{
		"current":              {a.secret("/one"), true},
		"next":                 {b.secret("/one"), true},
		"another key":          {c.secret("/one"), false},
		"no key":               {key(nil).secret("/one"), false},
		"of another webhook":   {a.secret("/two"), false},
		"nothing":              {"", false},
		"the key itself":       {string(*a), false},
		"the beginning":        {a.secret("/one")[:63], false},
		"more":                 {a.secret("/one") + "0", false},
		"in capitals":          {strings.ToUpper(a.secret("/one")), false},
		"with a path after it": {a.secret("/one") + "/", false},
	} {
		if got := accepts(s, "/one", test.secret); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
