// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/tools/portforward"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// TunnelProtocol is the protocol to which the connection to a port is upgraded. It carries only the bytes of one
	// TCP connection.
	TunnelProtocol = "compute.datumapis.com-tcp"
	// PortParameter is the parameter of the URL that names the port.
	PortParameter = "port"
	// maxPortFailure bounds the message in which a kubelet reports why it does not reach a port.
	maxPortFailure = 1 << 10
	// failureWithin is how long the error stream may last longer than the data stream.
	failureWithin = time.Second
)

// Dialer connects to a URL at Karmada's proxy and multiplexes streams on the connection, as API servers do it for
// port-forward.
type Dialer func(at *url.URL) (httpstream.Dialer, error)

// acceptsPort returns why a request is not one for a port of the session; empty if it is. The grant determines the
// ports: the data that a client sends in the stream cannot name one.
func (c *stream) acceptsPort(r *http.Request) string {
	if !strings.EqualFold(r.Header.Get("Upgrade"), TunnelProtocol) || !httpstream.IsUpgradeRequest(r) {
		return "a session of type PortForward is no such connection: it is upgraded to " + TunnelProtocol
	}
	asked := r.URL.Query().Get(PortParameter)
	port, err := strconv.ParseInt(asked, 10, 32)
	if err != nil || !slices.Contains(c.grant.Spec.Ports, int32(port)) {
		return fmt.Sprintf("port %q is not in spec.ports of the session", asked)
	}
	c.port = int32(port)
	return ""
}

// forward connects a client to the port of its stream. Each connection of a client has a connection to the cell of its
// own: no client chooses what another one gets.
func (s *Server) forward(ctx context.Context, w http.ResponseWriter, c *stream) {
	cell, err := s.dialPort(ctx, c)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		// watch finds the same at about the same time.
		c.unanswered.Store(true)
	case err != nil:
		c.failure.Store(new(fmt.Sprintf("cell %s does not connect to ports", c.at.cell)))
	}
	if err != nil {
		s.options.Log.Error(err, "A cell does not connect to a port", "cell", c.at.cell, "session", c.grant.Name, "project", c.grant.Project)
		http.Error(w, fmt.Sprintf("the cell of the Instance, %s, does not connect to ports through the hub", c.at.cell), http.StatusBadGateway)
		return
	}
	defer cell.close()
	c.status.Store(http.StatusSwitchingProtocols)
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "the connection cannot be upgraded", http.StatusInternalServerError)
		return
	}
	defer func() { _ = client.Close() }() // what it has sent was copied
	// A stream that must end does so while it reads or writes.
	stop := context.AfterFunc(ctx, func() { _ = client.Close(); cell.close() })
	defer stop()
	if _, err := fmt.Fprintf(client, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n",
		TunnelProtocol); err != nil {
		return
	}
	body := metering(ctx, cell.data, c.meter)
	destination, ok := body.(io.Writer)
	if !ok {
		return
	}
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(destination, buffered) // a lost client ends the other direction, too
		cell.endOfInput()
	})
	_, _ = io.Copy(client, body) // the cell's end is the stream's
	if half, ok := client.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	if why := cell.failure(); why != "" {
		c.failure.Store(new(fmt.Sprintf("port %d: %s", c.port, why)))
	}
	_ = client.Close()
	cell.close()
	copying.Wait()
}

// portConnection is a connection to one port through a cell.
type portConnection struct {
	connection httpstream.Connection
	data       io.ReadWriteCloser
	// failed receives the kubelet's message in the error stream, once.
	failed chan string
}

// dialPort opens a connection to the port of a stream.
func (s *Server) dialPort(ctx context.Context, c *stream) (*portConnection, error) {
	dialer, err := s.options.Ports(c.onHub(s.hub))
	if err != nil {
		return nil, err
	}
	type dialed struct {
		connection httpstream.Connection
		err        error
	}
	found := make(chan dialed, 1)
	// Dial knows no context. One that comes too late is closed.
	go func() {
		connection, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		found <- dialed{connection, err}
	}()
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	select {
	case conn := <-found:
		if conn.err != nil {
			return nil, conn.err
		}
		opened, err := openPort(conn.connection, c.port)
		if err != nil {
			return nil, errors.Join(err, conn.connection.Close())
		}
		return opened, nil
	case <-ctx.Done():
		go func() {
			if late := <-found; late.err == nil {
				_ = late.connection.Close()
			}
		}()
		return nil, fmt.Errorf("no answer within %s: %w", answerWithin, ctx.Err())
	}
}

// openPort opens the streams of one TCP connection.
func openPort(connection httpstream.Connection, port int32) (*portConnection, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(int(port)))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failures, err := connection.CreateStream(headers)
	if err != nil {
		return nil, fmt.Errorf("open the error stream of port %d: %w", port, err)
	}
	// Nothing is sent in it.
	if err := failures.Close(); err != nil {
		return nil, err
	}
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := connection.CreateStream(headers)
	if err != nil {
		return nil, fmt.Errorf("open the data stream of port %d: %w", port, err)
	}
	opened := &portConnection{connection: connection, data: data, failed: make(chan string, 1)}
	go func() {
		text, _ := io.ReadAll(io.LimitReader(failures, maxPortFailure)) // the connection may end first
		opened.failed <- strings.ToValidUTF8(string(text), "")
		_, _ = io.Copy(io.Discard, failures)
	}()
	return opened, nil
}

// endOfInput tells the Instance that the client sends no more.
func (p *portConnection) endOfInput() { _ = p.data.Close() }

// failure returns why the kubelet does not reach the port; empty if it does. A kubelet ends the error stream with the
// data stream.
func (p *portConnection) failure() string {
	timer := time.NewTimer(failureWithin)
	defer timer.Stop()
	select {
	case text := <-p.failed:
		return text
	case <-timer.C:
		return ""
	}
}

func (p *portConnection) close() { _ = p.connection.Close() }

// usedOnce reports whether a session of a type is for one stream.
func usedOnce(kind v1alpha.InstanceSessionType) bool {
	return kind == v1alpha.SessionExec || kind == v1alpha.SessionAttach
}

const (
	// errorChannel is the first byte of a message in which an API server reports the outcome of a command.
	errorChannel = remotecommand.StreamErr
	// maxOutcome bounds the stored part of such messages.
	maxOutcome = 4 << 10
	// Of a frame of WebSocket (RFC 6455, 5.2).
	opcodeBits, controlBit    = 0x0f, 0x08
	maskBit, lengthBits       = 0x80, 0x7f
	length16, length64        = 126, 127
	headerStart, headerLength = 2, 14
)

// frames follows the frames of one direction of a WebSocket connection. It counts the bytes of data, without pings, and
// keeps the start of the messages of the error channel. Its memory does not depend on the data.
type frames struct {
	header [headerLength]byte
	// have is how many bytes of the header of the frame are known, and left how many of its payload follow.
	have int
	left uint64
	// control: the frame is no data. first: the first byte of its message follows.
	control, first bool
	// channel is the first byte of the message.
	channel byte
	outcome []byte
}

// follow follows the next bytes, and returns how many of them are data.
func (f *frames) follow(p []byte) (data int) {
	for len(p) > 0 {
		if f.left == 0 {
			taken := copy(f.header[f.have:f.need()], p)
			f.have, p = f.have+taken, p[taken:]
			if f.have == f.need() {
				f.begin()
			}
			continue
		}
		taken := int(min(f.left, uint64(len(p)))) //nolint:gosec // not more than len(p)
		if !f.control {
			data += taken
			f.keep(p[:taken])
		}
		f.left, p = f.left-uint64(taken), p[taken:]
	}
	return data
}

// need returns the known length of the header of the frame, in bytes.
func (f *frames) need() int {
	if f.have < headerStart {
		return headerStart
	}
	need := headerStart
	switch f.header[1] & lengthBits {
	case length16:
		need += 2
	case length64:
		need += 8
	}
	if f.header[1]&maskBit != 0 {
		need += 4
	}
	return need
}

// begin begins the payload of a frame whose header is known.
func (f *frames) begin() {
	switch length := f.header[1] & lengthBits; length {
	case length16:
		f.left = uint64(binary.BigEndian.Uint16(f.header[headerStart:]))
	case length64:
		f.left = binary.BigEndian.Uint64(f.header[headerStart:])
	default:
		f.left = uint64(length)
	}
	opcode := f.header[0] & opcodeBits
	f.control = opcode&controlBit != 0
	if !f.control && opcode != 0 {
		f.first = true
	}
	f.have = 0
}

// keep keeps the start of messages of the error channel. Only what servers send is not masked.
func (f *frames) keep(p []byte) {
	if f.first {
		f.channel, f.first, p = p[0], false, p[1:]
	}
	if f.channel == errorChannel {
		f.outcome = append(f.outcome, p[:min(len(p), maxOutcome-len(f.outcome))]...)
	}
}

// outcomeOf returns the outcome of a command: its exit code, or a message why it could not be run. Neither: the stream
// has no outcome.
func outcomeOf(encoded []byte) (code *int32, failure string) {
	status := &metav1.Status{}
	if len(encoded) == 0 || json.Unmarshal(encoded, status) != nil {
		return nil, ""
	}
	if status.Status == metav1.StatusSuccess {
		return new(int32(0)), ""
	}
	if status.Reason == remotecommand.NonZeroExitCodeReason && status.Details != nil {
		for _, cause := range status.Details.Causes {
			number, err := strconv.ParseInt(cause.Message, 10, 32)
			if cause.Type == remotecommand.ExitCodeCauseType && err == nil && number <= math.MaxUint8 {
				return new(int32(number)), ""
			}
		}
	}
	if status.Message == "" {
		return nil, "the cell gives no reason"
	}
	return nil, status.Message
}
