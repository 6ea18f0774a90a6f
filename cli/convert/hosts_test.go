// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import "testing"

// TestHosts: a name is a host by the text around it or by the name of its variable, and a domain is another host.
func TestHosts(t *testing.T) {
	gone := &goneHosts{
		services: map[string]bool{"api": true, "db": true, "valkey-cart": true}, sets: map[string]bool{"ring": true, "db": true},
		namespaces: map[string]bool{"prod": true},
	}
	for _, c := range []struct{ text, called, want string }{
		{"http://api", "", "Service api"},
		{"http://api/v1", "", "Service api"},
		{"postgres://user:secret@db:5432/x", "", "Service db"},
		{"api:8080", "", "Service api"},
		{"server api:8080;", "", "Service api"},
		{"until nc -z -v -w30 valkey-cart 6379; do sleep 2; done", "", "Service valkey-cart"},
		{"until nslookup db; do sleep 2; done", "", "Service db"},
		{"db", "DB_HOST", "Service db"},
		{"--redis-host=db", "--redis-host=db", "Service db"},
		{"db.prod:5432", "", "Service db"},
		{"other.test.svc.cluster.local", "", "Service other.test"},
		{"http://x.test.svc:80", "", "Service x.test"},
		{"ring-0.ring,ring-1.ring", "", "Pod ring-0"},
		{"db-12", "", "Pod db-12"},
		// These name no host, or another one.
		{"db", "MODE", ""},
		{"--role=api", "--role=api", ""},
		{"https://api.example.com/v1", "API_URL", ""},
		{"dbx:80", "", ""},
		{"/db/x", "", ""},
		{"my-api:80", "", ""},
		{"db-0-x", "", ""},
		{"ring-a", "", ""},
		{"registry.example.com/api:1", "", ""},
	} {
		if got, _ := gone.findName(c.text, c.called); got != c.want {
			t.Errorf("%q of %q names %q, want %q", c.text, c.called, got, c.want)
		}
	}
}
