// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"time"
)

// heldConnections is the number of connections of a hostile neighbour that stay open at the same time.
const heldConnections = 400

// portNoise draws connections of a neighbour on the network.
type portNoise struct {
	*dice
	ports []string
}

// next draws a connection. Its body has the text that the neighbour sends, over TLS or not.
func (n *portNoise) next() Write {
	random := make([]byte, 64)
	for i := range random {
		random[i] = byte(n.IntN(256)) //nolint:gosec // less than 256
	}
	request := "GET " + pick(n.dice, "/metrics", "/healthz", "/validate-workloads", "/sessions/a/b/c/d",
		"/../"+n.value()) + " HTTP/1.1\r\nHost: x\r\n"
	return Write{Verb: "connect", Name: pick(n.dice, n.ports...), Body: fields{
		"tls": n.IntN(2) == 0,
		"sends": pick(n.dice, "", "G", request, request+"\r\n", string(random),
			"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n"+n.text(),
			request+fmt.Sprintf("Authorization: Bearer %x\r\n\r\n", random[:16])),
	}}
}

// ports are the addresses of all ports of replicas and agents that the run knows.
func (h *Hostile) ports(ctx context.Context) []string {
	var ports []string
	for i := range h.AddOn.Replicas() {
		if address, err := h.AddOn.WebhookAddress(i); err == nil {
			ports = append(ports, address)
		}
	}
	for _, endpoint := range h.endpoints(ctx) {
		ports = append(ports, endpoint.address)
	}
	slices.Sort(ports)
	return ports
}

// dial opens a connection, sends the text of the write, and leaves the connection open.
func (h *Hostile) dial(ctx context.Context, w Write) error {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", w.Name)
	if err != nil {
		return err
	}
	h.holdConnection(conn)
	out := conn
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if w.Body["tls"] == true {
		out = tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}) //nolint:gosec // a stranger
	}
	_, err = out.Write([]byte(w.Body["sends"].(string))) //nolint:forcetypeassert // drawn above
	return err
}

// holdConnection keeps a connection open, and closes the oldest one of too many.
func (h *Hostile) holdConnection(conn net.Conn) {
	h.findingMu.Lock()
	defer h.findingMu.Unlock()
	if h.held = append(h.held, conn); len(h.held) > heldConnections {
		_ = h.held[0].Close() // it is not used any more
		h.held = h.held[1:]
	}
}

func (h *Hostile) closeConnections() {
	h.findingMu.Lock()
	defer h.findingMu.Unlock()
	for _, conn := range h.held {
		_ = conn.Close() // it is not used any more
	}
	h.held = nil
}
