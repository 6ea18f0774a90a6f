// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/webhook"
)

// secretPaths implements registration.Paths.
type secretPaths struct {
	secret  string
	ensured int
	fail    error
}

func (p *secretPaths) Ensure(context.Context) error {
	p.ensured++
	return p.fail
}

func (p *secretPaths) Path(plain string) string { return plain + "/" + p.secret }

// TestSecretPaths are registered with a URL and with Services, and again when they change.
func TestSecretPaths(t *testing.T) {
	for name, url := range map[string]string{"URL": "https://webhooks.example.com:9443/", "Services": ""} {
		t.Run(name, func(t *testing.T) {
			r, paths := newRegistered(t), &secretPaths{secret: "first"}
			r.URL, r.Paths = url, paths
			for _, secret := range []string{"first", "second", "second"} {
				paths.secret = secret
				if err := r.Register(t.Context()); err != nil {
					t.Fatal(err)
				}
				for i, plain := range []string{webhook.ValidatePath, webhook.OwnedPath} {
					to, called := r.validating(t).Webhooks[i].ClientConfig, ""
					if url != "" {
						called = strings.TrimPrefix(*to.URL, "https://webhooks.example.com:9443")
					} else {
						called = *to.Service.Path
					}
					if called != plain+"/"+secret {
						t.Errorf("%s is called at %q, want secret %q", plain, called, secret)
					}
				}
			}
			if r.applied.Load() != 2 || paths.ensured != 3 {
				t.Errorf("applied %d times, and the paths made current %d times", r.applied.Load(), paths.ensured)
			}
		})
	}
}

// TestCarries: every webhook has the wanted path, with a URL and with Services.
func TestCarries(t *testing.T) {
	for name, url := range map[string]string{"URL": "https://webhooks.example.com:9443/", "Services": ""} {
		t.Run(name, func(t *testing.T) {
			r, paths := newRegistered(t), &secretPaths{secret: "first"}
			r.URL, r.Paths = url, paths
			carries := func(secret string) bool {
				t.Helper()
				ok, err := r.Carries(t.Context(), (&secretPaths{secret: secret}).Path)
				if err != nil {
					t.Fatal(err)
				}
				return ok
			}
			if carries("first") {
				t.Error("nothing is registered")
			}
			if err := r.Register(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !carries("first") || carries("second") {
				t.Error("what is registered is not what is carried")
			}
			found := r.validating(t)
			if to := &found.Webhooks[1].ClientConfig; to.URL != nil {
				*to.URL = strings.Replace(*to.URL, "first", "second", 1)
			} else {
				*to.Service.Path = strings.Replace(*to.Service.Path, "first", "second", 1)
			}
			if err := r.client.Update(t.Context(), found); err != nil {
				t.Fatal(err)
			}
			if carries("first") || carries("second") {
				t.Error("one webhook of many is taken for all")
			}
			r.Targets = nil
			if carries("first") {
				t.Error("carried without targets")
			}
		})
	}
}

// TestPathsStaySecret: without current paths, no configuration is registered, and errors name no secret, though API
// servers quote refused configurations.
func TestPathsStaySecret(t *testing.T) {
	r, paths := newRegistered(t), &secretPaths{secret: "5ec8e7", fail: errors.New("no route")}
	r.Paths = paths
	if err := r.Register(t.Context()); err == nil || !strings.Contains(err.Error(), "no route") || r.applied.Load() != 0 {
		t.Errorf("error %v, applied %d times", err, r.applied.Load())
	}
	paths.fail = nil
	r.fail = errors.New(`clientConfig.url: Invalid value: "https://x/validate-workload/5ec8e7": no`)
	if err := r.Register(t.Context()); err == nil || strings.Contains(err.Error(), "5ec8e7") ||
		!strings.Contains(err.Error(), "x/validate-workload") {
		t.Errorf("error %v", err)
	}
}
