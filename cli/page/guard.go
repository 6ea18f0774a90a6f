// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
)

// headers of every answer. Scripts and styles are files of this origin alone; the page can be in no frame, sends
// nothing to others, and cannot turn text into markup: Trusted Types make the browser refuse it.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
	"X-Frame-Options":              "DENY",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
}

// refusal is an answer to a request that is not served.
type refusal struct {
	status  int
	message string
}

// guard decides whether a request comes from the page, or from the user who opens it.
type guard struct {
	token string
	// hosts are the values of the header Host, and origins of the header Origin, that the page has.
	hosts, origins []string
}

// newGuard returns the guard of a page at a port of this machine.
func newGuard(token, port string) *guard {
	g := &guard{token: token}
	for _, name := range []string{"127.0.0.1", "localhost"} {
		host := net.JoinHostPort(name, port)
		g.hosts, g.origins = append(g.hosts, host), append(g.origins, "http://"+host)
	}
	return g
}

// check returns the path below the token, or why the request is refused. A name that another site resolves to this
// machine is in the header Host, and another site in Origin or Sec-Fetch-Site.
func (g *guard) check(r *http.Request) (path string, refused *refusal) {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	opens := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	token, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case !slices.Contains(g.hosts, r.Host):
		return "", &refusal{http.StatusForbidden, "open the address that the command has printed; a tunnel needs the same port on both sides"}
	case origin != "" && !slices.Contains(g.origins, origin),
		(site == "cross-site" || site == "same-site") && !opens:
		return "", &refusal{http.StatusForbidden, "other sites may not read the page"}
	case r.Method != http.MethodGet || r.ContentLength != 0:
		return "", &refusal{http.StatusMethodNotAllowed, "the page is read-only: GET without a body alone is served"}
	case subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) != 1:
		return "", &refusal{http.StatusNotFound, "open the address that the command has printed, with its token"}
	}
	return path, nil
}
