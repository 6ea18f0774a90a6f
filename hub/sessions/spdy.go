// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	constants "k8s.io/apimachinery/pkg/util/portforward"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/websocket"
)

const (
	// maxDataFrame and maxControlFrame bound the frames of SPDY that a cell sends, of which a replica holds one for each
	// connection. Kubelets and container runtimes copy with buffers of 32 KiB; the format allows 16 MiB.
	maxDataFrame, maxControlFrame = 128 << 10, 16 << 10
	// frameHeader is the length of the header of a frame: 4 bytes of its kind or stream, 1 of flags, 3 of its length.
	frameHeader = 8
	// controlFrame is the first bit of a frame that has no data.
	controlFrame = 0x80
)

// errLargeFrame reports that a cell sends more at once than a replica holds.
var errLargeFrame = errors.New("the cell sends a frame of SPDY that is too large")

// NewDialer returns a Dialer that connects with the credential of a configuration. It does what client-go's dialer of
// SPDY in WebSocket does, and bounds the frames.
func NewDialer(config *rest.Config) Dialer {
	return func(at *url.URL) (httpstream.Dialer, error) {
		transport, holder, err := websocket.RoundTripperFor(config)
		if err != nil {
			return nil, fmt.Errorf("make the transport to ports: %w", err)
		}
		return &dialer{at: at, transport: transport, holder: holder}, nil
	}
}

type dialer struct {
	at        *url.URL
	transport http.RoundTripper
	holder    websocket.ConnectionHolder
}

// Dial implements httpstream.Dialer.
func (d *dialer) Dial(protocols ...string) (httpstream.Connection, string, error) {
	request, err := http.NewRequest(http.MethodGet, d.at.String(), nil) //nolint:noctx // Dial knows no context
	if err != nil {
		return nil, "", err
	}
	tunnelled := make([]string, 0, len(protocols))
	for _, protocol := range protocols {
		tunnelled = append(tunnelled, constants.WebsocketsSPDYTunnelingPrefix+protocol)
	}
	connected, err := websocket.Negotiate(d.transport, d.holder, request, tunnelled...)
	if err != nil {
		return nil, "", err
	}
	tunnel := portforward.NewTunnelingConnection("client", connected)
	multiplexed, err := spdy.NewClientConnectionWithPings(&framed{Conn: tunnel}, portforward.PingPeriod)
	return multiplexed, strings.TrimPrefix(connected.Subprotocol(), constants.WebsocketsSPDYTunnelingPrefix), err
}

// framed is a connection of SPDY that fails when the other side announces a frame that is too large.
type framed struct {
	net.Conn
	header [frameHeader]byte
	// have is how many bytes of the header of the frame are known, and left how many of its content follow.
	have, left int
}

// Read implements net.Conn.
func (f *framed) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if large := f.follow(p[:n]); large != nil {
		return 0, large
	}
	return n, err
}

// follow follows the next bytes.
func (f *framed) follow(p []byte) error {
	for len(p) > 0 {
		if f.left > 0 {
			taken := min(f.left, len(p))
			f.left, p = f.left-taken, p[taken:]
			continue
		}
		taken := copy(f.header[f.have:], p)
		f.have, p = f.have+taken, p[taken:]
		if f.have < frameHeader {
			return nil
		}
		f.have, f.left = 0, int(binary.BigEndian.Uint32(f.header[4:])&0xffffff)
		limit := maxDataFrame
		if f.header[0]&controlFrame != 0 {
			limit = maxControlFrame
		}
		if f.left > limit {
			return fmt.Errorf("%w: %d bytes", errLargeFrame, f.left)
		}
	}
	return nil
}
