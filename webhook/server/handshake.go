// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/tls"
	"time"
)

const (
	// handshakeTimeout bounds how long a caller waits for a replica that starts. It is shorter than the 5 s that an
	// API server gives a webhook, so that there is time left for the answer.
	handshakeTimeout = 4 * time.Second
	// handshakeInterval is the time between two checks whether callers can be served.
	handshakeInterval = 20 * time.Millisecond
)

// certificate returns the certificate for a handshake, and waits until callers can be served. A container that is
// killed and starts again keeps its place in the Service until the kubelet has noticed, so callers reach it before it
// has its certificate and the paths. An API server does not repeat a request whose handshake has failed.
func (s *Server) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.handshakes.begin(hello.Conn)
	timeout := s.Clock.After(handshakeTimeout)
	for {
		err := s.certified()
		if err == nil {
			return s.Certificates.GetCertificate(hello)
		}
		select {
		case <-s.Clock.After(handshakeInterval):
		case <-timeout:
			return nil, err
		case <-hello.Context().Done():
			return nil, err
		}
	}
}
