// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/tls"
	"errors"
	"sync/atomic"
	"testing"
)

// gap is a time in which callers lack a requirement.
type gap struct {
	open atomic.Bool
	// noticed is closed when the first one needs it in vain.
	noticed chan struct{}
	once    atomic.Bool
}

func (g *gap) err() error {
	if !g.open.Load() {
		return nil
	}
	if g.once.CompareAndSwap(false, true) {
		close(g.noticed)
	}
	return errors.New("not yet")
}

type certificateWithGap struct {
	certificate
	*gap
}

func (c certificateWithGap) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	return c.certificate.GetCertificate(hello)
}

type secretsWithGap struct {
	secrets
	*gap
}

func (s secretsWithGap) Accepts(path, secret string) bool {
	return s.err() == nil && s.secrets.Accepts(path, secret)
}

func (s secretsWithGap) Ready() error { return s.err() }

// TestCallersWaitForTheStart: a container that starts again is reached before it has its certificate and the paths.
func TestCallersWaitForTheStart(t *testing.T) {
	for name, begin := range map[string]func(*Server, *gap){
		"no certificate": func(s *Server, g *gap) { s.Certificates = certificateWithGap{s.Certificates.(certificate), g} },
		"no paths":       func(s *Server, g *gap) { s.Paths = secretsWithGap{s.Paths.(secrets), g} },
	} {
		t.Run(name, func(t *testing.T) {
			missing := &gap{noticed: make(chan struct{})}
			r := start(t, func(s *Server) { begin(s, missing) })
			missing.open.Store(true)
			answered := make(chan error, 1)
			go func() {
				status, answer, _, err := r.post(r.client(t, nil), "/open/first-secret", []byte("hello"), nil)
				if err == nil && (status != 200 || answer != "hello") {
					err = errors.New(answer)
				}
				answered <- err
			}()
			<-missing.noticed
			missing.open.Store(false)
			if err := <-answered; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCallersDoNotWaitForever for a replica that cannot serve them.
func TestCallersDoNotWaitForever(t *testing.T) {
	missing := &gap{noticed: make(chan struct{})}
	r := start(t, func(s *Server) { s.Certificates = certificateWithGap{s.Certificates.(certificate), missing} })
	missing.open.Store(true)
	if _, _, _, err := r.post(r.client(t, nil), "/open/first-secret", nil, nil); err == nil {
		t.Error("the call was answered without a certificate")
	}
}
