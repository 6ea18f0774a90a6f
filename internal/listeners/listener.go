// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package listeners

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Bounds limit the connections of a port.
type Bounds struct {
	// Unproved is the maximum number of connections whose callers have not proved who they are, and PerSource of those
	// from one source.
	Unproved, PerSource int
	// Proved is the maximum number of connections of callers that have proved who they are.
	Proved int
	// First is the maximum time until the first step of a connection is done: the handshake or, without TLS, the headers.
	First time.Duration
}

// Listener accepts every connection, and closes the oldest unproved one of the source with most of them when the port
// has too many. A caller that proves who it is within the time that others need to open that many connections is
// therefore served, whatever others hold. It is safe for concurrent use.
type Listener struct {
	net.Listener
	bounds Bounds

	mu sync.Mutex
	// sources have their unproved connections, the oldest first.
	sources          map[netip.Prefix]*list.List
	unproved, proved int
}

// Bound returns a listener with bounds.
func Bound(listener net.Listener, bounds Bounds) *Listener {
	return &Listener{Listener: listener, bounds: bounds, sources: map[netip.Prefix]*list.List{}}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: accepted, listener: l, source: sourceOf(accepted.RemoteAddr().String()), started: time.Now()}
	for _, surplus := range l.add(c) {
		surplus.abort()
	}
	return c, nil
}

// add counts a connection, and returns the connections for which there is no room any more.
func (l *Listener) add(c *connection) (surplus []*connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ofSource := l.sources[c.source]
	if ofSource == nil {
		ofSource = list.New()
		l.sources[c.source] = ofSource
	}
	c.place = ofSource.PushBack(c)
	l.unproved++
	if ofSource.Len() > l.bounds.PerSource {
		surplus = append(surplus, l.takeOldest(ofSource))
	}
	if l.unproved > l.bounds.Unproved {
		surplus = append(surplus, l.takeOldest(l.largest()))
	}
	return surplus
}

// largest returns the connections of the source with most of them. The caller holds the lock.
func (l *Listener) largest() (fullest *list.List) {
	for _, ofSource := range l.sources {
		if fullest == nil || ofSource.Len() > fullest.Len() {
			fullest = ofSource
		}
	}
	return fullest
}

// takeOldest removes the oldest connection of a source. The caller holds the lock.
func (l *Listener) takeOldest(ofSource *list.List) *connection {
	oldest, _ := ofSource.Front().Value.(*connection)
	l.take(oldest)
	return oldest
}

// take stops counting an unproved connection. The caller holds the lock.
func (l *Listener) take(c *connection) {
	ofSource := l.sources[c.source]
	ofSource.Remove(c.place)
	if ofSource.Len() == 0 {
		delete(l.sources, c.source)
	}
	c.place = nil
	l.unproved--
}

// prove moves a connection to the share of callers that have proved who they are, if it has capacity.
func (l *Listener) prove(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.place == nil || l.proved >= l.bounds.Proved {
		return
	}
	l.take(c)
	c.proved = true
	l.proved++
}

// forget stops counting a connection that is closed.
func (l *Listener) forget(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.place != nil:
		l.take(c)
	case c.proved:
		c.proved = false
		l.proved--
	}
}

// connection is a counted connection.
type connection struct {
	net.Conn
	listener *Listener
	source   netip.Prefix
	started  time.Time
	// place is where an unproved connection is counted, and proved that it is counted as proved. The listener's lock
	// guards both.
	place  *list.Element
	proved bool

	// first: the deadline of the first step was set.
	first sync.Once
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.listener.forget(c)
	return c.Conn.Close()
}

// abort closes the connection without the states that the kernel keeps of connections that end in order.
func (c *connection) abort() {
	if reset, ok := c.Conn.(interface{ SetLinger(sec int) error }); ok {
		_ = reset.SetLinger(0)
	}
	_ = c.Conn.Close() // the server finds out by its next read, and calls Close
}

// SetReadDeadline implements net.Conn. The first deadline of a server is for the handshake or, without TLS, for the
// headers. net/http has one setting for both, which must be long where callers keep connections that they have not used
// yet.
func (c *connection) SetReadDeadline(at time.Time) error {
	c.first.Do(func() {
		if latest := c.started.Add(c.listener.bounds.First); at.After(latest) || at.IsZero() {
			at = latest
		}
	})
	return c.Conn.SetReadDeadline(at)
}

// sourceOf returns the source of an address. The owner of one address of IPv6 usually has its 64 bits.
func sourceOf(address string) netip.Prefix {
	found, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Prefix{}
	}
	at, bits := found.Addr().Unmap(), 64
	if at.Is4() {
		bits = 32
	}
	source, err := at.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return source
}

type connectionKey struct{}

// remember lets a request find its connection.
func remember(ctx context.Context, conn net.Conn) context.Context {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// Prove moves the connection of a request to the share of callers that have proved who they are.
func Prove(ctx context.Context) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		c.listener.prove(c)
	}
}
