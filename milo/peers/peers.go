// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package peers carries pings between the replicas of the add-on, over TLS. Each process has a key of its own, whose
// fingerprint is in the Lease that the process renews on the hub: whoever may not write that Lease can neither send
// pings nor answer them.
package peers

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/karmada-compute/karmada-compute/internal/listeners"
	"github.com/karmada-compute/karmada-compute/milo/shards"
)

const (
	path = "/ping"
	// maxBytes bounds a ping. Names and UIDs are shorter.
	maxBytes = 4 << 10
	// idleTimeout is longer than the time between pings, whatever --lease-duration is.
	idleTimeout = 90 * time.Second
	// readTimeout bounds how long a request may take to arrive.
	readTimeout = 10 * time.Second
)

// bounds are the bounds of the port: replicas keep one connection to each other.
var bounds = listeners.Bounds{Unproved: 128, PerSource: 32, Proved: 64, First: readTimeout}

// Peers sends and answers pings. It is safe for concurrent use.
type Peers struct {
	listener net.Listener
	endpoint string
	identity tls.Certificate
	client   *http.Client
}

// Options configure Peers.
type Options struct {
	// Address is the address that pings are answered on.
	Address string
	// Hub is the URL of the hub. If Address has no host, others reach this process at the address from which it reaches
	// the hub.
	Hub string
}

// Listen returns Peers that answer pings as soon as Serve is called.
func Listen(ctx context.Context, o Options) (*Peers, error) {
	identity, err := newIdentity()
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fmt.Errorf("--peer-bind-address: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if host, err = localHost(ctx, o.Hub); err != nil {
			return nil, err
		}
	}
	listener, err := listeners.Listen(ctx, o.Address, bounds)
	if err != nil {
		return nil, fmt.Errorf("answer pings of other replicas, see --peer-bind-address: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the port of the listener: %w", err), listener.Close())
	}
	p := &Peers{listener: listener, endpoint: endpointOf(net.JoinHostPort(host, port), identity.Leaf), identity: identity}
	p.client = &http.Client{Transport: &http.Transport{DialTLSContext: p.dial, IdleConnTimeout: idleTimeout}}
	return p, nil
}

// localHost is the address from which this process reaches the hub. It sends nothing.
func localHost(ctx context.Context, hub string) (string, error) {
	at, err := url.Parse(hub)
	if err != nil {
		return "", fmt.Errorf("read the hub's URL: %w", err)
	}
	port := at.Port()
	if port == "" {
		port = "443"
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "udp", net.JoinHostPort(at.Hostname(), port))
	if err != nil {
		return "", fmt.Errorf("find the address from which %s is reached; set --peer-bind-address with an address that other replicas reach: %w",
			at.Host, err)
	}
	host, _, err := net.SplitHostPort(connection.LocalAddr().String())
	return host, errors.Join(err, connection.Close())
}

// newIdentity generates the key of this process. Its certificate proves nothing but the possession of the key.
func newIdentity() (tls.Certificate, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("generate the key for pings: %w", err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("sign the certificate for pings: %w", err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the certificate for pings: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: private, Leaf: leaf}, nil
}

// endpointOf is the text of an endpoint: an address, and the fingerprint of the key there.
func endpointOf(address string, certificate *x509.Certificate) string {
	return address + "#" + fingerprint(certificate)
}

func fingerprint(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// Endpoint implements shards.Peers.
func (p *Peers) Endpoint() string { return p.endpoint }

type fingerprintKey struct{}

// Ping implements shards.Peers.
func (p *Peers) Ping(ctx context.Context, endpoint string, ping shards.Ping) error {
	address, key, found := strings.Cut(endpoint, "#")
	if !found {
		return fmt.Errorf("endpoint %q has no fingerprint", endpoint)
	}
	body, err := json.Marshal(ping)
	if err != nil {
		return fmt.Errorf("encode a ping: %w", err)
	}
	ctx = context.WithValue(ctx, fingerprintKey{}, key)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ping %s: %w", address, err)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	// Without the end of the body the connection is not used again.
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxBytes))
	_ = response.Body.Close() // nothing is read from it any more
	switch response.StatusCode {
	case http.StatusNoContent:
		return nil
	case http.StatusConflict:
		return shards.ErrAsked
	default:
		return fmt.Errorf("ping %s: %s", address, response.Status)
	}
}

// dial connects to the process whose key has the fingerprint in the context.
func (p *Peers) dial(ctx context.Context, network, address string) (net.Conn, error) {
	want, _ := ctx.Value(fingerprintKey{}).(string)
	dialer := &tls.Dialer{Config: &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{p.identity},
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the key with the one in the Lease
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 || fingerprint(state.PeerCertificates[0]) != want {
				return errors.New("another process answers at this address than the one that renews the Lease")
			}
			return nil
		},
	}}
	return dialer.DialContext(ctx, network, address)
}

// Serve answers pings until ctx ends. hear must not wait.
func (p *Peers) Serve(ctx context.Context, hear func(shards.Ping) shards.Answer) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		code := answer(w, r, hear)
		switch code {
		case http.StatusNoContent, http.StatusConflict:
			listeners.Prove(r.Context())
		default:
			// Only replicas keep a connection.
			w.Header().Set("Connection", "close")
		}
		w.WriteHeader(code)
	})
	server := listeners.NewServer(mux, listeners.Timeouts{Header: readTimeout, Body: readTimeout, Answer: 2 * readTimeout, Idle: idleTimeout})
	server.TLSConfig = &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{p.identity},
		ClientAuth: tls.RequireAnyClientCert, NextProtos: []string{"http/1.1"},
	}
	defer p.client.CloseIdleConnections()
	if err := listeners.Serve(ctx, server, p.listener, 0); err != nil {
		return fmt.Errorf("answer pings of other replicas: %w", err)
	}
	return nil
}

// answer is the status code that answers a request. The sender must have the key of the endpoint that it names.
func answer(w http.ResponseWriter, r *http.Request, hear func(shards.Ping) shards.Answer) int {
	var ping shards.Ping
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBytes)).Decode(&ping); err != nil {
		return http.StatusBadRequest
	}
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 || !strings.HasSuffix(ping.Endpoint, "#"+fingerprint(r.TLS.PeerCertificates[0])) {
		return http.StatusForbidden
	}
	switch hear(ping) {
	case shards.Accepted:
		return http.StatusNoContent
	case shards.Asked:
		return http.StatusConflict
	default:
		return http.StatusServiceUnavailable
	}
}
