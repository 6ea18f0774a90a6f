// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/milo"
)

var (
	unauthenticated = failure(http.StatusUnauthorized, "Unauthorized")
	broken          = failure(http.StatusInternalServerError, "InternalError")
	throttled       = failure(http.StatusTooManyRequests, "TooManyRequests")
)

// TestWhoseFault: all replicas share an outage of Milo; refused credentials are the fault of the replica; errors of a
// wrong configuration are, too, until Milo has answered once.
func TestWhoseFault(t *testing.T) {
	cases := map[string]struct {
		handler                   http.HandlerFunc
		dial                      error
		ownAtFirst, ownAfterwards bool
		want                      string
	}{
		"refused credentials":  {handler: unauthenticated, ownAtFirst: true, ownAfterwards: true, want: "does not accept the credentials"},
		"no descriptors left":  {dial: syscall.EMFILE, ownAtFirst: true, ownAfterwards: true, want: "too many open files"},
		"no role":              {handler: forbidden, ownAtFirst: true, want: "Milo refuses the add-on"},
		"a gateway's 404":      {handler: http.NotFound, ownAtFirst: true, want: "Milo cannot be reached"},
		"no such host":         {dial: &net.DNSError{Err: "no such host", IsNotFound: true}, ownAtFirst: true, want: "no such host"},
		"names are not served": {dial: &net.DNSError{Err: "server misbehaving", IsTemporary: true}, want: "server misbehaving"},
		"nobody listens":       {dial: syscall.ECONNREFUSED, want: "connection refused"},
		"an error of Milo's":   {handler: broken, want: "Milo cannot be reached"},
		"a gateway's error":    {handler: badGateway, want: "Milo cannot be reached"},
		"too many requests":    {handler: throttled, want: "Milo cannot be reached"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			var down error
			var dialer net.Dialer
			lookup, err := milo.NewLookup(milo.LookupOptions{Root: &rest.Config{
				Host: s.URL + "/base",
				Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					if down != nil {
						return nil, &net.OpError{Op: "dial", Net: network, Err: down}
					}
					return dialer.DialContext(ctx, network, address)
				},
			}})
			if err != nil {
				t.Fatal(err)
			}
			breakDown := func() {
				down = c.dial
				s.on("karmada-compute-probe", c.handler)
				s.CloseClientConnections()
			}
			breakDown()
			checkFault(t, lookup, c.ownAtFirst, c.want)
			down = nil
			s.on("karmada-compute-probe", nil)
			if err := lookup.Probe(t.Context()); err != nil {
				t.Fatal(err)
			}
			breakDown()
			checkFault(t, lookup, c.ownAfterwards, c.want)
		})
	}
}

// checkFault probes a Milo that does not answer.
func checkFault(t *testing.T, lookup *milo.Lookup, own bool, want string) {
	t.Helper()
	err := lookup.Probe(t.Context())
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("error is %v, want %q", err, want)
	}
	if apierrors.IsInternalError(err) != own || apierrors.IsServiceUnavailable(err) == own {
		t.Errorf("%q is the replica's own fault: %t, want %t", err, !own, own)
	}
}

// TestCertificateOfAnotherCA: the replica has the wrong CA or address.
func TestCertificateOfAnotherCA(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	lookup, err := milo.NewLookup(milo.LookupOptions{Root: &rest.Config{Host: s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	if err := lookup.Probe(t.Context()); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "x509") {
		t.Errorf("error is %v", err)
	}
}

// TestFaultInAProject: credentials that are refused in a project are a fault of the replica, too.
func TestFaultInAProject(t *testing.T) {
	s := newServer(t)
	lookup, _ := s.lookup(t)
	north := named("north", "1")
	ask := map[string]func() error{
		bindingsPath: func() error { _, _, err := lookup.CityCodes(t.Context(), north); return err },
		grantsPath:   func() error { _, _, err := lookup.InstanceAllowance(t.Context(), north); return err },
		reviewsPath: func() error {
			_, _, err := lookup.Review(t.Context(), north, authorizationv1.SubjectAccessReviewSpec{User: "ada"})
			return err
		},
	}
	for path, question := range ask {
		s.on("north"+path, unauthenticated)
		if err := question(); !apierrors.IsInternalError(err) {
			t.Errorf("%s: error is %v", path, err)
		}
	}
}

func TestWhoAmI(t *testing.T) {
	s := newServer(t)
	lookup, _ := s.lookup(t)
	const path = "/base/apis/authentication.k8s.io/v1/selfsubjectreviews"
	s.on(path, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview","status":{"userInfo":{"username":"add-on"}}}`))
	})
	if user, err := lookup.WhoAmI(t.Context()); user != "add-on" || err != nil {
		t.Errorf("user is %q, %v", user, err)
	}
	s.on(path, badGateway)
	if user, err := lookup.WhoAmI(t.Context()); user != "" || !apierrors.IsServiceUnavailable(err) {
		t.Errorf("while Milo errs user is %q, %v", user, err)
	}
}
