// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestSecretRoundTrip(t *testing.T) {
	for name, s := range map[string]state{
		"alone":    {current: a, currentSince: epoch},
		"learning": {current: a, currentSince: epoch, next: b, nextSince: epoch.Add(time.Minute)},
		"retiring": {current: a, currentSince: epoch, previous: b, carriedSince: epoch.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"mine": "x", AnnotationRotate: "now"}}}
			secret.Data = map[string][]byte{"next": []byte("old"), "previous": []byte("old"), "more": []byte("x")}
			encode(s, []string{"/one", "/two"}, secret)
			if secret.Annotations["mine"] != "x" || string(secret.Data["more"]) != "x" {
				t.Errorf("what others wrote is gone: %v", secret)
			}
			if string(secret.Data["one"]) != a.secret("/one") || string(secret.Data["two"]) != a.secret("/two") {
				t.Error("the secrets of the paths are not in it")
			}
			if read, err := decode(secret); err != nil || !reflect.DeepEqual(read, s) {
				t.Errorf("%+v, %v", read, err)
			}
		})
	}
}

// TestCorruptSecret: what cannot be read is said, and never quoted.
func TestCorruptSecret(t *testing.T) {
	good := []byte(hex.EncodeToString(a))
	for name, test := range map[string]struct {
		data map[string][]byte
		says string
	}{
		"too short":       {map[string][]byte{"current": good[:62]}, "entry current"},
		"not hexadecimal": {map[string][]byte{"current": good, "next": []byte(strings.Repeat("secret--", 8))}, "entry next"},
		"no current one":  {map[string][]byte{"previous": good}, "no entry current"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "paths"}, Data: test.data})
			if err == nil || !strings.Contains(err.Error(), "Secret system/paths is corrupt, delete it") || !strings.Contains(err.Error(), test.says) {
				t.Fatal(err)
			}
			for _, content := range test.data {
				if strings.Contains(err.Error(), string(content)) {
					t.Errorf("%v quotes what is in the Secret", err)
				}
			}
		})
	}
}

// TestKeysAreNotPrinted with any verb, alone or in a state.
func TestKeysAreNotPrinted(t *testing.T) {
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, value := range []any{a, state{current: a}, &state{current: a}} {
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
	if len(segments) != 3 || segments[1] != "validate-workload" || len(validation.IsDNS1123Subdomain(segments[2])) > 0 || len(segments[2]) < 32 {
		t.Errorf("path has segments %q", segments)
	}
}
